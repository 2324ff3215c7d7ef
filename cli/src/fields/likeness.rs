//! Names that are probably meant by other names.

/// The name among `known` that `name` is a slip of: at most a quarter of its
/// letters differ, or nothing but capitals. Of equally near ones the first.
pub fn meant<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let lower = name.to_lowercase();
    let far = (name.chars().count() / 4).max(1);
    let near = known.into_iter().map(|k| (slips(&lower, &k.to_lowercase()), k)).filter(|(d, _)| *d <= far);
    near.min_by_key(|(d, _)| *d).map(|(_, k)| k)
}

/// Letters to add, drop, replace or swap with their neighbour.
fn slips(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > a.len() {
        return a.len().max(b.len());
    }
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let fields = ["nodeSelector", "nodeName", "replicas", "requests", "resources", "tolerations", "cpu"];
        let hit = |name| meant(name, fields);
        assert_eq!(hit("nodeSelectr"), Some("nodeSelector"));
        assert_eq!(hit("nodeselector"), Some("nodeSelector"));
        assert_eq!(hit("replica"), Some("replicas"));
        assert_eq!(hit("requets"), Some("requests"));
        assert_eq!(hit("toleratoins"), Some("tolerations"));
        assert_eq!(hit("pcu"), Some("cpu"));
        assert_eq!(hit("affinity"), None);
        assert_eq!(hit("x"), None);
        assert_eq!(hit(""), None);
    }

    #[test]
    fn a_swap_is_one_slip() {
        assert_eq!(slips("ab", "ba"), 1);
        assert_eq!(slips("requets", "requests"), 1);
        assert_eq!(slips("", "abc"), 3);
        assert_eq!(slips("kitten", "sitting"), 3);
    }
}
