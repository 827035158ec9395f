//! Crashes in company: what is suspect of having killed its process, and who may hold it. `lose_in_company`, `claim_suspects`.

use super::{
    exchange::held,
    rule::{Rule, Violation},
    step::Steps,
    world::{Held, Phase, Place, Standing, World},
};

/// How much of each a process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Company {
    pub(super) suspects: u8,
    pub(super) others: u8,
    /// The smallest limit of the suspects.
    pub(super) least: Option<u8>,
}

impl Steps<'_> {
    /// `lose_in_company`: what was alone uses an attempt, the rest becomes suspect.
    pub(super) fn lose(&self, world: &mut World, piece: u8, process: u8) -> Result<(), Violation> {
        let counted = self.world.processes[usize::from(process)].lost;
        let lost = if self.holds(Rule::CountedAtEnd) { counted } else { world.company(process) };
        let old = world.work[usize::from(piece)].suspect;
        if lost.suspects + lost.others <= 1 || !self.holds(Rule::CompanyUsesNone) {
            if counted.suspects + counted.others > 1 {
                return Err(Violation::AttemptInCompany);
            }
            world.use_attempt(piece);
            let work = &mut world.work[usize::from(piece)];
            work.suspect = old.filter(|_| work.place == Place::Waiting).map(|_| 0);
            return Ok(());
        }
        let is_only = lost.suspects == 1 && self.holds(Rule::OnlySuspectAlone);
        world.give_back(piece);
        world.work[usize::from(piece)].suspect = Some(match old {
            None => (lost.others / 2).max(1),
            Some(0) => 0,
            Some(_) if is_only => 0,
            Some(_) => (lost.suspects / 2).max(1),
        });
        Ok(())
    }

    /// `flow.claim_suspects` and `flow.claim_work`: suspects, then what waits, in its order.
    pub(super) fn claim(
        &self,
        world: &mut World,
        of: usize,
        place: usize,
        seen: Company,
        is_closed: bool,
    ) -> Vec<Held> {
        let call = &self.world.workers[of].calls[place];
        let process = call.process;
        let mut is_closed = is_closed;
        let mut claims = Vec::new();
        while claims.len() < usize::from(call.limit)
            && let Some(oldest) = world.oldest_suspect()
        {
            let limit = world.work[oldest].suspect.unwrap_or_default();
            let held = if self.holds(Rule::SuspectsCountedLocked) { world.company(process) } else { seen };
            let fits = if limit == 0 {
                is_closed = true;
                let is_empty = held.suspects + held.others == 0 || !self.holds(Rule::AloneWhenEmpty);
                is_empty && (!self.holds(Rule::AloneByLock) || !self.is_beside_another(of, place))
            } else {
                let most = held.least.map_or(limit, |least| least.min(limit));
                // Half of the slots, of which there are two.
                !is_closed && (held.suspects == 0 || held.suspects < most || !self.holds(Rule::SuspectsLimited))
            };
            if !fits {
                break;
            }
            claims.push(take(world, of, oldest, call.batch));
            if limit == 0 || self.holds(Rule::SuspectsLimited) {
                break;
            }
        }
        for piece in 0..world.work.len() {
            let work = world.work[piece];
            let is_open = !is_closed || !self.holds(Rule::AloneKept);
            let is_to_be_had = work.place == Place::Waiting && work.suspect.is_none() && is_open;
            if claims.len() < usize::from(call.limit) && is_to_be_had {
                claims.push(take(world, of, piece, call.batch));
            }
        }
        claims
    }

    /// Whether another exchange of the process holds its lock.
    fn is_beside_another(&self, of: usize, place: usize) -> bool {
        let process = self.world.workers[of].calls[place].process;
        let calls = (0..)
            .zip(&self.world.workers)
            .flat_map(|(worker, row)| (0..).zip(&row.calls).map(move |(at, call)| ((worker, at), call)));
        let is_starting = self
            .world
            .workers
            .iter()
            .flat_map(|worker| &worker.starts)
            .any(|call| call.has_lock() && call.process == process);
        if is_starting {
            return true;
        }
        let others = calls.filter(|(id, call)| *id != (of, place) && call.process == process);
        others.map(|(_, call)| &call.phase).any(|phase| matches!(phase, Phase::Begun { .. }))
    }
}

impl World {
    /// What the workers of a process hold, by the fence.
    pub(super) fn company(&self, process: u8) -> Company {
        let mut company = Company::default();
        for work in &self.work {
            let Place::Held { worker, .. } = work.place else { continue };
            if self.workers[usize::from(worker)].process != process {
                continue;
            }
            match work.suspect {
                Some(limit) => {
                    company.suspects += 1;
                    company.least = Some(company.least.map_or(limit, |least| least.min(limit)));
                }
                None => company.others += 1,
            }
        }
        company
    }

    /// The suspect that is the first to be claimed.
    pub(super) fn oldest_suspect(&self) -> Option<usize> {
        self.work.iter().position(|work| work.place == Place::Waiting && work.suspect.is_some())
    }

    /// `is_closed`: a suspect that must be alone is held, or is the oldest that waits.
    pub(super) fn is_closed(&self, process: u8) -> bool {
        self.company(process).least == Some(0)
            || self.oldest_suspect().is_some_and(|oldest| self.work[oldest].suspect == Some(0))
    }

    /// What must hold in every state: no process holds more suspects than each of them allows.
    pub(super) fn check_suspects(&self) -> Result<(), Violation> {
        for process in (0_u8..).zip(&self.processes).filter(|(_, row)| row.standing == Standing::Live).map(|(id, _)| id)
        {
            let company = self.company(process);
            match company.least {
                Some(0) if company.suspects + company.others > 1 => return Err(Violation::CompanyOfAlone),
                Some(least) if company.suspects > least.max(1) => return Err(Violation::TooManySuspects),
                _ => {}
            }
        }
        Ok(())
    }
}

fn take(world: &mut World, of: usize, piece: usize, batch: u8) -> Held {
    world.work[piece].place = Place::Held { worker: of as u8, batch };
    world.work[piece].claim += 1;
    held(world, of, piece as u8, batch)
}
