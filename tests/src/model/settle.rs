//! What a batch of settlements does to the machine: verdicts first, then completions, then failures.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use uuid::Uuid;

use super::{flow::Mode, machine::Machine};

/// How an attempt ended.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    Complete(Value),
    Error { text: String, is_visible: bool },
    Permanent(String),
    LeaseExpired(String),
}

/// One settlement as sent.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) run: Uuid,
    pub(super) step: usize,
    pub(super) task: usize,
    pub(super) batch: i64,
    pub(super) outcome: Outcome,
}

/// A failure for good: step, lowest task, text, and what it does.
type Blame = (usize, usize, String, Mode);

impl Machine {
    /// Settles a batch of one worker; returns a verdict each.
    pub(super) fn settle(&mut self, worker: i64, sent: &[Sent]) -> Vec<&'static str> {
        let mut seen = BTreeSet::new();
        let mut verdicts: Vec<&'static str> = sent.iter().map(|one| self.judge(worker, one, &mut seen)).collect();
        let accepted: Vec<usize> = (0..sent.len()).filter(|place| verdicts[*place] == "accepted").collect();

        let mut ended: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for place in &accepted {
            let one = &sent[*place];
            if let (Outcome::Complete(output), None) = (&one.outcome, self.violation(one)) {
                let at = self.find(one.run);
                if self.complete(at, one.step, one.task, output) {
                    ended.entry(at).or_default().push(one.step);
                }
            }
        }
        for (at, steps) in ended {
            self.advance(at, self.ready_after(at, &steps));
        }

