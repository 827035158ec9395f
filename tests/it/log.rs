//! What a program says of runs and attempts, line by line.

use std::sync::Arc;

use flow_runtime::prelude::*;
use flow_tests::support::{Log, TestDb, eventually};
use tokio::sync::Semaphore;

/// Fails as often as it is told.
struct Ill {
    open: Arc<Semaphore>,
}

#[flow(input = u32, base_delay = "0s", max_attempts = 3)]
impl Ill {
    #[step]
    async fn act(&self, input: u32, ctx: &StepContext) -> Result<Vec<u32>, StepError> {
        match input {
            7 => panic!("seven"),
            _ if ctx.attempt() <= input => Err(StepError::new("not well")),
            _ => Ok(vec![0; 20]),
        }
    }

    #[map(over = act)]
    async fn wait(&self, item: u32) -> Result<u32, StepError> {
        self.open.acquire().await?.forget();
        Ok(item)
    }

    #[step(max_attempts = 1, when_exhausted = skip)]
    async fn log(&self, act: Vec<u32>) -> Result<usize, StepError> {
        Err(StepError::new(format!("no log of {}", act.len())))
    }
}

// W15
#[tokio::test]
async fn attempts_and_runs_that_fail_are_logged_once_each_with_all_that_names_them() {
    let test = TestDb::new().await;
    let db = Db::new(test.url()).unwrap();
    let (log, _guard) = Log::begin();
    let open = Arc::new(Semaphore::new(0));
    let flow = Ill { open: Arc::clone(&open) };
    let worker = Worker::builder(&db).flow(flow).name("ward-1").concurrency(30).build().unwrap().start().await.unwrap();
    let client = Client::new(&db);

    let started = client.start::<Ill>(&2).await.unwrap();
    let runs = log.lines_with("run started");
    assert!(runs.len() == 1 && runs[0].contains(" INFO ") && runs[0].contains(&started.id().to_string()), "{runs:?}");
    eventually("the map waits", async || started.status().await.unwrap().tasks_known == 22).await;
    let retried = log.lines_with("attempt failed; it is tried again");
    assert_eq!(retried.len(), 2, "{retried:?}");
    for (line, attempt) in retried.iter().zip(["attempt=1", "attempt=2"]) {
        for part in
            [" WARN ", "flow=\"ill\"", "step=\"act\"", attempt, "of=3", "error=\"not well\"", "next_attempt_in=0ns"]
        {
            assert!(line.contains(part), "{line} lacks {part}");
        }
        assert!(line.contains(&started.id().to_string()), "{line}");
        assert!(
            line.contains("queue=\"ill\"") && line.contains("name=\"ward-1\"") && line.contains("worker_id="),
            "{line}"
        );
    }
    eventually("the step is exhausted", async || !log.lines_with("step failed for good").is_empty()).await;
    let skipped = log.lines_with("step failed for good");
    assert!(skipped.len() == 1 && skipped[0].contains("ERROR") && skipped[0].contains("step=\"log\""), "{skipped:?}");
    assert!(skipped[0].contains("no log of 20") && skipped[0].contains("when_exhausted=\"skip\""), "{skipped:?}");

    started.cancel().await.unwrap();
    eventually("the handlers are told", async || !log.lines_with("its handlers are told to stop").is_empty()).await;
    let cancelled = log.lines_with(&started.id().to_string());
    let cancelled: Vec<_> = cancelled.iter().filter(|line| line.contains("told to stop")).collect();
    assert!(cancelled.len() == 1 && cancelled[0].contains("tasks=20"), "{cancelled:?}");

    let failed = client.start::<Ill>(&7).await.unwrap();
    failed.wait().await.err().unwrap();
    // The wait is woken by the commit, which the worker hears of with its reply.
    eventually("the failure is logged", async || !log.lines_with("run failed").is_empty()).await;
    let lines: Vec<_> = log.lines_with("run failed").into_iter().filter(|line| line.contains("ERROR")).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("step=\"act\"") && lines[0].contains("panicked at tests/it/log.rs:"), "{lines:?}");
    assert!(lines[0].contains(&failed.id().to_string()) && lines[0].contains("queue=\"ill\""), "{lines:?}");
    assert!(log.lines_with("step=4").is_empty());
    open.add_permits(100);
    worker.shutdown().await.unwrap();
}
