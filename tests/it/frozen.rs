//! Real processes that are frozen, and thawed when the world has gone on.

use flow_runtime::prelude::*;
use flow_tests::{
    flows::{Watch, Watchful},
    support::{TestDb, eventually},
};

use crate::process;

// L6
#[tokio::test(flavor = "multi_thread")]
async fn a_process_frozen_for_two_leases_tells_its_handler_registers_anew_and_works_on() {
    let test = TestDb::new().await;
    let number = async |query: &'static str| sqlx::query_scalar::<_, i64>(query).fetch_one(test.pool()).await.unwrap();
    let gates = std::env::temp_dir().join(format!("flow-gates-{}", uuid::Uuid::now_v7().simple()));
    std::fs::create_dir(&gates).unwrap();
    let watch = |name: &str| Watch { name: name.to_owned(), gate: gates.join(name).to_string_lossy().into() };
    let open = |name: &str| std::fs::write(gates.join(name), "").unwrap();

    let mut frozen = process::start(&["watchful", test.url(), "1000"]);
    eventually("the flow is deployed", async || number("select count(*) from flow.worker").await == 1).await;
    let (worker, old): (i64, i64) =
        sqlx::query_as("select w.worker_id, w.process_id from flow.worker w").fetch_one(test.pool()).await.unwrap();
    let client = Client::new(&Db::new(test.url()).unwrap());
    let one = client.start::<Watchful>(&watch("one")).await.unwrap();
    frozen.line_with("begins one attempt 1");
    frozen.signal("STOP");
    let mut other = process::start(&["watchful", test.url(), "1000"]);
    other.line_with("begins one attempt 2");
    let is_over = "select count(*) from flow.process p where p.ended_at is not null and p.lease_until + interval '1 s' < clock_timestamp()";
    eventually("two leases have passed", async || number(is_over).await == 1).await;
    frozen.signal("CONT");
    assert_eq!(frozen.line_with("told"), "told one attempt 1");

    let present = "select w.process_id from flow.worker w join flow.process p using (process_id)
                   where w.worker_id = $1 and w.stopped_at is null and p.ended_at is null and p.lease_until > now()";
    let mut anew = None;
    eventually("the worker belongs to a living process", async || {
        anew = sqlx::query_scalar::<_, i64>(present).bind(worker).fetch_optional(test.pool()).await.unwrap();
        anew.is_some()
    })
    .await;
    assert_ne!(anew, Some(old), "under a new number");
    // The only slot of the other process is taken, so this is work for the thawed one.
    let two = client.start::<Watchful>(&watch("two")).await.unwrap();
    assert_eq!(frozen.line_with("begins"), "begins two attempt 1");
    open("two");
    assert_eq!(two.wait().await.unwrap().stand, "attempt 1");
    open("one");
    assert_eq!(one.wait().await.unwrap().stand, "attempt 2", "the new attempt was not disturbed");
    let errors =
        "select string_agg(concat_ws(' ', e.attempt, e.cause, e.worker_id = $1), ', ') from flow.attempt_error e";
    let errors: String = sqlx::query_scalar(errors).bind(worker).fetch_one(test.pool()).await.unwrap();
    assert_eq!(errors, "1 lease_expired t");
    for process in [&mut frozen, &mut other] {
        process.signal("TERM");
        assert!(process.ended().await.0);
        assert_eq!(process.rest(), Vec::<String>::new(), "nobody was told or began beside that");
    }
    std::fs::remove_dir_all(gates).unwrap();
}
