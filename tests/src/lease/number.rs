//! Numbers of batches and claims are only ever compared, so states that differ in nothing but their numbers are one: they are counted anew.

use super::{
    start::StartPhase,
    world::{HandRow, Phase, Place, Reply, World},
};

impl World {
    /// Counts the batches of each worker and the claims of each piece of work from 1, in their order.
    pub(super) fn number_anew(&mut self) {
        for worker in 0..self.workers.len() {
            let mut used = 1;
            self.batches(worker, &mut |batch| used |= 1 << *batch);
            self.batches(worker, &mut |batch| *batch = rank(used, *batch));
            let finished = &mut self.workers[worker].finished;
            *finished = moved(used, *finished);
            for call in &mut self.workers[worker].calls {
                call.finished = moved(used, call.finished);
            }
        }
        for piece in 0..self.work.len() {
            let mut used = 1;
            self.claims(piece, &mut |claim| used |= 1 << *claim);
            self.claims(piece, &mut |claim| *claim = rank(used, *claim));
        }
    }

    /// Shows every batch of a worker that the state names, apart from the sets of finished ones.
    fn batches(&mut self, of: usize, see: &mut dyn FnMut(&mut u8)) {
        for work in &mut self.work {
            if let Place::Held { worker, batch } = &mut work.place
                && usize::from(*worker) == of
            {
                see(batch);
            }
        }
        let worker = &mut self.workers[of];
        see(&mut worker.highest);
        see(&mut worker.exchange);
        for HandRow { batch, places, .. } in &mut worker.hand {
            see(batch);
            places.iter_mut().for_each(|(_, batch)| see(batch));
        }
        worker.held.iter_mut().for_each(|held| see(&mut held.batch));
        for call in &mut worker.calls {
            see(&mut call.batch);
            call.results.iter_mut().for_each(|held| see(&mut held.batch));
            if let Phase::Replied(Reply::Done { claims, .. }) = &mut call.phase {
                claims.iter_mut().for_each(|held| see(&mut held.batch));
            }
        }
        worker.starting.iter_mut().for_each(|starting| see(&mut starting.batch));
        for call in &mut worker.starts {
            see(&mut call.batch);
            if let StartPhase::Replied(Some(held)) = &mut call.phase {
                see(&mut held.batch);
            }
        }
        let mut finished = worker.finished | worker.calls.iter().fold(0, |all, call| all | call.finished);
        while finished > 0 {
            let mut batch = finished.trailing_zeros() as u8;
            see(&mut batch);
            finished &= finished - 1;
        }
        for pulse in self.programs.iter_mut().flat_map(|program| &mut program.beats).flat_map(|beat| &mut beat.pulses) {
            if usize::from(pulse.worker) == of {
                see(&mut pulse.highest);
                see(&mut pulse.outstanding);
                see(&mut pulse.outstanding_start);
                pulse.held.iter_mut().for_each(|held| see(&mut held.batch));
            }
        }
        if let Some(recovery) = &mut self.recovery
            && usize::from(recovery.worker) == of
        {
            see(&mut recovery.batch);
        }
    }

    /// Shows every claim of a piece of work that the state names.
    fn claims(&mut self, piece: usize, see: &mut dyn FnMut(&mut u8)) {
        see(&mut self.work[piece].claim);
        for worker in &mut self.workers {
            let results = worker.calls.iter_mut().flat_map(|call| {
                let claims = match &mut call.phase {
                    Phase::Replied(Reply::Done { claims, .. }) => claims.as_mut_slice(),
                    _ => &mut [],
                };
                call.results.iter_mut().chain(claims)
            });
            let starts = worker.starts.iter_mut().filter_map(|call| match &mut call.phase {
                StartPhase::Replied(held) => held.as_mut(),
                _ => None,
            });
            let all = worker.held.iter_mut().chain(results).chain(starts);
            all.filter(|held| usize::from(held.piece) == piece).for_each(|held| see(&mut held.claim));
        }
    }
}

/// The place of a number among those in use; 0 stays 0.
fn rank(used: u32, number: u8) -> u8 {
    (used & ((1 << number) - 1)).count_ones() as u8
}

fn moved(used: u32, set: u32) -> u32 {
    let numbers = (0..u32::BITS as u8).filter(|number| set >> number & 1 == 1);
    numbers.fold(0, |moved, number| moved | 1 << rank(used, number))
}
