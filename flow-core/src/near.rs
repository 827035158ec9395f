//! Finds the known word that somebody probably meant.

/// Returns the word of `known` that needs the fewest edits to become `written`; `None` when even that word needs more
/// edits than a third of the longer word's characters, or more than three.
///
/// Letter case does not count; of equally close words the first is taken.
pub fn near_miss<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = written.to_lowercase();
    known
        .into_iter()
        .map(|word| (count_edits(&written, &word.to_lowercase()), word))
        .filter(|(edits, word)| *edits <= (written.chars().count().max(word.chars().count()) / 3).min(3))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, word)| word)
}

/// Counts the insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn count_edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut edits = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                edits = edits.min(before_last[j - 2] + 1);
            }
            row.push(edits);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_word_is_found() {
        let known = ["reserve", "pick", "wrap", "ship"];
        assert_eq!(near_miss("resreve", known), Some("reserve"));
        assert_eq!(near_miss("Ship", known), Some("ship"));
        assert_eq!(near_miss("pik", known), Some("pick"));
        assert_eq!(near_miss("invoice", known), None);
    }

    #[test]
    fn a_swap_of_neighbours_is_one_edit() {
        assert_eq!(count_edits("abcd", "abdc"), 1);
        assert_eq!(count_edits("", "abc"), 3);
    }

    #[test]
    fn a_swap_is_one_edit_wherever_it_stands() {
        for (a, b) in [("ab", "ba"), ("abcdef", "bacdef"), ("abcdef", "acbdef"), ("abcdef", "abcdfe")] {
            assert_eq!(count_edits(a, b), 1, "{a} {b}");
        }
        assert_eq!((count_edits("abcdef", "badcfe"), count_edits("abc", "cab")), (3, 2));
    }
}
