//! Crashes in company: what becomes suspect, with which limit, and which suspects a worker claims.

use uuid::Uuid;

use super::{
    machine::{Machine, Task},
    settle::{Outcome, Sent},
};

/// Run, step and task.
pub(super) type Place = (Uuid, usize, usize);

impl Machine {
    /// What a worker held under a batch is lost with so many suspects and others: it is suspect and waits, or it has used its attempt;
    /// then it is returned, unless it is suspect all the same.
    pub(super) fn lose(
        &mut self,
        (run, step, task): Place,
        holder: (i64, i64),
        (suspects, others): (usize, usize),
    ) -> Option<Sent> {
        let (at, max_attempts) = (self.find(run), self.flow.steps[step].max_attempts);
        let lost = self.runs[at].tasks.get_mut(&(step, task))?;
        if lost.status != "started" || lost.holder != Some(holder) {
            return None;
        }
        let is_alone = suspects + others <= 1;
        let is_suspect = lost.suspect.is_some() && lost.attempt < max_attempts;
        if lost.is_exhausted || max_attempts == 1 || (is_alone && !is_suspect) {
            let text = "the lease ended before the attempt was settled";
            let outcome = Outcome::LeaseExpired(text.to_owned());
            return Some(Sent { run, step, task, batch: holder.1, outcome });
        }
        lost.suspect = Some(match lost.suspect {
            None => (others / 2).max(1),
            Some(limit) if limit == 0 || suspects <= 1 => 0,
            Some(_) => (suspects / 2).max(1),
        });
        lost.errors.insert(holder, true);
        lost.attempt -= i32::from(!is_alone);
        (lost.status, lost.holder, lost.is_visible) = ("queued", None, true);
        None
    }

    /// What a worker holds: suspects and others, without what is only to be given up.
    pub(super) fn company(&self, worker: i64) -> (usize, usize) {
        let tasks = self.runs.iter().flat_map(|run| run.tasks.values());
        let of_worker = |task: &&Task| task.holder.is_some_and(|(holder, _)| holder == worker);
        let held = tasks.filter(|task| task.status == "started" && !task.is_exhausted).filter(of_worker);
        let (suspects, others): (Vec<_>, Vec<_>) = held.partition(|task| task.suspect.is_some());
        (suspects.len(), others.len())
    }

    /// Which of the suspects of these steps, the oldest first, a worker claims, which is the only one of its process; none when it may
    /// claim nothing at all, because one of them must be alone.
    pub(super) fn fitting(&self, worker: i64, steps: &[usize], limit: usize, order: &[Place]) -> Option<Vec<Place>> {
        let look = |(run, step, task): &Place| self.runs[self.find(*run)].tasks.get(&(*step, *task));
        let of_worker = |task: &&Task| task.holder.is_some_and(|(holder, _)| holder == worker);
        let held = order.iter().filter_map(look).filter(|task| task.status == "started").filter(of_worker);
        let held: Vec<usize> = held.filter_map(|task| task.suspect).collect();
        if held.contains(&0) {
            return None;
        }
        let (suspects, others) = self.company(worker);
        let waits = |task: &Task| task.status == "queued" && task.suspect.is_some();
        let waiting: Vec<_> =
            order.iter().filter(|id| steps.contains(&id.1) && look(id).is_some_and(waits)).copied().collect();
        let limit_of = |id: &Place| look(id).and_then(|task| task.suspect).unwrap_or_default();
        if waiting.first().is_some_and(|first| limit_of(first) == 0) {
            return (suspects + others == 0).then(|| waiting[..1].to_vec());
        }
        let room = limit.min(((suspects + others + limit) / 2).max(1).saturating_sub(suspects));
        let mut least = held.iter().copied().min().unwrap_or(usize::MAX);
        let mut fitting = Vec::new();
        for id in waiting.into_iter().take(room) {
            least = least.min(limit_of(&id));
            if held.len() + fitting.len() + 1 > least {
                break;
            }
            fitting.push(id);
        }
        Some(fitting)
    }

    /// Whether a task that waits is suspect.
    pub(super) fn is_suspect(&self, (run, step, task): Place) -> bool {
        let task = self.runs[self.find(run)].tasks.get(&(step, task));
        task.is_some_and(|task| task.suspect.is_some())
    }

    /// Whether the first of these suspects must be alone.
    pub(super) fn must_be_alone(&self, suspects: &[Place]) -> bool {
        suspects.first().is_some_and(|(run, step, task)| {
            self.runs[self.find(*run)].tasks.get(&(*step, *task)).is_some_and(|task| task.suspect == Some(0))
        })
    }
}
