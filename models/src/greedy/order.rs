//! The order of claims with equally many pods.
//!
//! Karpenter sorts its list of claims by number of pods before each pod, with
//! the unstable pattern-defeating quicksort of Go's library. Which of two
//! equals comes first decides what they become (a claim that takes one
//! on-demand pod is on-demand for good), so costs differ by a tenth under
//! another order. The sort draws no randomness: the same steps give the same
//! order.

/// Short runs are sorted by insertion.
const INSERTION: usize = 12;
/// From this length on, out-of-order pairs are shifted into place, and the
/// pivot is a median of medians.
const LONG: usize = 50;
/// So many out-of-order pairs are shifted before the attempt is given up.
const SHIFTS: usize = 5;
/// Exchanges after which the choice of a pivot has seen a descending run.
const DESCENDING: usize = 12;

/// Sorts `items` by `key` as Go's `sort.Slice` does.
pub(super) fn sort(items: &mut [u32], key: &[u32]) {
    let limit = bit_length(items.len());
    Sorter { items, key }.quick(0, limit);
}

fn bit_length(n: usize) -> u32 {
    usize::BITS - n.leading_zeros()
}

/// What a sample says about the order so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    Unknown,
    Ascending,
    Descending,
}

struct Sorter<'a> {
    items: &'a mut [u32],
    key: &'a [u32],
}

