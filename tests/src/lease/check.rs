//! What must hold in every state.

use super::{
    rule::{Setup, Violation},
    world::{Condition, Place, Stage, Standing, World},
};

impl World {
    /// What must hold in every state.
    pub(super) fn check(&self, setup: &Setup) -> Result<(), Violation> {
        for (piece, work) in (0_u8..).zip(&self.work) {
            if let Place::Held { worker, batch } = work.place {
                let hand = &self.workers[usize::from(worker)].hand;
                if !hand.iter().any(|row| row.places.contains(&(piece, batch))) {
                    return Err(Violation::ListedNowhere);
                }
            }
            if work.kills > setup.most_kills {
                return Err(Violation::PoisonRunsOn);
            }
            if work.attempts_used > 0 && !setup.may_use_attempts() {
                return Err(Violation::AttemptWithoutLoss);
            }
        }
        self.check_suspects()?;
        for (place, worker) in (0_u8..).zip(&self.workers) {
            let program = &self.programs[usize::from(worker.program)];
            let process = self.processes[usize::from(program.process)];
            let is_safe =
                program.condition == Condition::Up && process.standing == Standing::Live && process.is_in_time;
            for held in worker.held.iter().filter(|held| is_safe && held.under == program.process) {
                let work = self.work[usize::from(held.piece)];
                let is_its_own = self.is_fenced(held.piece, place, held.batch) && work.claim == held.claim;
                let was_cancelled = matches!(work.place, Place::Cancelled | Place::Pruned);
                if held.stage == Stage::Running && !held.is_lost && !is_its_own && !was_cancelled {
                    return Err(Violation::TakenUnderHandler);
                }
            }
        }
        Ok(())
    }
}
