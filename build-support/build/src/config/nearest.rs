//! The known word nearest to an unknown one.

/// The candidate with the fewest edits, if few enough to be a slip.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    candidates
        .iter()
        .map(|candidate| (edits(word, candidate), *candidate))
        .filter(|(edits, candidate)| *edits <= candidate.len().max(3) / 3)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions and replacements between two words (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<_> = b.chars().collect();
    let mut row: Vec<_> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let known = ["archs", "kernels", "debug-checks"];
        assert_eq!(nearest("arch", &known), Some("archs"));
        assert_eq!(nearest("debug_checks", &known), Some("debug-checks"));
        assert_eq!(nearest("kernel", &known), Some("kernels"));
        assert_eq!(nearest("optimize", &known), None);
    }
}
