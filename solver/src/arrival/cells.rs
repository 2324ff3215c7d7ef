use crate::instance::Instance;
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
    /// nodes in the instance does not matter.
    pub fn new(instance: &Instance) -> Self {
        let mut tuple: Vec<Vec<Option<u32>>> = Vec::new();
        let mut seen: FxHashMap<&[Option<u32>], u32> = FxHashMap::default();
        for domain in instance.bins.iter().map(|b| &b.domain).chain(instance.nodes.iter().map(|n| &n.domain)) {
            seen.entry(domain.as_slice()).or_insert_with(|| {
                tuple.push(domain.clone());
                0
            });
        }
        tuple.sort();
        for (i, t) in tuple.iter().enumerate() {
            if let Some(at) = seen.get_mut(t.as_slice()) {
                *at = i as u32;
            }
        }
        let of_bin = instance.bins.iter().map(|b| seen[b.domain.as_slice()]).collect();
        let of_node = instance.nodes.iter().map(|n| seen[n.domain.as_slice()]).collect();
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
