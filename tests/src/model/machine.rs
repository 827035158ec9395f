//! The rules of the state machine: runs, steps and tasks, without a database.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    contain::contains,
    flow::{Flow, Mode, ModelSource},
};

/// One run with its steps and tasks.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its id, as the engine gave it.
    pub id: Uuid,
    /// `started`, `completed`, `failed` or `cancelled`.
    pub status: &'static str,
    /// The step that failed it.
    pub error: Option<(usize, String)>,
    /// The run that retries it.
    pub retried_as: Option<Uuid>,
    /// The tasks, by step and index.
    pub tasks: BTreeMap<(usize, usize), Task>,
    pub(super) input: Value,
    pub(super) steps: Vec<StepState>,
}

/// One step of a run.
#[derive(Debug, Clone, Default)]
pub struct StepState {
    pub(super) status: &'static str,
    pub(super) skip_reason: Option<&'static str>,
    pub(super) task_count: Option<usize>,
    pub(super) output: Option<Value>,
    pub(super) error: Option<String>,
}

/// One task of a step.
#[derive(Debug, Clone, Default)]
pub struct Task {
    /// `queued`, `started` or how it ended.
    pub status: &'static str,
    /// The attempt.
    pub attempt: i32,
    /// The worker of the attempt, and the number of the exchange that claimed it.
    pub holder: Option<(i64, i64)>,
    /// It was handed over without an attempt left.
    pub is_exhausted: bool,
    /// The element, in a map.
    pub item: Option<Value>,
    /// Attempts that did not succeed, by who held them: whether the lease had ended.
    pub errors: BTreeMap<(i64, i64), bool>,
    /// Whether its message is visible, or it waits as a suspect.
    pub is_visible: bool,
    /// How many suspects a process may hold while it holds this one; 0 when it must be alone.
    pub suspect: Option<usize>,
    pub(super) output: Option<Value>,
}

impl Task {
    pub(super) fn is_live(&self) -> bool {
        matches!(self.status, "queued" | "started")
    }
}

/// All runs of one flow.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The flow.
    pub flow: Flow,
    /// The runs, oldest first.
    pub runs: Vec<Run>,
}

impl Machine {
    /// No run yet.
    pub fn new(flow: Flow) -> Self {
        Self { flow, runs: Vec::new() }
    }

    /// Starts a run.
    pub fn start(&mut self, id: Uuid, input: Value) {
        let created = StepState { status: "created", ..StepState::default() };
        let steps = vec![created; self.flow.steps.len()];
        self.runs.push(Run {
            id,
            status: "started",
            error: None,
            retried_as: None,
            tasks: BTreeMap::new(),
            input,
            steps,
        });
        let roots =
            (0..self.flow.steps.len()).filter(|step| self.flow.steps[*step].dependencies().is_empty()).collect();
        let at = self.runs.len() - 1;
        self.advance(at, roots);
        self.finish(at);
    }

