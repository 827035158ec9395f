//! The slots of a worker: how many handlers run, and how many more slots are reserved for work that an exchange or a start has asked for.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Counts the slots in use. The worker's configuration says how many slots there are.
#[derive(Default)]
pub(super) struct Slots(Arc<Counts>);

#[derive(Default)]
struct Counts {
    /// Handlers that run.
    running: AtomicUsize,
    /// Running handlers and reserved slots together.
    taken: AtomicUsize,
}

/// Slots that are reserved for work that an exchange or a start has asked for. Dropping the reservation frees those that were not filled.
#[derive(Default)]
pub(super) struct Reservation {
    counts: Arc<Counts>,
    count: usize,
}

/// The slot of a running handler. Dropping it frees the slot.
pub(super) struct Slot(Arc<Counts>);

impl Slots {
    /// A reservation of no slots yet.
    pub(super) fn reservation(&self) -> Reservation {
        Reservation { counts: Arc::clone(&self.0), count: 0 }
    }

    /// How many handlers run now.
    pub(super) fn running(&self) -> usize {
        self.0.running.load(Ordering::Acquire)
    }

    /// How many slots are in use or reserved.
    pub(super) fn taken(&self) -> usize {
        self.0.taken.load(Ordering::Acquire)
    }
}

impl Reservation {
    /// How many slots are reserved here.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Reserves more slots until there are `wanted` here or `most` are taken in all. Returns how many pieces of work the caller may ask
    /// for: at most `wanted`.
    pub(super) fn grow_to(&mut self, wanted: usize, most: usize) -> usize {
        let missing = wanted.saturating_sub(self.count);
        let mut got = 0;
        let grown = self.counts.taken.try_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
            got = missing.min(most.saturating_sub(taken));
            (got > 0).then_some(taken + got)
        });
        if grown.is_ok() {
            self.count += got;
        }
        wanted.min(self.count)
    }

    /// Frees the slots here beyond `needed`. Returns how many were freed.
    pub(super) fn shrink_to(&mut self, needed: usize) -> usize {
        let freed = self.count.saturating_sub(needed);
        self.counts.taken.fetch_sub(freed, Ordering::AcqRel);
        self.count -= freed;
        freed
    }

    /// Turns one reserved slot into the slot of a running handler.
    pub(super) fn fill(&mut self) -> Slot {
        match self.count.checked_sub(1) {
            Some(left) => self.count = left,
            // More work came than was asked for. The handler runs all the same, and later calls ask for less.
            None => drop(self.counts.taken.fetch_add(1, Ordering::AcqRel)),
        }
        self.counts.running.fetch_add(1, Ordering::AcqRel);
        Slot(Arc::clone(&self.counts))
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
        self.0.taken.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_kept_used_and_given_back() {
        let slots = Slots::default();
        let (mut one, mut other) = (slots.reservation(), slots.reservation());
        assert_eq!((one.grow_to(2, 3), other.grow_to(5, 3), slots.taken()), (2, 1, 3));
        assert_eq!((one.grow_to(1, 3), one.grow_to(3, 3), one.count()), (1, 2, 2));
        let slot = one.fill();
        assert_eq!((slots.running(), slots.taken(), one.count()), (1, 3, 1));
        assert_eq!((one.shrink_to(0), slots.taken()), (1, 2));
        drop(other);
        drop(slot);
        assert_eq!((slots.running(), slots.taken()), (0, 0));
    }
}
