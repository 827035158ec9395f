//! Plays a history on the engine and on the machine, and compares them after every step.

use std::{collections::HashMap, sync::atomic::Ordering, time::Duration};

use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    flow::Flow,
    history::{End, History, Op},
    machine::Machine,
    settle::{Outcome, Sent},
};
use crate::support::{Claim, Engine, Graph, Hand, Reply, Settle};

/// What the tables say about all runs, as [`Machine::snapshot`] does.
const SNAPSHOT: &str = "select coalesce(jsonb_object_agg(r.run_id, jsonb_build_array(
        r.status, r.output, r.error_step, r.error,
        (select jsonb_agg(jsonb_build_array(ss.status, ss.skip_reason, ss.task_count, ss.output, ss.error) order by ss.step_index)
         from flow.step_state ss where ss.run_id = r.run_id),
        (select coalesce(jsonb_agg(jsonb_build_array(t.step_index, t.task_index, t.status, t.attempt, t.item, t.output)
                                   order by t.step_index, t.task_index), '[]')
         from flow.tasks t where t.run_id = r.run_id))), '{}') from flow.run r";

/// Where two worlds disagree.
type Played<T = ()> = Result<T, String>;

/// One flow on both sides.
pub struct Driver<'a> {
    engine: &'a Engine,
    graph: Graph,
    machine: Machine,
    workers: Vec<Worker<'a>>,
    /// Every claim ever handed out, with its worker.
    log: Vec<(i64, Claim)>,
}

/// A worker and the steps of its queue.
struct Worker<'a> {
    hand: Hand<'a>,
    steps: Vec<usize>,
}

impl<'a> Driver<'a> {
    /// Deploys the history's flow under `slug`, in place of every other flow.
    pub async fn new(engine: &'a Engine, slug: &str, flow: &Flow) -> Self {
        engine.run_sql("select flow.delete_flow(f.slug, true) from flow.flow f").await;
        let graph = flow.graph(slug);
        engine.deploy(&graph).await;
        let mut driver =
            Self { engine, graph, machine: Machine::new(flow.clone()), workers: Vec::new(), log: Vec::new() };
        let all: Vec<usize> = (0..flow.steps.len()).collect();
        let queues = if flow.has_step_queues { all.iter().map(|step| vec![*step]).collect() } else { vec![all] };
        for steps in queues {
            for _ in 0..2 {
                driver.hire(steps.clone()).await;
            }
        }
        driver
    }

    /// Plays a whole history, then completes what is left: every run must come to its end.
    ///
    /// # Errors
    /// The step at which the two sides differ, and how.
    pub async fn play(&mut self, history: &History) -> Played {
        for (at, op) in history.ops.iter().enumerate() {
            self.step(op).await.map_err(|what| format!("operation {at}, {op:?}: {what}"))?;
        }
        for _ in 0..100 {
            self.step(&Op::PassTime).await?;
            for worker in 0..self.workers.len() {
                let claims = self.claim(worker, 50).await?;
                let first = self.log.len() - claims;
                let picks: Vec<_> = (0..claims).map(|back| (back, self.final_end(first + claims - 1 - back))).collect();
                self.settle(&picks, None, 0).await?;
                self.compare().await?;
            }
            if self.machine.runs.iter().all(|run| run.status != "started") {
                return Ok(());
            }
        }
        Err("a run does not end".to_owned())
    }

    async fn step(&mut self, op: &Op) -> Played {
        match op {
            Op::Start(input) => self.start(*input).await,
            Op::Claim { worker, limit } => drop(self.claim(worker % self.workers.len(), *limit).await?),
            Op::Settle { picks, by, limit } => self.settle(picks, *by, *limit).await?,
            Op::PassTime => self.pass_time().await?,
            Op::Release(picks) => self.release(picks).await?,
            Op::Resume { worker, limit } => self.resume(worker % self.workers.len(), *limit).await?,
            Op::Cancel(run) => {
                let at = run % self.machine.runs.len();
                let said = self.engine.cancel(self.machine.runs[at].id).await;
                same("the status after a cancel", said.as_str(), self.machine.cancel(at))?;
            }
            Op::Retry(run) => self.retry(run % self.machine.runs.len()).await?,
        }
        self.compare().await
    }

