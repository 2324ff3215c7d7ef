//! The search itself: pod by pod, first place that accepts (spec 20 §6).

use rustc_hash::FxHashMap;

use super::GreedyOptions;
use super::bits::Bits;
use super::book::{Book, ReqId};
use super::claim::{Claim, Ranks};
use super::node::NodeState;
use super::queue::Queue;
use super::reserved::Reservations;
use super::setup::Batch;
use super::shape::{DemandId, Shape, Variant};
use super::taint::{TaintBook, TaintsId};
use super::template::Template;
use super::topology::Topology;
use crate::world::World;

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Placed,
    Refused,
    /// Waits for a reservation.
    Deferred,
}

/// A pod in the making: what it is, at which step of relaxation, and which.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub shape: &'a Shape,
    pub variant: &'a Variant,
    pub pod: usize,
}

/// Targets that look alike to everything but hostnames and amounts.
#[derive(Debug, Default)]
pub(super) struct Classes<K> {
    ids: FxHashMap<K, usize>,
    pub members: Vec<Bits>,
    /// Round in which the verdict was reached.
    round: Vec<u64>,
    /// For claims the requirements each alternative would leave, for nodes
    /// the alternatives that hold.
    verdicts: Vec<Vec<ReqId>>,
}

impl<K: std::hash::Hash + Eq> Classes<K> {
    /// The number of class `key`.
    pub fn id(&mut self, key: K) -> usize {
        *self.ids.entry(key).or_insert_with(|| {
            self.members.push(Bits::default());
            self.round.push(0);
            self.verdicts.push(Vec::new());
            self.members.len() - 1
        })
    }

    /// The verdict of this round, if there is one already.
    pub fn verdict(&self, class: usize, round: u64) -> Option<&[ReqId]> {
        (self.round[class] == round).then(|| self.verdicts[class].as_slice())
    }

    pub fn decide(&mut self, class: usize, round: u64, verdict: Vec<ReqId>) {
        self.round[class] = round;
        self.verdicts[class] = verdict;
    }
}

/// Refusals that stand for the rest of the pass, since nodes only fill up.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    pub nodes: Vec<Bits>,
    pub claims: Vec<Bits>,
    /// Claims that would hold the demand, but not narrowed to these
    /// requirements.
    pub narrowed: FxHashMap<(DemandId, ReqId), Bits>,
}

/// State of a pass.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    pub options: GreedyOptions,
    pub book: Book,
    pub taints: TaintBook,
    pub topology: Topology,
    pub templates: Vec<Template<'a>>,
    pub nodes: Vec<NodeState>,
    pub names: Vec<String>,
    pub hostnames: Vec<String>,
    /// Names of the resources that vectors count.
    pub dims: Vec<String>,
    pub demands: Vec<Vec<i64>>,
    pub claims: Vec<Claim>,
    pub ranks: Ranks,
    pub claim_classes: Classes<(usize, ReqId)>,
    pub node_classes: Classes<(ReqId, TaintsId)>,
    pub class_of_node: Vec<usize>,
    pub reservations: Reservations,
    pub refusals: Refusals,
    /// Attempts so far.
    pub round: u64,
    /// Per pod without a place: whether it waits for a reservation.
    pub left: Vec<(usize, usize, Outcome)>,
    pub reject: Bits,
    /// Nodes that pods which are only imagined to move may not go to.
    pub closed: Bits,
}

impl<'a> Pass<'a> {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        options: GreedyOptions,
        book: Book,
        taints: TaintBook,
        topology: Topology,
        mut templates: Vec<Template<'a>>,
        nodes: Vec<NodeState>,
        names: Vec<(String, String)>,
        (dims, demands): (Vec<String>, Vec<Vec<i64>>),
    ) -> Self {
        let mut reservations = Reservations::default();
        if options.gates.reserved_capacity {
            templates.iter_mut().for_each(|t| t.reserve(|name, size| reservations.report(name, size)));
        }
        let mut node_classes = Classes::default();
        let mut class_of_node = Vec::new();
        let mut overdrawn = Bits::zeros(nodes.len());
        for (place, node) in nodes.iter().enumerate() {
            let class = node_classes.id((node.req, node.taints));
            node_classes.members[class].set(place);
            class_of_node.push(class);
            if node.overdrawn {
                overdrawn.set(place);
            }
        }
        let refusals = Refusals {
            nodes: vec![overdrawn; demands.len()],
            claims: vec![Bits::default(); demands.len()],
            narrowed: FxHashMap::default(),
        };
        let (names, hostnames) = names.into_iter().unzip();
        Self {
            options,
            book,
            taints,
            topology,
            templates,
            nodes,
            names,
            hostnames,
            dims,
            demands,
            claims: Vec::new(),
            ranks: Ranks::default(),
            claim_classes: Classes::default(),
            node_classes,
            class_of_node,
            reservations,
            refusals,
            round: 0,
            left: Vec::new(),
            reject: Bits::default(),
            closed: Bits::default(),
        }
    }

    /// Places what can be placed; true if `stop` cut the search short.
    pub fn run(&mut self, world: &World, shapes: &[Shape], batch: Batch, stop: &dyn Fn() -> bool) -> bool {
        let (refused, tried): (Vec<usize>, Vec<usize>) =
            batch.pods.iter().partition(|p| shapes[batch.shape[p]].refused.is_some());
        let mut queue = Queue::new(&world.pods, tried);
        // A shape that failed fails again until another pod is placed.
        let mut failed: Vec<Option<(usize, Outcome)>> = vec![None; shapes.len()];
        let (mut placed, mut tries, mut stopped) = (0, 0_usize, false);
        while let Some(pod) = queue.pop() {
            tries += 1;
            if tries.is_multiple_of(64) && stop() {
                queue.put_back(pod);
                stopped = true;
                break;
            }
            let shape = batch.shape[&pod];
            let outcome = match failed[shape] {
                Some((then, outcome)) if then == placed => outcome,
                _ => self.attempt(&shapes[shape], pod),
            };
            if outcome == Outcome::Placed {
                placed += 1;
            } else {
                failed[shape] = Some((placed, outcome));
                queue.put_back(pod);
            }
        }
        self.left = refused.into_iter().map(|p| (p, batch.shape[&p], Outcome::Refused)).collect();
        for pod in queue.rest() {
            let shape = batch.shape[&pod];
            self.left.push((pod, shape, failed[shape].map_or(Outcome::Refused, |(_, o)| o)));
        }
        self.left.sort_unstable_by_key(|(pod, ..)| *pod);
        stopped
    }

    /// Tries the pod as it is, then ever more relaxed.
    fn attempt(&mut self, shape: &Shape, pod: usize) -> Outcome {
        for variant in &shape.variants {
            let candidate = Candidate { shape, variant, pod };
            self.round += 1;
            if self.try_nodes(candidate) || self.try_claims(candidate) {
                return Outcome::Placed;
            }
            match self.try_templates(candidate) {
                Outcome::Refused => {}
                outcome => return outcome,
            }
        }
        Outcome::Refused
    }
}
