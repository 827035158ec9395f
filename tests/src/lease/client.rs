//! What a worker's program does: handlers end, exchanges are sent and their replies taken over, work is released, the worker says goodbye.

use super::{
    environment::crash,
    rule::{Fault, Rule},
    step::Steps,
    world::{Condition, Exchange, Held, Phase, Place, Reply, SLOTS, Stage, Standing, Worker, World, one},
};

impl Steps<'_> {
    pub(super) fn of_worker(&mut self, of: usize) {
        let worker = &self.world.workers[of];
        let world = self.world;
        if !world.is_up(of) || worker.has_left {
            return;
        }
        if !worker.is_registered {
            return self.register(of);
        }
        self.handlers(of);
        self.send(of);
        self.take_reply(of);
        if worker.is_draining {
            self.release(of);
        } else if world.has_left(Fault::Drain) {
            let mut next = world.clone();
            next.workers[of].is_draining = true;
            self.by_fault("the worker is asked to drain", "worker", of, Fault::Drain, next);
        }
    }

    /// A worker that joins a process which is at work: what its program knows of the process may be old when the call is committed.
    fn register(&mut self, of: usize) {
        let worker = &self.world.workers[of];
        let mut next = self.world.clone();
        if let Some(process) = worker.joining {
            next.workers[of].joining = None;
            next.workers[of].process = process;
            next.workers[of].is_registered = true;
            self.by_worker("register_worker: committed", of, next);
        } else {
            next.workers[of].joining = Some(next.programs[usize::from(worker.program)].process);
            self.by_worker("register_worker: sent", of, next);
        }
    }

    fn handlers(&mut self, of: usize) {
        let world = self.world;
        for (place, held) in world.workers[of].held.iter().enumerate() {
            let becomes = |stage| {
                let mut next = world.clone();
                next.workers[of].held[place].stage = stage;
                next.workers[of].held.sort();
                next
            };
            match held.stage {
                Stage::Running if self.setup.poison.contains(&held.piece) => {
                    let mut next = crash(world, usize::from(world.workers[of].program));
                    next.work[usize::from(held.piece)].kills += 1;
                    self.by_worker("a handler kills its process", of, next);
                }
                Stage::Running => {
                    self.by_worker("a handler returns", of, becomes(Stage::Good));
                    if world.has_left(Fault::Fail) {
                        self.by_fault("a handler fails", "worker", of, Fault::Fail, becomes(Stage::Bad));
                    }
                    if world.has_left(Fault::Over) {
                        self.by_fault(
                            "a handler is far past its timeout",
                            "worker",
                            of,
                            Fault::Over,
                            becomes(Stage::Over),
                        );
                    }
                }
                Stage::Over => {
                    let action = super::step::Action { name: "a handler returns after all", whom: "worker", which: of };
                    self.add(action, true, Ok(becomes(Stage::LateGood)));
                }
                Stage::Good | Stage::Bad | Stage::LateGood => {}
            }
        }
    }

    /// A new exchange, or again the last one, whose reply was lost.
    fn send(&mut self, of: usize) {
        let worker = &self.world.workers[of];
        if worker.calls.iter().any(|call| call.is_awaited) || worker.calls.len() > 1 {
            return;
        }
        let results: Vec<Held> = worker.held.iter().filter(|held| held.has_result()).copied().collect();
        let running = worker.held.len() - results.len();
        let taken = running + usize::from(worker.starting.is_some());
        let free = if worker.is_draining { 0 } else { SLOTS.saturating_sub(taken).min(self.setup.claim_at_most) };
        let may_claim = free > 0 && self.world.work.iter().any(|work| work.place == Place::Waiting);
        if results.is_empty() && !may_claim && !worker.is_outstanding {
            return;
        }
        let mut next = self.world.clone();
        let process = next.programs[usize::from(worker.program)].process;
        let worker = &mut next.workers[of];
        if self.holds(Rule::LostTryEnded) {
            worker.calls.clear();
        }
        worker.is_resent = worker.is_outstanding;
        let name = if worker.is_resent { "exchange: sent again" } else { "exchange: sent" };
        if !worker.is_outstanding {
            worker.highest += 1;
            worker.exchange = worker.highest;
            worker.is_outstanding = true;
        }
        worker.calls.push(Exchange {
            batch: worker.exchange,
            process,
            results,
            finished: worker.finished,
            limit: free as u8,
            phase: Phase::Sent,
            is_awaited: true,
        });
        self.by_worker(name, of, next);
    }

    fn take_reply(&mut self, of: usize) {
        let world = self.world;
        let Some(place) = world.workers[of].calls.iter().position(|call| call.is_awaited) else { return };
        let Phase::Replied(reply) = &world.workers[of].calls[place].phase else { return };
        let mut next = world.clone();
        let worker = &mut next.workers[of];
        let call = worker.calls.remove(place);
        worker.is_outstanding = false;
        if world.has_left(Fault::Unread) {
            self.by_fault("exchange: its reply cannot be read", "worker", of, Fault::Unread, next.clone());
        }
        let worker = &mut next.workers[of];
        let name = match reply {
            Reply::RolledBack => "exchange: hears that it was rolled back",
            Reply::Refused => {
                worker.finished &= !call.finished;
                call.results.iter().for_each(|held| self.remove(worker, held));
                "exchange: hears that its process was ended"
            }
            Reply::Done { answered, claims } => {
                worker.finished &= !call.finished;
                for (result, held) in (0_u8..).zip(&call.results) {
                    if answered & one(result) != 0 {
                        self.remove(worker, held);
                    }
                }
                worker.held.extend(claims);
                worker.held.sort();
                if claims.is_empty() && !self.holds(Rule::FinishedWhenHandedOut) {
                    worker.finished |= one(call.batch);
                }
                "exchange: its reply is taken over"
            }
        };
        self.by_worker(name, of, next);
    }

    /// A piece of work has been answered for.
    fn remove(&self, worker: &mut Worker, gone: &Held) {
        let before = worker.held.len();
        worker.held.retain(|held| (held.piece, held.batch) != (gone.piece, gone.batch));
        let is_whole = !worker.held.iter().any(|held| held.batch == gone.batch);
        if worker.held.len() < before && (is_whole || !self.holds(Rule::FinishedWhenAnswered)) {
            worker.finished |= one(gone.batch);
        }
    }

    /// A worker that drains: gives back what has no result, and leaves when nothing is left.
    fn release(&mut self, of: usize) {
        let world = self.world;
        let worker = &world.workers[of];
        if worker.calls.iter().any(|call| call.is_awaited) {
            return;
        }
        if worker.starting.is_some_and(|starting| !starting.is_given_up) {
            let mut next = world.clone();
            self.give_start_up(&mut next, of);
            return self.by_worker("start: is given up by a worker that leaves", of, next);
        }
        for held in worker.held.iter().filter(|held| !held.has_result()) {
            let mut next = world.clone();
            if next.is_fenced(held.piece, of as u8, held.batch) {
                next.give_back(held.piece);
            }
            self.remove(&mut next.workers[of], held);
            self.by_worker("release_work", of, next);
        }
        if worker.held.is_empty() {
            let mut next = world.clone();
            let leaving = &mut next.workers[of];
            leaving.is_stopped = true;
            leaving.has_left = true;
            leaving.is_outstanding = false;
            leaving.finished = 0;
            if self.holds(Rule::LostTryEnded) {
                leaving.calls.clear();
            }
            let program = usize::from(leaving.program);
            self.by_worker("stop_worker", of, leave(next, program));
        }
    }
}

/// When a program's last worker has left, its process stops as well.
fn leave(mut world: World, program: usize) -> World {
    let of_program = |worker: &&Worker| usize::from(worker.program) == program;
    if world.workers.iter().filter(of_program).all(|worker| worker.has_left) {
        let leaving = &mut world.programs[program];
        leaving.condition = Condition::Left;
        leaving.beats.iter_mut().for_each(|beat| beat.is_awaited = false);
        leaving.revival = None;
        let process = &mut world.processes[usize::from(leaving.process)];
        if process.standing == Standing::Live {
            process.standing = Standing::Stopped;
        }
    }
    world
}
