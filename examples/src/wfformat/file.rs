//! Workflow files in WfFormat 1.5: tasks, who depends on whom, and how long each took.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

/// The version of the format that is read.
const VERSION: &str = "1.5";

/// One workflow as recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// The file's name without its ending.
    pub name: String,
    /// The tasks, as listed in the file.
    pub tasks: Vec<Task>,
}

/// One recorded task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its id, which may hold anything.
    pub id: String,
    /// Places in the list of the tasks that ended first.
    pub parents: Vec<usize>,
    /// How long it took.
    pub runtime: Duration,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawFile {
    schema_version: String,
    workflow: RawWorkflow,
}

#[derive(Deserialize)]
struct RawWorkflow {
    specification: RawSpecification,
    execution: Option<RawExecution>,
}

#[derive(Deserialize)]
struct RawSpecification {
    tasks: Vec<RawTask>,
}

#[derive(Deserialize)]
struct RawTask {
    id: String,
    #[serde(default)]
    parents: Vec<String>,
}

#[derive(Deserialize)]
struct RawExecution {
    tasks: Vec<RawRuntime>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRuntime {
    id: String,
    runtime_in_seconds: Option<f64>,
}

impl Workflow {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or as [`Workflow::parse`]; the error names the file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let named = || format!("`{}`", path.display());
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", named()))?;
        let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Self::parse(name, &text).with_context(named)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Broken JSON, another version, a doubled id, an unknown parent or a cycle; each error names the place.
    pub fn parse(name: String, text: &str) -> anyhow::Result<Self> {
        let json = &mut serde_json::Deserializer::from_str(text);
        let file: RawFile = serde_path_to_error::deserialize(json).context("is no workflow in WfFormat")?;
        ensure!(file.schema_version == VERSION, "is WfFormat {}; only {VERSION} is read", file.schema_version);
        let runtimes: HashMap<&str, f64> = file
            .workflow
            .execution
            .iter()
            .flat_map(|execution| &execution.tasks)
            .filter_map(|task| Some((task.id.as_str(), task.runtime_in_seconds?)))
            .collect();

        let raw = &file.workflow.specification.tasks;
        ensure!(!raw.is_empty(), "has no tasks");
        let mut places = HashMap::new();
        for (place, task) in raw.iter().enumerate() {
            if let Some(first) = places.insert(task.id.as_str(), place) {
                bail!("tasks {first} and {place} have the same id `{}`", task.id);
            }
        }
        let mut tasks = Vec::with_capacity(raw.len());
        for task in raw {
            tasks.push(Task {
                id: task.id.clone(),
                parents: parents(task, &places)?,
                runtime: runtime(&task.id, runtimes.get(task.id.as_str()).copied())?,
            });
        }
        let workflow = Self { name, tasks };
        workflow.refuse_cycles()?;
        Ok(workflow)
    }

    /// How many tasks wait for how many others.
    pub fn edges(&self) -> usize {
        self.tasks.iter().map(|task| task.parents.len()).sum()
    }

    /// All recorded runtimes together.
    pub fn work(&self) -> Duration {
        self.tasks.iter().map(|task| task.runtime).sum()
    }

    /// The longest chain of recorded runtimes.
    pub fn critical_path(&self) -> Duration {
        let mut ends = vec![Duration::ZERO; self.tasks.len()];
        for place in self.in_order() {
            let task = &self.tasks[place];
            let ready = task.parents.iter().map(|parent| ends[*parent]).max().unwrap_or_default();
            ends[place] = ready + task.runtime;
        }
        ends.into_iter().max().unwrap_or_default()
    }

    /// The places of the tasks, parents first; tasks in or behind a cycle are left out.
    fn in_order(&self) -> Vec<usize> {
        let mut open: Vec<usize> = self.tasks.iter().map(|task| task.parents.len()).collect();
        let mut children = vec![Vec::new(); self.tasks.len()];
        for (place, task) in self.tasks.iter().enumerate() {
            for parent in &task.parents {
                children[*parent].push(place);
            }
        }
        let mut order: Vec<usize> = (0..self.tasks.len()).filter(|place| open[*place] == 0).collect();
        let mut next = 0;
        while let Some(place) = order.get(next).copied() {
            next += 1;
            for child in &children[place] {
                open[*child] -= 1;
                if open[*child] == 0 {
                    order.push(*child);
                }
            }
        }
        order
    }

