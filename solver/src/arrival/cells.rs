use crate::instance::{Instance, Key};
use rustc_hash::FxHashMap;

/// The distinct domain tuples of an instance: rules on domain keys cannot
/// tell two places of one cell apart, apart from what a spread's scope says.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// Domain per key, per cell.
    pub tuple: Vec<Vec<Option<u32>>>,
    /// Cell of each bin.
    pub of_bin: Vec<u32>,
    /// Cell of each node.
    pub of_node: Vec<u32>,
}

impl Cells {
    /// Numbers the tuples in ascending order, so that the order of bins and
    /// nodes in the instance does not matter. A key that no rule uses is left
    /// out of the tuples.
    pub fn new(instance: &Instance) -> Self {
        let used: Vec<bool> =
            (0..instance.keys).map(|k| instance.rules.iter().any(|r| r.key == Key::Domain(k))).collect();
        let project = |domain: &[Option<u32>]| -> Vec<Option<u32>> {
            domain.iter().zip(&used).map(|(d, &u)| d.filter(|_| u)).collect()
        };
        let mut seen: FxHashMap<Vec<Option<u32>>, u32> = FxHashMap::default();
        let domains = || instance.bins.iter().map(|b| &b.domain).chain(instance.nodes.iter().map(|n| &n.domain));
        for domain in domains() {
            seen.entry(project(domain)).or_insert(0);
        }
        let mut tuple: Vec<Vec<Option<u32>>> = seen.keys().cloned().collect();
        tuple.sort();
        for (i, t) in tuple.iter().enumerate() {
            seen.insert(t.clone(), i as u32);
        }
        let of_bin = instance.bins.iter().map(|b| seen[&project(&b.domain)]).collect();
        let of_node = instance.nodes.iter().map(|n| seen[&project(&n.domain)]).collect();
        Cells { tuple, of_bin, of_node }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.tuple.len()
    }

    /// Whether there is no place at all.
    pub fn is_empty(&self) -> bool {
        self.tuple.is_empty()
    }
}