    async fn compare(&self) -> Played {
        self.compare_runs().await?;
        self.check_invariants().await
    }

    async fn compare_runs(&self) -> Played {
        let stored: Value =
            sqlx::query_scalar(SNAPSHOT).fetch_one(self.engine.pool()).await.map_err(|e| e.to_string())?;
        same("the runs", &stored, &self.machine.snapshot())
    }

    async fn check_invariants(&self) -> Played {
        same("broken invariants", &self.engine.broken_rows().await, &Vec::new())
    }

    async fn hire(&mut self, steps: Vec<usize>) {
        let queue = self.machine.flow.queue(self.graph.slug(), steps[0]);
        let hand = self.engine.worker_of(&self.graph, &queue, &steps).await;
        self.workers.push(Worker { hand, steps });
    }

    async fn start(&mut self, input: usize) {
        let input = [json!([]), json!([0]), json!([1]), json!([0, 1]), json!([1, 1, 0])][input].clone();
        let id = self.engine.start(self.graph.slug(), input.clone()).await;
        self.machine.start(id, input);
    }

    async fn claim(&mut self, worker: usize, limit: i32) -> Played<usize> {
        let reply = self.workers[worker].hand.exchange(limit, &[]).await;
        self.take(worker, limit, reply).await
    }

    /// Where all suspects are, the oldest first.
    async fn suspects(&self) -> Played<Vec<(Uuid, usize, usize)>> {
        let query = "select s.run_id, s.step_index, s.task_index from flow.suspect s
                     order by s.queued_at, s.run_id, s.step_index, s.task_index";
        let found: Vec<(Uuid, i32, i32)> =
            sqlx::query_as(query).fetch_all(self.engine.pool()).await.map_err(|e| e.to_string())?;
        Ok(found.into_iter().map(|(run, step, task)| (run, index(step), index(task.max(0)))).collect())
    }

    /// Checks the claims of a reply against the machine and takes note of them; returns how many there are.
    async fn take(&mut self, worker: usize, limit: i32, reply: Reply) -> Played<usize> {
        same("the state", reply.state.as_str(), "ok")?;
        let limit = usize::try_from(limit).unwrap_or(0);
        let order = self.suspects().await?;
        let Worker { hand, steps } = &self.workers[worker];
        let count = reply.claims.len();
        let claimed = reply.claims.iter().map(place).filter(|id| self.machine.is_suspect(*id));
        let claimed: Vec<_> = order.iter().filter(|id| claimed.clone().any(|one| one == **id)).copied().collect();
        match self.machine.fitting(hand.id, steps, limit, &order) {
            // Work may have been handed out before the suspect that must be alone came to be the oldest.
            None => same("suspects claimed beside one that must be alone", &claimed, &Vec::new())?,
            Some(fitting) if limit > 0 && self.machine.must_be_alone(&fitting) => {
                same(
                    "that one suspect is claimed, or others are handed out",
                    &true,
                    &(claimed == fitting || claimed.is_empty()),
                )?;
                same("nothing is claimed beside it", &true, &(claimed.is_empty() || count == 1))?;
            }
            Some(fitting) => {
                let expected = (self.machine.claimable(steps) + fitting.len()).min(limit);
                same("the number of claims", &count, &expected)?;
                same("the oldest suspects", &claimed, &fitting[..claimed.len().min(fitting.len())].to_vec())?;
            }
        }
        for claim in reply.claims {
            self.note(worker, claim)?;
        }
        Ok(count)
    }