impl Sorter<'_> {
    fn less(&self, i: usize, j: usize) -> bool {
        self.key[self.items[i] as usize] < self.key[self.items[j] as usize]
    }

    fn part(&mut self, from: usize, to: usize) -> Sorter<'_> {
        Sorter { items: &mut self.items[from..to], key: self.key }
    }

    /// `before`: whether an element smaller than all of these precedes them,
    /// as place 0 of the slice.
    fn quick(&mut self, first: usize, mut limit: u32) {
        let (mut a, mut b) = (first, self.items.len());
        let (mut balanced, mut partitioned) = (true, true);
        loop {
            let length = b - a;
            if length <= INSERTION {
                return self.part(a, b).insertion();
            }
            if limit == 0 {
                return self.part(a, b).heap();
            }
            if !balanced {
                self.part(a, b).break_patterns();
                limit -= 1;
            }
            let (pivot, mut hint) = self.part(a, b).choose_pivot();
            let mut pivot = a + pivot;
            if hint == Hint::Descending {
                self.items[a..b].reverse();
                pivot = (b - 1) - (pivot - a);
                hint = Hint::Ascending;
            }
            if balanced && partitioned && hint == Hint::Ascending && self.shift(a, b) {
                return;
            }
            if a > 0 && !self.less(a - 1, pivot) {
                a = self.partition_equal(a, b, pivot);
                continue;
            }
            let (middle, already) = self.partition(a, b, pivot);
            partitioned = already;
            let (left, right) = (middle - a, b - middle);
            balanced = left.min(right) >= length / 8;
            if left < right {
                Sorter { items: &mut self.items[..middle], key: self.key }.quick(a, limit);
                a = middle + 1;
            } else {
                Sorter { items: &mut self.items[..b], key: self.key }.quick(middle + 1, limit);
                b = middle;
            }
        }
    }

    fn insertion(&mut self) {
        for i in 1..self.items.len() {
            let mut j = i;
            while j > 0 && self.less(j, j - 1) {
                self.items.swap(j, j - 1);
                j -= 1;
            }
        }
    }

    fn heap(&mut self) {
        let n = self.items.len();
        for root in (0..=(n - 1) / 2).rev() {
            self.sift_down(root, n);
        }
        for end in (0..n).rev() {
            self.items.swap(0, end);
            self.sift_down(0, end);
        }
    }

    fn sift_down(&mut self, mut root: usize, end: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child >= end {
                return;
            }
            if child + 1 < end && self.less(child, child + 1) {
                child += 1;
            }
            if !self.less(root, child) {
                return;
            }
            self.items.swap(root, child);
            root = child;
        }
    }

    /// Moves three elements to places that only the length decides.
    fn break_patterns(&mut self) {
        let n = self.items.len();
        if n < 8 {
            return;
        }
        let mut random = n as u64;
        let mask = (1_usize << bit_length(n)) - 1;
        let middle = (n / 4) * 2 - 1;
        for i in 0..3 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = random as usize & mask;
            self.items.swap(middle - 1 + i, if other >= n { other - n } else { other });
        }
    }

    fn choose_pivot(&self) -> (usize, Hint) {
        let n = self.items.len();
        let (mut i, mut j, mut k, mut swaps) = (n / 4, n / 4 * 2, n / 4 * 3, 0);
        if n >= 8 {
            if n >= LONG {
                i = self.median(i - 1, i, i + 1, &mut swaps);
                j = self.median(j - 1, j, j + 1, &mut swaps);
                k = self.median(k - 1, k, k + 1, &mut swaps);
            }
            j = self.median(i, j, k, &mut swaps);
        }
        let hint = match swaps {
            0 => Hint::Ascending,
            DESCENDING => Hint::Descending,
            _ => Hint::Unknown,
        };
        (j, hint)
    }

    fn median(&self, a: usize, b: usize, c: usize, swaps: &mut usize) -> usize {
        let mut order = |x: usize, y: usize| {
            let wrong = self.less(y, x);
            *swaps += usize::from(wrong);
            if wrong { (y, x) } else { (x, y) }
        };
        let (a, b) = order(a, b);
        let (b, _) = order(b, c);
        order(a, b).1
    }

    /// Repairs a nearly sorted run; whether it is sorted then.
    fn shift(&mut self, a: usize, b: usize) -> bool {
        let mut i = a + 1;
        for _ in 0..SHIFTS {
            while i < b && !self.less(i, i - 1) {
                i += 1;
            }
            if i == b {
                return true;
            }
            if b - a < LONG {
                return false;
            }
            self.items.swap(i, i - 1);
            if i - a >= 2 {
                let mut j = i - 1;
                while j >= 1 && self.less(j, j - 1) {
                    self.items.swap(j, j - 1);
                    j -= 1;
                }
            }
            let mut j = i + 1;
            while j < b && self.less(j, j - 1) {
                self.items.swap(j, j - 1);
                j += 1;
            }
        }
        false
    }

    /// Smaller elements before the pivot, the others after it; whether that
    /// was so already.
    fn partition(&mut self, a: usize, b: usize, pivot: usize) -> (usize, bool) {
        self.items.swap(a, pivot);
        let (mut i, mut j) = (a + 1, b - 1);
        let mut already = true;
        loop {
            while i <= j && self.less(i, a) {
                i += 1;
            }
            while i <= j && !self.less(j, a) {
                j -= 1;
            }
            if i > j {
                break;
            }
            already = false;
            self.items.swap(i, j);
            i += 1;
            j -= 1;
        }
        self.items.swap(j, a);
        (j, already)
    }

    /// Elements equal to the pivot first; where the larger ones begin.
    fn partition_equal(&mut self, a: usize, b: usize, pivot: usize) -> usize {
        self.items.swap(a, pivot);
        let (mut i, mut j) = (a + 1, b - 1);
        loop {
            while i <= j && !self.less(a, i) {
                i += 1;
            }
            while i <= j && self.less(a, j) {
                j -= 1;
            }
            if i > j {
                return i;
            }
            self.items.swap(i, j);
            i += 1;
            j -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sort;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts(key in prop::collection::vec(0..6_u32, 0..300)) {
            let mut items: Vec<u32> = (0..key.len() as u32).collect();
            sort(&mut items, &key);
            let sorted: Vec<u32> = items.iter().map(|i| key[*i as usize]).collect();
            prop_assert!(sorted.is_sorted());
            items.sort_unstable();
            prop_assert_eq!(items, (0..key.len() as u32).collect::<Vec<_>>());
        }

        #[test]
        fn leaves_a_sorted_list_alone(mut key in prop::collection::vec(0..6_u32, 0..300)) {
            key.sort_unstable();
            let mut items: Vec<u32> = (0..key.len() as u32).collect();
            sort(&mut items, &key);
            prop_assert!(items.is_sorted());
        }
    }
}
