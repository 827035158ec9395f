//! Step slugs for ids that hold anything: legal, unique whatever the case, and still readable.

use std::collections::HashSet;

/// The longest slug of a step.
const LONGEST: usize = 128;

/// Slugs no step may have.
const RESERVED: [&str; 5] = ["run", "input", "item", "ctx", "deps"];

/// One slug for each id, in their order. A slug that would come twice gets a number.
pub fn step_slugs<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken: HashSet<String> = RESERVED.into_iter().map(str::to_owned).collect();
    ids.into_iter().map(|id| unique(&slug(id, LONGEST), &mut taken)).collect()
}

/// The nearest legal slug of at most `longest` characters: letters and digits, single underscores for all else.
pub(super) fn slug(id: &str, longest: usize) -> String {
    let words = id.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = words.collect::<Vec<_>>().join("_");
    if !slug.starts_with(|c: char| c.is_ascii_alphabetic()) {
        slug.insert(0, 't');
    }
    slug.truncate(longest);
    slug.truncate(slug.trim_end_matches('_').len());
    slug
}

fn unique(slug: &str, taken: &mut HashSet<String>) -> String {
    let mut candidate = slug.to_owned();
    let mut number = 2_u32;
    while !taken.insert(candidate.to_ascii_lowercase()) {
        let ending = format!("_{number}");
        let kept = slug[..slug.len().min(LONGEST - ending.len())].trim_end_matches('_');
        candidate = format!("{kept}{ending}");
        number += 1;
    }
    candidate
}

#[cfg(test)]
mod tests {
    //! Ids as they occur in files.

    use super::*;

    #[test]
    fn every_id_gets_a_legal_slug_of_its_own() {
        let long = "x".repeat(200);
        let ids = ["NFCORE.SRA.TASK_1", "nfcore-sra-task_1", "7z", "run", "é", "", "a__b_", &long, &long];
        let slugs = step_slugs(ids);
        assert_eq!(slugs[..7], ["NFCORE_SRA_TASK_1", "nfcore_sra_task_1_2", "t7z", "run_2", "t", "t_2", "a_b"]);
        assert_eq!((slugs[7].len(), slugs[8].len()), (128, 128));
        assert_ne!(slugs[7], slugs[8]);
    }
}
