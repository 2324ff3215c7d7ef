//! Does a placement exist? Pods with demands on nodes with rooms, some of them
//! apart from each other.

use fixedbitset::FixedBitSet;

use super::formula::{Answer, Formula, Lit};
use super::sums;

/// Times that capacities are refined.
const ROUNDS: usize = 200;

/// A placement to find.
#[derive(Clone, Debug, Default)]
pub struct Tight {
    /// Demand per pod and dimension.
    pub demands: Vec<Vec<i64>>,
    /// Room per node and dimension.
    pub rooms: Vec<Vec<i64>>,
    /// Nodes that each pod may use.
    pub allowed: Vec<FixedBitSet>,
    /// Ways to divide the nodes: a domain per node, if it has one.
    pub divisions: Vec<Vec<Option<u32>>>,
    pub exclusions: Vec<Exclusion>,
}

/// Two pods that may not be in one domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exclusion {
    /// What demands it; told in a core.
    pub label: usize,
    /// Index into [`Tight::divisions`].
    pub division: usize,
    pub pods: (usize, usize),
}

/// Whether there is a placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// A node per pod.
    Found(Vec<usize>),
    /// There is none, and these labels suffice for that, room being what it
    /// is. No label can be left out, as far as the limit allowed to find out.
    Impossible(Vec<usize>),
    /// The limit was reached.
    GaveUp,
}

/// Looks for a placement, for about `conflicts` conflicts per question.
pub fn place(tight: &Tight, conflicts: u64) -> Placement {
    if sums::overfull(tight) {
        return Placement::Impossible(Vec::new());
    }
    let mut model = Model::new(tight);
    if let Some(label) = sums::crowded(tight) {
        // Room may be too little without it.
        return match model.place(&[], conflicts) {
            Step::Impossible(_) => Placement::Impossible(Vec::new()),
            Step::Found(_) | Step::GaveUp => Placement::Impossible(vec![label]),
        };
    }
    let labels: Vec<usize> = (0..model.labels.len()).collect();
    match model.place(&labels, conflicts) {
        Step::Found(nodes) => Placement::Found(nodes),
        Step::GaveUp => Placement::GaveUp,
        Step::Impossible(core) => {
            let core = model.minimal(core, conflicts);
            Placement::Impossible(core.into_iter().map(|at| model.labels[at].0).collect())
        }
    }
}

struct Model<'t> {
    tight: &'t Tight,
    formula: Formula,
    /// Per pod and node: whether it runs there; none where it may not.
    on: Vec<Vec<Option<Lit>>>,
    /// Each label with the literal that puts its exclusions in force.
    labels: Vec<(usize, Lit)>,
}

enum Step {
    Found(Vec<usize>),
    /// Positions among the labels.
    Impossible(Vec<usize>),
    GaveUp,
}

impl<'t> Model<'t> {
    fn new(tight: &'t Tight) -> Self {
        let mut formula = Formula::default();
        let mut row = |allowed: &FixedBitSet| {
            (0..tight.rooms.len()).map(|n| allowed.contains(n).then(|| formula.literal())).collect::<Vec<_>>()
        };
        let on: Vec<Vec<Option<Lit>>> = tight.allowed.iter().map(&mut row).collect();
        for pod in &on {
            let somewhere: Vec<Lit> = pod.iter().flatten().copied().collect();
            formula.clause(&somewhere);
            formula.at_most(1, &somewhere);
        }
        let mut names: Vec<usize> = tight.exclusions.iter().map(|e| e.label).collect();
        names.sort_unstable();
        names.dedup();
        let labels = names.into_iter().map(|n| (n, formula.literal())).collect();
        let mut model = Self { tight, formula, on, labels };
        model.exclude();
        model.count();
        model
    }

    /// Pods apart: never both in one domain. In a domain of one node that is
    /// a clause, in others they share a literal for being there.
    fn exclude(&mut self) {
        let mut there: Vec<((usize, usize, u32), Lit)> = Vec::new();
        for e in &self.tight.exclusions {
            let Ok(at) = self.labels.binary_search_by_key(&e.label, |(name, _)| *name) else { continue };
            let in_force = self.labels[at].1;
            let mut domains: Vec<u32> = self.tight.divisions[e.division].iter().flatten().copied().collect();
            domains.sort_unstable();
            domains.dedup();
            for d in domains {
                let mut presence = |pod: usize| match there.iter().find(|(k, _)| *k == (pod, e.division, d)) {
                    Some((_, lit)) => *lit,
                    None => {
                        let lit = self.formula.literal();
                        for (n, on) in self.on[pod].iter().enumerate() {
                            if let (Some(on), true) = (on, self.tight.divisions[e.division][n] == Some(d)) {
                                self.formula.clause(&[!*on, lit]);
                            }
                        }
                        there.push(((pod, e.division, d), lit));
                        lit
                    }
                };
                let (a, b) = (presence(e.pods.0), presence(e.pods.1));
                self.formula.clause(&[!in_force, !a, !b]);
            }
        }
    }

