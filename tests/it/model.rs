//! Random histories: the engine and a small machine in plain Rust come to the same, and every invariant holds throughout.

use std::sync::atomic::{AtomicUsize, Ordering};

use flow_tests::{
    model::{Driver, any_history},
    support::Engine,
};
use proptest::test_runner::{Config, FileFailurePersistence, TestCaseError, TestRunner};

/// How many histories are played, unless `FLOW_MODEL_HISTORIES` says otherwise.
const HISTORIES: u32 = 24;

fn histories() -> u32 {
    std::env::var("FLOW_MODEL_HISTORIES").ok().and_then(|count| count.parse().ok()).unwrap_or(HISTORIES)
}

// I1 I2 I3 I4 I5 I6 I7 I8 I9 I10 I11 I12 I13 I14 I15
#[test]
fn the_engine_and_the_model_agree_on_every_history() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let engine = runtime.block_on(async {
        let engine = Engine::new().await;
        engine.make_broken_rows().await;
        engine.run_sql(include_str!("../sql/watch_moves.sql")).await;
        engine.run_sql(include_str!("../sql/watch_hands.sql")).await;
        engine
    });
    let config = Config {
        cases: histories(),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("it/model.regressions"))),
        ..Config::default()
    };
    let played = AtomicUsize::new(0);
    let outcome = TestRunner::new(config).run(&any_history(), |history| {
        let slug = format!("model{}", played.fetch_add(1, Ordering::Relaxed));
        runtime.block_on(async {
            let mut driver = Driver::new(&engine, &slug, &history.flow).await;
            driver.play(&history).await.map_err(TestCaseError::fail)?;
            let moves = engine
                .words("select distinct concat_ws(' ', m.kind, m.before, m.after, ';') from flow.illegal_move m")
                .await;
            let holds = engine.words("select concat(b.what, ';') from test.broken_hold b").await;
            if moves.is_empty() && holds.is_empty() { Ok(()) } else { Err(TestCaseError::fail(moves + &holds)) }
        })
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