    /// Ends a run that has not ended; returns its status.
    pub fn cancel(&mut self, at: usize) -> &'static str {
        if self.runs[at].status == "started" {
            self.end(at, "cancelled", None);
        }
        self.runs[at].status
    }

    /// Retries a run under the id that the engine gave the new one; whether that is allowed.
    pub fn retry(&mut self, at: usize, new_id: Uuid) -> bool {
        let old = self.runs[at].clone();
        if !matches!(old.status, "failed" | "cancelled") {
            return false;
        }
        if old.retried_as.is_some() {
            return true;
        }
        self.runs[at].retried_as = Some(new_id);
        let mut new = Run { id: new_id, status: "started", error: None, retried_as: None, ..old.clone() };
        for (index, state) in new.steps.iter_mut().enumerate() {
            if matches!(state.status, "completed" | "skipped") {
                continue;
            }
            *state = StepState { status: "created", ..StepState::default() };
            if let Some(count) = old.steps[index].task_count {
                *state = StepState { status: "started", task_count: Some(count), ..StepState::default() };
                for (_, task) in new.tasks.range_mut((index, 0)..(index + 1, 0)) {
                    if task.status != "completed" {
                        *task = Task { status: "queued", item: task.item.take(), is_visible: true, ..Task::default() };
                    }
                }
            }
        }
        self.runs.push(new);
        let at = self.runs.len() - 1;
        let ready = (0..self.flow.steps.len()).filter(|step| self.is_ready(at, *step)).collect();
        self.advance(at, ready);
        self.finish(at);
        true
    }

    /// Every message becomes visible.
    pub fn pass_time(&mut self) {
        for task in self.runs.iter_mut().flat_map(|run| run.tasks.values_mut()) {
            task.is_visible = task.status == "queued";
        }
    }

    /// How many tasks of these steps a claim would find that are not suspect.
    pub fn claimable(&self, steps: &[usize]) -> usize {
        let tasks = self.runs.iter().flat_map(|run| &run.tasks);
        let is_claimable = |((step, _), task): &(&(usize, usize), &Task)| {
            task.is_live() && task.is_visible && task.suspect.is_none() && steps.contains(step)
        };
        tasks.filter(is_claimable).count()
    }

    /// A worker claims a task that is visible, or is told once more that it has; returns the task as it is then.
    pub fn claim(&mut self, at: usize, step: usize, task: usize, holder: (i64, i64)) -> Option<&Task> {
        let max_attempts = self.flow.steps[step].max_attempts;
        let task = self.runs[at].tasks.get_mut(&(step, task)).filter(|task| task.is_live())?;
        if task.status == "started" {
            return (task.holder == Some(holder)).then_some(task);
        }
        if !task.is_visible {
            return None;
        }
        task.is_exhausted = task.attempt >= max_attempts;
        task.attempt += i32::from(!task.is_exhausted);
        (task.status, task.holder, task.is_visible) = ("started", Some(holder), false);
        Some(task)
    }

    /// How many tasks are held under this holder.
    pub fn held(&self, holder: (i64, i64)) -> usize {
        let tasks = self.runs.iter().flat_map(|run| run.tasks.values());
        tasks.filter(|task| task.status == "started" && task.holder == Some(holder)).count()
    }

    /// A worker gives a task back; whether it held that attempt.
    pub fn release(&mut self, at: usize, step: usize, task: usize, holder: (i64, i64)) -> bool {
        let Some(task) = self.runs[at].tasks.get_mut(&(step, task)) else { return false };
        if task.status != "started" || task.holder != Some(holder) {
            return false;
        }
        // What was handed over without an attempt left has used none here.
        let used = i32::from(!task.is_exhausted);
        (task.status, task.attempt, task.holder) = ("queued", task.attempt - used, None);
        task.is_visible = true;
        true
    }

    /// The output of a step, if it is completed.
    pub fn output(&self, at: usize, step: usize) -> Option<&Value> {
        let state = &self.runs[at].steps[step];
        state.output.as_ref().filter(|_| state.status == "completed")
    }

    /// What the tables say about all runs.
    pub fn snapshot(&self) -> Value {
        let runs: Map<String, Value> =
            self.runs.iter().enumerate().map(|(at, run)| (run.id.to_string(), self.shown(at))).collect();
        runs.into()
    }

    fn shown(&self, at: usize) -> Value {
        let run = &self.runs[at];
        let steps = run
            .steps
            .iter()
            .map(|step| json!([step.status, step.skip_reason, step.task_count, step.output, step.error]));
        let tasks = run
            .tasks
            .iter()
            .map(|((step, task), state)| json!([step, task, state.status, state.attempt, state.item, state.output]));
        let output = (run.status == "completed").then(|| self.run_output(at));
        let error = run.error.as_ref();
        json!([
            run.status,
            output,
            error.map(|e| e.0),
            error.map(|e| &e.1),
            steps.collect::<Vec<_>>(),
            tasks.collect::<Vec<_>>()
        ])
    }

    fn run_output(&self, at: usize) -> Value {
        let leaves = (0..self.flow.steps.len()).filter(|step| self.flow.dependents(*step).is_empty());
        let outputs: Map<String, Value> =
            leaves.filter_map(|step| Some((format!("s{step}"), self.output(at, step)?.clone()))).collect();
        outputs.into()
    }

    fn is_ready(&self, at: usize, step: usize) -> bool {
        let steps = &self.runs[at].steps;
        let has_ended = |step: &usize| matches!(steps[*step].status, "completed" | "skipped");
        steps[step].status == "created" && self.flow.steps[step].dependencies().iter().all(has_ended)
    }

    /// The steps for which the end of `ended` was the last one to wait for.
    pub(super) fn ready_after(&self, at: usize, ended: &[usize]) -> BTreeSet<usize> {
        let dependents = ended.iter().flat_map(|step| self.flow.dependents(*step));
        dependents.filter(|step| self.is_ready(at, *step)).collect()
    }

    /// Starts what is ready, level by level: conditions first, then tasks, then what a skip or an empty map makes ready.
    pub(super) fn advance(&mut self, at: usize, mut ready: BTreeSet<usize>) {
        while !ready.is_empty() {
            let (met, unmet): (Vec<usize>, Vec<usize>) = ready.iter().partition(|step| self.is_met(at, **step));
            if let Some(step) = unmet.iter().find(|step| self.flow.steps[**step].when_unmet == Mode::Fail) {
                self.end(at, "failed", Some((*step, "condition not met".to_owned())));
                return;
            }
            let mut ended = Vec::new();
            for step in &unmet {
                self.skip(at, *step, "condition_unmet", None);
            }
            for step in unmet {
                match self.flow.steps[step].when_unmet {
                    Mode::SkipCascade => self.cascade(at, step),
                    _ => ended.push(step),
                }
            }
            for step in met {
                if self.begin(at, step) == 0 {
                    ended.push(step);
                }
            }
            ready = self.ready_after(at, &ended);
        }
    }

    fn is_met(&self, at: usize, step: usize) -> bool {
        let step = &self.flow.steps[step];
        let dependencies = step.dependencies();
        let subject = if dependencies.is_empty() {
            self.runs[at].input.clone()
        } else {
            let outputs =
                dependencies.iter().filter_map(|step| Some((format!("s{step}"), self.output(at, *step)?.clone())));
            Value::Object(outputs.collect())
        };
        step.run_if.as_ref().is_none_or(|pattern| contains(&subject, pattern))
            && step.run_unless.as_ref().is_none_or(|pattern| !contains(&subject, pattern))
    }

    /// Starts a step, or completes it when it is a map over nothing; returns how many tasks it has.
    fn begin(&mut self, at: usize, step: usize) -> usize {
        let nothing = json!([]);
        let items: Vec<Option<Value>> = match self.flow.steps[step].over {
            None => vec![None],
            Some(source) => {
                let source = match source {
                    ModelSource::Input => &self.runs[at].input,
                    ModelSource::Step(source) => self.output(at, source).unwrap_or(&nothing),
                };
                source.as_array().into_iter().flatten().cloned().map(Some).collect()
            }
        };
        let count = items.len();
        let run = &mut self.runs[at];
        let (status, output) = if count == 0 { ("completed", Some(nothing)) } else { ("started", None) };
        run.steps[step] = StepState { status, output, task_count: Some(count), ..StepState::default() };
        run.tasks.extend(items.into_iter().enumerate().map(|(index, item)| {
            ((step, index), Task { status: "queued", item, is_visible: true, ..Task::default() })
        }));
        count
    }

    pub(super) fn skip(&mut self, at: usize, step: usize, reason: &'static str, error: Option<String>) {
        let state = &mut self.runs[at].steps[step];
        (state.status, state.skip_reason, state.error) = ("skipped", Some(reason), error);
    }

    pub(super) fn cascade(&mut self, at: usize, step: usize) {
        for behind in self.flow.dependents(step) {
            if self.runs[at].steps[behind].status == "created" {
                self.skip(at, behind, "dependency_skipped", None);
                self.cascade(at, behind);
            }
        }
    }

    /// Ends a run before its time, with the step that is to blame.
    pub(super) fn end(&mut self, at: usize, status: &'static str, error: Option<(usize, String)>) {
        let run = &mut self.runs[at];
        if let Some((step, text)) = &error {
            (run.steps[*step].status, run.steps[*step].error) = ("failed", Some(text.clone()));
        }
        for step in run.steps.iter_mut().filter(|step| matches!(step.status, "created" | "started")) {
            step.status = "cancelled";
        }
        for task in run.tasks.values_mut().filter(|task| task.is_live()) {
            (task.status, task.is_visible) = ("cancelled", false);
        }
        (run.status, run.error) = (status, error);
    }

    /// Completes a run whose steps have all ended.
    pub(super) fn finish(&mut self, at: usize) {
        let run = &mut self.runs[at];
        if run.status == "started" && run.steps.iter().all(|step| matches!(step.status, "completed" | "skipped")) {
            run.status = "completed";
        }
    }
}