    /// No node takes more pods than its smallest ones could be.
    fn count(&mut self) {
        for (n, room) in self.tight.rooms.iter().enumerate() {
            for (d, &room) in room.iter().enumerate() {
                let mut pods: Vec<(i64, Lit)> = Vec::new();
                for (p, on) in self.on.iter().enumerate() {
                    pods.extend(on[n].map(|lit| (self.tight.demands[p][d], lit)).filter(|(need, _)| *need > 0));
                }
                pods.sort_unstable();
                let mut left = room;
                let most = pods.iter().take_while(|(need, _)| {
                    left -= need;
                    left >= 0
                });
                let most = most.count();
                let lits: Vec<Lit> = pods.iter().map(|(_, lit)| *lit).collect();
                self.formula.at_most(most, &lits);
            }
        }
    }

    /// Solves with the labels at these positions in force, refining capacity
    /// until the answer respects it.
    fn place(&mut self, labels: &[usize], conflicts: u64) -> Step {
        let assumed: Vec<Lit> = labels.iter().map(|&at| self.labels[at].1).collect();
        for _ in 0..ROUNDS {
            match self.formula.solve(&assumed, conflicts) {
                Answer::GaveUp => return Step::GaveUp,
                Answer::Impossible(core) => {
                    let kept = labels.iter().filter(|&&at| core.contains(&self.labels[at].1));
                    return Step::Impossible(kept.copied().collect());
                }
                Answer::Satisfiable(model) => {
                    let node = |on: &Vec<Option<Lit>>| on.iter().position(|l| l.is_some_and(|l| l.holds(&model)));
                    let nodes: Vec<usize> = self.on.iter().filter_map(node).collect();
                    if !self.refine(&nodes) {
                        return Step::Found(nodes);
                    }
                }
            }
        }
        Step::GaveUp
    }

    /// Forbids what overloads a node, there and wherever there is no more
    /// room; whether there was anything.
    fn refine(&mut self, nodes: &[usize]) -> bool {
        let mut overloaded = false;
        for n in 0..self.tight.rooms.len() {
            for d in 0..self.tight.rooms[n].len() {
                let mut pods: Vec<(i64, usize)> =
                    (0..nodes.len()).filter(|&p| nodes[p] == n).map(|p| (self.tight.demands[p][d], p)).collect();
                if pods.iter().map(|(need, _)| need).sum::<i64>() <= self.tight.rooms[n][d] {
                    continue;
                }
                overloaded = true;
                // The fewest that overload it: no more than one less of them
                // and of all that are as large can be there.
                pods.sort_unstable_by(|a, b| b.cmp(a));
                let mut left = self.tight.rooms[n][d];
                let fits = pods.iter().take_while(|(need, _)| {
                    left -= need;
                    left >= 0
                });
                let fits = fits.count();
                let least = pods[fits].0;
                for other in 0..self.tight.rooms.len() {
                    if self.tight.rooms[other][d] <= self.tight.rooms[n][d] {
                        let in_cover = |p: &usize| {
                            self.tight.demands[*p][d] >= pods[0].0 || pods[..=fits].iter().any(|(_, x)| x == p)
                        };
                        let cover: Vec<Lit> =
                            (0..nodes.len()).filter(in_cover).filter_map(|p| self.on[p][other]).collect();
                        debug_assert!(least > 0);
                        self.formula.at_most(fits, &cover);
                    }
                }
            }
        }
        overloaded
    }

    /// Leaves out labels one by one while it stays impossible.
    fn minimal(&mut self, mut core: Vec<usize>, conflicts: u64) -> Vec<usize> {
        let mut at = 0;
        while at < core.len() {
            let mut fewer = core.clone();
            fewer.remove(at);
            match self.place(&fewer, conflicts) {
                Step::Impossible(smaller) => core = smaller,
                Step::Found(_) | Step::GaveUp => at += 1,
            }
        }
        core
    }
}
