//! Numbers of processes and workers.

/// A random number from 0 to 2^63 - 1, which no other process or worker has chosen, as far as chance allows.
pub(super) fn random_id() -> i64 {
    let (_, low) = uuid::Uuid::new_v4().as_u64_pair();
    i64::try_from(low >> 1).unwrap_or(i64::MAX)
}
