//! Sets of small integers as words.

/// A set of indices below a fixed or growing bound; absent words are zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// The empty set with room for `n` indices.
    pub fn zeros(n: usize) -> Self {
        Self(vec![0; n.div_ceil(64)])
    }

    /// The set of all indices below `n`.
    pub fn ones(n: usize) -> Self {
        let mut all = Self(vec![!0; n.div_ceil(64)]);
        if !n.is_multiple_of(64) {
            all.0[n / 64] = (1 << (n % 64)) - 1;
        }
        all
    }

    pub fn get(&self, i: usize) -> bool {
        self.word(i / 64) >> (i % 64) & 1 == 1
    }

    pub fn set(&mut self, i: usize) {
        if i / 64 >= self.0.len() {
            self.0.resize(i / 64 + 1, 0);
        }
        self.0[i / 64] |= 1 << (i % 64);
    }

    pub fn clear(&mut self, i: usize) {
        if let Some(word) = self.0.get_mut(i / 64) {
            *word &= !(1 << (i % 64));
        }
    }

    /// Word `w`, zero beyond the end.
    pub fn word(&self, w: usize) -> u64 {
        self.0.get(w).copied().unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|w| *w == 0)
    }

    pub fn and(&mut self, other: &Self) {
        for (w, word) in self.0.iter_mut().enumerate() {
            *word &= other.word(w);
        }
    }

    pub fn and_not(&mut self, other: &Self) {
        for (word, out) in self.0.iter_mut().zip(&other.0) {
            *word &= !out;
        }
    }

    pub fn or(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    /// Adds every index below `n` that is not in `other`.
    pub fn or_not(&mut self, other: &Self, n: usize) {
        if self.0.len() < n.div_ceil(64) {
            self.0.resize(n.div_ceil(64), 0);
        }
        for (w, word) in self.0.iter_mut().enumerate() {
            *word |= !other.word(w);
        }
    }

    /// Takes the content of `other`, keeping the allocation.
    pub fn copy_from(&mut self, other: &Self) {
        self.0.clear();
        self.0.extend_from_slice(&other.0);
    }

    /// Empties the set and makes room for `n` indices.
    pub fn reset(&mut self, n: usize) {
        self.0.clear();
        self.0.resize(n.div_ceil(64), 0);
    }

    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().enumerate().all(|(w, word)| word & !other.word(w) == 0)
    }

    pub fn count(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The indices in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(w, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    w * 64 + bit
                })
            })
        })
    }

    /// The only element, if there is exactly one.
    pub fn single(&self) -> Option<usize> {
        let mut all = self.iter();
        all.next().filter(|_| all.next().is_none())
    }
}

impl PartialEq for Bits {
    fn eq(&self, other: &Self) -> bool {
        (0..self.0.len().max(other.0.len())).all(|w| self.word(w) == other.word(w))
    }
}

impl Eq for Bits {}

impl std::hash::Hash for Bits {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let used = self.0.iter().rposition(|w| *w != 0).map_or(0, |w| w + 1);
        self.0[..used].hash(state);
    }
}

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(indices: I) -> Self {
        let mut all = Self::default();
        for i in indices {
            all.set(i);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_tree_set() {
        let (a, b): (BTreeSet<usize>, BTreeSet<usize>) = ([1, 63, 64, 130].into(), [0, 64, 130, 200].into());
        let bits = |s: &BTreeSet<usize>| s.iter().copied().collect::<Bits>();
        let mut and = bits(&a);
        and.and(&bits(&b));
        assert_eq!(and.iter().collect::<BTreeSet<_>>(), &a & &b);
        let mut or = bits(&a);
        or.or(&bits(&b));
        assert_eq!(or.iter().collect::<BTreeSet<_>>(), &a | &b);
        let mut less = bits(&a);
        less.and_not(&bits(&b));
        assert_eq!(less.iter().collect::<BTreeSet<_>>(), &a - &b);
        assert!(and.is_subset(&bits(&a)) && !or.is_subset(&bits(&a)));
        assert_eq!((Bits::ones(130).count(), bits(&a).single(), less.count()), (130, None, 2));
    }

    #[test]
    fn equal_whatever_the_trailing_zero_words() {
        let mut long = Bits::zeros(500);
        long.set(3);
        assert_eq!(long, [3].into_iter().collect());
        assert_eq!(long.single(), Some(3));
    }
}
