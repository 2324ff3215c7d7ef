//! The parts of a wave that only work together.

use std::collections::BTreeMap;

use millwright_models::lift::{Lifted, Target};
use millwright_solver::instance::Micros;

/// Nodes that go and nodes that come for their pods. A node that exists and
/// takes pods ties nothing together: it has room for each part alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Names, ascending.
    pub removed: Vec<String>,
    /// Positions in [`Lifted::nodes`], ascending.
    pub added: Vec<usize>,
    /// Price of what goes less that of what comes.
    pub savings: Micros,
    /// Some of what comes also serves pods that waited before.
    pub serves_pending: bool,
}

/// Splits a wave. New nodes that serve only pods which waited are in no part.
pub fn parts(lifted: &Lifted, price: impl Fn(&str) -> Micros) -> Vec<Part> {
    let index: BTreeMap<&str, usize> = lifted.removed.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
    let gone = lifted.removed.len();
    let mut sets = Sets::new(gone + lifted.nodes.len());
    let mut moved = vec![0; lifted.nodes.len()];
    for m in &lifted.moves {
        if let (Target::New(node), Some(&from)) = (&m.to, index.get(m.from.as_str())) {
            sets.join(from, gone + node);
            moved[*node] += 1;
        }
    }
    let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
    for (i, name) in lifted.removed.iter().enumerate() {
        let part = parts.entry(sets.root(i)).or_default();
        part.removed.push(name.clone());
        part.savings += price(name);
    }
    for (i, node) in lifted.nodes.iter().enumerate() {
        if let Some(part) = parts.get_mut(&sets.root(gone + i)) {
            part.added.push(i);
            part.savings -= node.price;
            part.serves_pending |= moved[i] < node.pods.len();
        }
    }
    let mut parts: Vec<Part> = parts.into_values().collect();
    parts.iter_mut().for_each(|p| p.removed.sort());
    parts.sort_by(|a, b| a.removed.cmp(&b.removed));
    parts
}

/// Disjoint sets of numbers; the root is the least.
struct Sets(Vec<usize>);

impl Sets {
    fn new(n: usize) -> Self {
        Self((0..n).collect())
    }

    fn root(&self, mut i: usize) -> usize {
        while self.0[i] != i {
            i = self.0[i];
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millwright_models::lift::{Move, PlannedNode};
    use millwright_models::resources::Resources;

    fn node(price: Micros, pods: Vec<usize>) -> PlannedNode {
        PlannedNode {
            pool: String::new(),
            instance_type: String::new(),
            zone: String::new(),
            capacity_type: String::new(),
            reservation: None,
            price,
            pods,
            instance_types: Vec::new(),
            bin: 0,
            row: 0,
            allocatable: Resources::default(),
            daemons: Resources::default(),
        }
    }

    #[test]
    fn parts_hang_together_through_new_nodes_only() {
        let go = |pod, from: &str, to| Move { pod, from: from.to_owned(), to };
        let lifted = Lifted {
            removed: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
            nodes: vec![node(30, vec![0, 1]), node(5, vec![9]), node(7, vec![4, 8])],
            moves: vec![
                go(0, "a", Target::New(0)),
                go(1, "b", Target::New(0)),
                go(2, "b", Target::Existing("e".to_owned())),
                go(3, "c", Target::Existing("e".to_owned())),
                go(4, "d", Target::New(2)),
            ],
            ..Lifted::default()
        };
        let parts = parts(&lifted, |_| 20);
        let told: Vec<_> =
            parts.iter().map(|p| (p.removed.join(""), p.added.clone(), p.savings, p.serves_pending)).collect();
        assert_eq!(
            told,
            [
                ("ab".to_owned(), vec![0], 10, false),
                ("c".to_owned(), vec![], 20, false),
                ("d".to_owned(), vec![2], 13, true)
            ]
        );
    }
}
