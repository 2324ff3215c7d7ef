//! Impossible by counting. Pigeons are what resolution is worst at, so sums
//! are looked at first.

use fixedbitset::FixedBitSet;

use super::placement::Tight;

/// Whether some pods ask for more than all nodes they may use have.
pub(super) fn overfull(tight: &Tight) -> bool {
    let mut sets: Vec<&FixedBitSet> = tight.allowed.iter().collect();
    sets.sort_by_key(|s| s.ones().collect::<Vec<_>>());
    sets.dedup();
    let mut every = FixedBitSet::with_capacity(tight.rooms.len());
    every.insert_range(..);
    sets.into_iter().chain([&every]).any(|nodes| {
        let pods: Vec<usize> = (0..tight.demands.len()).filter(|&p| tight.allowed[p].is_subset(nodes)).collect();
        let dims = tight.rooms.first().map_or(0, Vec::len);
        (0..dims).any(|d| {
            let need: i128 = pods.iter().map(|&p| i128::from(tight.demands[p][d])).sum();
            let have: i128 = nodes.ones().map(|n| i128::from(tight.rooms[n][d].max(0))).sum();
            need > have
        })
    })
}

/// A label whose exclusions alone ask for more domains than there are.
pub(super) fn crowded(tight: &Tight) -> Option<usize> {
    let mut labels: Vec<(usize, usize)> = tight.exclusions.iter().map(|e| (e.label, e.division)).collect();
    labels.sort_unstable();
    labels.dedup();
    labels
        .into_iter()
        .find(|&(label, division)| {
            let apart = |a: usize, b: usize| {
                let pair = |e: &&super::Exclusion| (e.pods == (a, b)) || (e.pods == (b, a));
                tight.exclusions.iter().filter(|e| e.label == label && e.division == division).any(|e| pair(&e))
            };
            let mut clique: Vec<usize> = Vec::new();
            for p in 0..tight.demands.len() {
                if clique.iter().all(|&q| apart(p, q)) {
                    clique.push(p);
                }
            }
            // A node without a domain excludes nobody.
            let mut domains: Vec<u32> = Vec::new();
            for node in clique.iter().flat_map(|&p| tight.allowed[p].ones()) {
                match tight.divisions[division][node] {
                    Some(d) => domains.push(d),
                    None => return false,
                }
            }
            domains.sort_unstable();
            domains.dedup();
            clique.len() > domains.len().max(1)
        })
        .map(|(label, _)| label)
}