    /// Names one cycle, when there is one.
    fn refuse_cycles(&self) -> anyhow::Result<()> {
        let ordered: HashSet<usize> = self.in_order().into_iter().collect();
        let Some(mut place) = (0..self.tasks.len()).find(|place| !ordered.contains(place)) else { return Ok(()) };
        // Every task that is left has a parent that is left: going up must come to a task a second time.
        let mut path = Vec::new();
        while !path.contains(&place) {
            path.push(place);
            let up = self.tasks[place].parents.iter().find(|parent| !ordered.contains(parent));
            place = up.copied().unwrap_or(place);
        }
        let from = path.iter().position(|seen| *seen == place).unwrap_or_default();
        let ids = path[from..].iter().chain([&place]).map(|place| format!("`{}`", self.tasks[*place].id));
        bail!("has a cycle: {} (each waits for the next)", ids.collect::<Vec<_>>().join(" -> "))
    }
}

fn parents(task: &RawTask, places: &HashMap<&str, usize>) -> anyhow::Result<Vec<usize>> {
    let mut parents = Vec::with_capacity(task.parents.len());
    for parent in &task.parents {
        let Some(place) = places.get(parent.as_str()) else {
            bail!("task `{}` has the parent `{parent}`, but there is no such task", task.id);
        };
        ensure!(!parents.contains(place), "task `{}` has the parent `{parent}` twice", task.id);
        parents.push(*place);
    }
    Ok(parents)
}

fn runtime(id: &str, seconds: Option<f64>) -> anyhow::Result<Duration> {
    let seconds = seconds.unwrap_or_default();
    Duration::try_from_secs_f64(seconds)
        .with_context(|| format!("task `{id}` has a runtime of {seconds} s, which is no length of time"))
}

#[cfg(test)]
mod tests {
    //! Files that are read, and what is said of those that are not.

    use super::*;

    fn file(tasks: &str) -> String {
        format!(r#"{{"schemaVersion": "1.5", "workflow": {{"specification": {{"tasks": {tasks}}}}}}}"#)
    }

    fn refusal(text: &str) -> String {
        format!("{:#}", Workflow::parse("test".into(), text).unwrap_err())
    }

    #[test]
    fn runtimes_and_parents_are_read() {
        let text = r#"{"schemaVersion": "1.5", "workflow": {
            "specification": {"tasks": [
                {"id": "b", "parents": ["a"]}, {"id": "a", "parents": []}, {"id": "c", "parents": ["a", "b"]}]},
            "execution": {"tasks": [{"id": "a", "runtimeInSeconds": 1.5}, {"id": "b", "runtimeInSeconds": 2}]}}}"#;
        let workflow = Workflow::parse("test".into(), text).unwrap();
        assert_eq!(workflow.tasks[0].parents, [1]);
        assert_eq!(workflow.tasks[2].runtime, Duration::ZERO);
        assert_eq!((workflow.edges(), workflow.work()), (3, Duration::from_millis(3_500)));
        assert_eq!(workflow.critical_path(), Duration::from_millis(3_500));
    }

    #[test]
    fn broken_files_are_refused_with_the_place() {
        let cases = [
            ("{", "line 1 column 1"),
            (r#"{"schemaVersion": "1.4", "workflow": {"specification": {"tasks": []}}}"#, "is WfFormat 1.4"),
            (r#"{"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [{"id": 7}]}}}"#, "tasks[0].id"),
        ];
        for (text, place) in cases {
            let said = refusal(text);
            assert!(said.contains(place), "{said}");
        }
        let cases = [
            ("[]", "has no tasks"),
            (r#"[{"id": "x"}, {"id": "x"}]"#, "tasks 0 and 1 have the same id `x`"),
            (r#"[{"id": "x", "parents": ["y"]}]"#, "task `x` has the parent `y`, but there is no such task"),
            (r#"[{"id": "x"}, {"id": "y", "parents": ["x", "x"]}]"#, "task `y` has the parent `x` twice"),
            (r#"[{"id": "x", "parents": ["x"]}]"#, "has a cycle: `x` -> `x`"),
            (
                r#"[{"id": "z", "parents": ["a"]}, {"id": "a", "parents": ["b"]}, {"id": "b", "parents": ["a"]}]"#,
                "has a cycle: `a` -> `b` -> `a` (each waits for the next)",
            ),
        ];
        for (tasks, place) in cases {
            let said = refusal(&file(tasks));
            assert!(said.contains(place), "{said}");
        }
    }
}