        let mut blamed: BTreeMap<usize, Vec<Blame>> = BTreeMap::new();
        for place in accepted {
            let one = &sent[place];
            let at = self.find(one.run);
            match self.fail(at, worker, one) {
                Failed::Not => {}
                Failed::Late => verdicts[place] = "lost",
                Failed::Retried => {}
                Failed::ForGood(text, mode) => blamed.entry(at).or_default().push((one.step, one.task, text, mode)),
            }
        }
        for (at, mut failures) in blamed {
            failures.sort_by_key(|(step, task, ..)| (*step, *task));
            failures.dedup_by_key(|(step, ..)| *step);
            self.blame(at, failures);
        }
        for at in 0..self.runs.len() {
            self.finish(at);
        }
        verdicts
    }

    /// Where a run stands among the runs.
    pub(super) fn find(&self, run: Uuid) -> usize {
        self.runs.iter().position(|known| known.id == run).expect("every claim is of a known run")
    }

    fn judge(&self, worker: i64, one: &Sent, seen: &mut BTreeSet<(Uuid, usize, usize, i64)>) -> &'static str {
        let Some(task) = self.runs[self.find(one.run)].tasks.get(&(one.step, one.task)) else { return "lost" };
        let is_current = task.holder == Some((worker, one.batch));
        let may_end = !task.is_exhausted || matches!(one.outcome, Outcome::LeaseExpired(_));
        if task.status == "started" && is_current && may_end {
            return if seen.insert((one.run, one.step, one.task, one.batch)) { "accepted" } else { "already_settled" };
        }
        let has_ended = matches!(task.status, "completed" | "failed") && is_current;
        let was_reported = task.errors.get(&(worker, one.batch)).is_some_and(|has_expired| !has_expired);
        if has_ended || was_reported { "already_settled" } else { "lost" }
    }

    /// The text of a single step's output that a map cannot run over.
    fn violation(&self, one: &Sent) -> Option<String> {
        let Outcome::Complete(output) = &one.outcome else { return None };
        let map = self.flow.fed_map(one.step).filter(|_| self.flow.steps[one.step].over.is_none())?;
        let kind = match output {
            Value::Array(_) => return None,
            Value::Object(_) => "object",
            Value::Null => "null",
            _ => "number",
        };
        let step = one.step;
        Some(format!("step \"s{step}\" must return an array, because map \"s{map}\" runs over it; it returned {kind}"))
    }

    /// Completes a task; whether its step ended with it.
    fn complete(&mut self, at: usize, step: usize, task: usize, output: &Value) -> bool {
        let is_map = self.flow.steps[step].over.is_some();
        let run = &mut self.runs[at];
        let ending = run.tasks.get_mut(&(step, task)).expect("it was judged");
        (ending.status, ending.output) = ("completed", is_map.then(|| output.clone()));
        ending.suspect = None;
        let tasks: Vec<_> = run.tasks.range((step, 0)..(step + 1, 0)).map(|(_, task)| task).collect();
        if tasks.iter().any(|task| task.status != "completed") {
            return false;
        }
        let gathered = tasks.iter().map(|task| task.output.clone().unwrap_or_default()).collect();
        let state = &mut run.steps[step];
        (state.status, state.output) = ("completed", Some(if is_map { gathered } else { output.clone() }));
        true
    }

    fn fail(&mut self, at: usize, worker: i64, one: &Sent) -> Failed {
        let step = &self.flow.steps[one.step];
        let (text, is_retryable, is_visible, has_expired, mode) = match (&one.outcome, self.violation(one)) {
            (_, Some(text)) => (text, false, false, false, Mode::Fail),
            (Outcome::Complete(_), None) => return Failed::Not,
            (Outcome::Error { text, is_visible }, _) => (text.clone(), true, *is_visible, false, step.when_exhausted),
            (Outcome::Permanent(text), _) => (text.clone(), false, false, false, step.when_exhausted),
            (Outcome::LeaseExpired(text), _) => (text.clone(), true, true, true, step.when_exhausted),
        };
        let max_attempts = step.max_attempts;
        let task = self.runs[at].tasks.get_mut(&(one.step, one.task)).expect("it was judged");
        if task.status != "started" {
            return Failed::Late;
        }
        task.errors.entry((worker, one.batch)).or_insert(has_expired);
        task.suspect = None;
        if is_retryable && task.attempt < max_attempts {
            (task.status, task.holder, task.is_visible) = ("queued", None, is_visible);
            return Failed::Retried;
        }
        task.status = "failed";
        Failed::ForGood(text, mode)
    }

    /// Does as the modes say: a step that fails the run comes before steps that are skipped.
    fn blame(&mut self, at: usize, failures: Vec<Blame>) {
        let fatal: Vec<&Blame> = failures.iter().filter(|(.., mode)| *mode == Mode::Fail).collect();
        if let Some((step, _, text, _)) = fatal.first() {
            for (step, _, text, _) in &fatal {
                let state = &mut self.runs[at].steps[*step];
                (state.status, state.error) = ("failed", Some(text.clone()));
            }
            let cause = Some((*step, text.clone()));
            // A single step's work is its step, which is cancelled where it would have been skipped.
            let spared =
                failures.iter().filter(|(step, .., mode)| *mode != Mode::Fail && self.flow.steps[*step].over.is_none());
            let spared: Vec<usize> = spared.map(|(step, ..)| *step).collect();
            for step in spared {
                self.runs[at].tasks.entry((step, 0)).and_modify(|task| task.status = "cancelled");
            }
            return self.end(at, "failed", cause);
        }
        for (step, _, text, _) in &failures {
            self.skip(at, *step, "handler_failed", Some(text.clone()));
            for (_, task) in
                self.runs[at].tasks.range_mut((*step, 0)..(*step + 1, 0)).filter(|(_, task)| task.is_live())
            {
                (task.status, task.is_visible) = ("skipped", false);
            }
        }
        for (step, ..) in failures.iter().filter(|(.., mode)| *mode == Mode::SkipCascade) {
            self.cascade(at, *step);
        }
        let ended: Vec<usize> =
            failures.iter().filter(|(.., mode)| *mode == Mode::Skip).map(|(step, ..)| *step).collect();
        self.advance(at, self.ready_after(at, &ended));
    }
}

/// What a settlement that was accepted as a failure does.
enum Failed {
    /// It is a completion.
    Not,
    /// An earlier settlement of the batch ended the task.
    Late,
    /// The task is queued again.
    Retried,
    /// The task has failed.
    ForGood(String, Mode),
}