    fn note(&mut self, worker: usize, claim: Claim) -> Played {
        let id = self.workers[worker].hand.id;
        let holder = (id, claim.batch);
        let (at, step) = (self.machine.find(claim.run), index(claim.step));
        for need in &self.machine.flow.steps[step].needs {
            let sent = claim.dep(i32::try_from(*need).unwrap_or(-2));
            same("a dependency", &sent, &self.machine.output(at, *need))?;
        }
        same("the input", &claim.dep(-1), &Some(&self.machine.runs[at].input))?;
        let task = self
            .machine
            .claim(at, step, index(claim.task), holder)
            .ok_or("a task was claimed that was not to be had")?;
        same("the attempt", &(claim.attempt, claim.is_exhausted), &(task.attempt, task.is_exhausted))?;
        same("the item", &claim.item, &task.item)?;
        self.log.push((id, claim));
        Ok(())
    }

    /// The claim that stands `back` places before the newest.
    fn picked(&self, back: usize) -> Option<&(i64, Claim)> {
        self.log.len().checked_sub(1 + back).map(|at| &self.log[at])
    }

    async fn settle(&mut self, picks: &[(usize, End)], by: Option<usize>, limit: i32) -> Played {
        let picked: Vec<(i64, Claim, End)> = picks
            .iter()
            .filter_map(|(back, end)| self.picked(*back).map(|(id, claim)| (*id, claim.clone(), *end)))
            .collect();
        let Some((owner, ..)) = picked.first() else { return Ok(()) };
        let is_owner = |worker: &Worker<'_>| worker.hand.id == *owner;
        let Some(worker) = by.map(|by| by % self.workers.len()).or_else(|| self.workers.iter().position(is_owner))
        else {
            return Ok(());
        };
        let (settlements, sent): (Vec<Settle>, Vec<Sent>) =
            picked.iter().map(|(_, claim, end)| self.ended(claim, *end)).unzip();
        let mut reply = self.workers[worker].hand.exchange(limit, &settlements).await;
        let verdicts = self.machine.settle(self.workers[worker].hand.id, &sent);
        same(
            "the verdicts",
            &std::mem::take(&mut reply.verdicts),
            &verdicts.iter().map(|v| (*v).to_owned()).collect(),
        )?;
        self.take(worker, limit, reply).await?;
        Ok(())
    }

    /// How an attempt ends, for either side.
    fn ended(&self, claim: &Claim, end: End) -> (Settle, Sent) {
        let step = index(claim.step);
        let text = format!("step {step} task {} attempt {}", claim.task, claim.attempt);
        let (settle, outcome) = match end {
            End::Complete(choice) => {
                let output = self.output(step, choice);
                (claim.complete(output.clone()), Outcome::Complete(output))
            }
            End::Error => (claim.fail(&text), Outcome::Error { text, is_visible: true }),
            End::ErrorLater => {
                (claim.fail_for(&text, Duration::from_secs(600)), Outcome::Error { text, is_visible: false })
            }
            End::Permanent => (claim.fail_for_good(&text), Outcome::Permanent(text)),
            End::LeaseExpired => (claim.ended("lease_expired", Some(&text)), Outcome::LeaseExpired(text)),
        };
        (settle, Sent { run: claim.run, step, task: index(claim.task), batch: claim.batch, outcome })
    }

    /// One of a few outputs; a step that feeds a map mostly gives a list.
    fn output(&self, step: usize, choice: usize) -> Value {
        let lists = [json!([]), json!([1]), json!([0, 1])];
        let others = [json!({"v": 0}), json!({"v": 1}), json!(null), json!(7)];
        let feeds_map = self.machine.flow.fed_map(step).is_some();
        if choice < 3 || feeds_map && choice < 7 { lists[choice % 3].clone() } else { others[choice % 4].clone() }
    }

    /// How what is left ends: with success, unless no attempt is left.
    fn final_end(&self, at: usize) -> End {
        if self.log[at].1.is_exhausted { End::LeaseExpired } else { End::Complete(1) }
    }

