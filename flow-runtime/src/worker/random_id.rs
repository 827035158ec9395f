//! Numbers of processes and workers.

/// A number that nobody else has chosen.
pub(super) fn random_id() -> i64 {
    let (_, low) = uuid::Uuid::new_v4().as_u64_pair();
    i64::try_from(low >> 1).unwrap_or(i64::MAX)
}