    async fn release(&mut self, picks: &[usize]) -> Played {
        let Some((owner, _)) = picks.first().and_then(|back| self.picked(*back)) else { return Ok(()) };
        let owner = *owner;
        let Some(worker) = self.workers.iter().position(|worker| worker.hand.id == owner) else { return Ok(()) };
        let mut held: Vec<Claim> =
            picks.iter().filter_map(|back| self.picked(*back)).map(|(_, claim)| claim.clone()).collect();
        held.dedup();
        held.sort_by_key(|claim| (claim.run, claim.step, claim.task, claim.batch));
        held.dedup_by_key(|claim| (claim.run, claim.step, claim.task, claim.batch));
        let said = self.workers[worker].hand.release(&held).await;
        let expected: Vec<bool> = held
            .iter()
            .map(|claim| {
                let at = self.machine.find(claim.run);
                self.machine.release(at, index(claim.step), index(claim.task), (owner, claim.batch))
            })
            .collect();
        same("what was released", &said, &expected)?;
        same(
            "the state of a worker that released",
            self.workers[worker].hand.exchange(5, &[]).await.state.as_str(),
            "draining",
        )?;
        let gone = self.workers.remove(worker);
        self.hire(gone.steps).await;
        Ok(())
    }

    /// The last exchange of a worker once more: it hands out again what is still held under its number, or is made anew when it
    /// had handed out nothing, or what it had handed out has been recovered.
    async fn resume(&mut self, worker: usize, limit: i32) -> Played {
        let hand = &self.workers[worker].hand;
        if hand.batch.load(Ordering::SeqCst) == 0 {
            return self.claim(worker, limit).await.map(drop);
        }
        let holder = (hand.id, hand.batch.load(Ordering::SeqCst));
        let is_repeat =
            self.engine.hands().await.iter().any(|(worker, row, _)| *worker == holder.0 && *row >= holder.1);
        let reply = hand.repeat(limit, &[]).await;
        if !is_repeat {
            return self.take(worker, limit, reply).await.map(drop);
        }
        same("the number of tasks handed over again", &reply.claims.len(), &self.machine.held(holder))?;
        for claim in reply.claims {
            self.note(worker, claim)?;
        }
        Ok(())
    }

    /// Every lease ends, row of a hand by row of a hand is recovered, and every message becomes visible.
    async fn pass_time(&mut self) -> Played {
        self.engine.expire_leases().await;
        let hands = self.engine.hands().await;
        let company: HashMap<i64, _> =
            hands.iter().map(|(worker, ..)| (*worker, self.machine.company(*worker))).collect();
        for (worker, row, entries) in hands {
            let together = company[&worker];
            let mut lost = Vec::new();
            for (run, step, task, batch) in entries {
                let listed = (run, index(step), index(task.max(0)));
                lost.extend(self.machine.lose(listed, (worker, batch), together));
            }
            lost.sort_by_key(|one| (self.machine.find(one.run), one.step, one.task));
            self.machine.settle(worker, &lost);
            self.engine.recover_row(worker, row).await;
            self.compare_runs().await.map_err(|what| format!("after the recovery of {worker} {row}: {what}"))?;
        }
        self.engine.go_on().await;
        // A process that was ended uses no number again that it had used before.
        self.workers.iter().for_each(|worker| worker.hand.batch.store(0, Ordering::SeqCst));
        self.machine.pass_time();
        Ok(())
    }

    async fn retry(&mut self, at: usize) -> Played {
        let old = self.machine.runs[at].id;
        let new: Result<Uuid, _> =
            sqlx::query_scalar("select flow.retry_run($1)").bind(old).fetch_one(self.engine.pool()).await;
        let id = new.as_ref().copied().unwrap_or_default();
        let known = self.machine.runs[at].retried_as;
        same("whether a retry is allowed", &new.is_ok(), &self.machine.retry(at, id))?;
        known.map_or(Ok(()), |known| same("the run that retries", &id, &known))
    }
}

fn place(claim: &Claim) -> (Uuid, usize, usize) {
    (claim.run, index(claim.step), index(claim.task))
}

fn index(number: i32) -> usize {
    usize::try_from(number).expect("indexes are not negative")
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(what: &str, engine: &T, machine: &T) -> Played {
    if engine == machine { Ok(()) } else { Err(format!("{what} differ\n engine: {engine:?}\nmachine: {machine:?}")) }
}
