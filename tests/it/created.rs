//! What a deployment makes of a flow that is new, what it says of one like it, and what it makes of mistakes: nothing.

use flow_runtime::{FlowBuilder, JsonFlow, JsonHandler, StepBuilder, definition::FlowDefinition, prelude::*};
use flow_tests::support::{Engine, Graph, Log};
use serde_json::{Value, json};

use crate::deploy::{ROWS, in_production, production, shop};

// P1
#[tokio::test]
async fn a_new_flow_with_step_queues_has_every_queue_in_pgmq_and_is_stored_whole() {
    let engine = production(Engine::of_pgmq().await).await;
    let other = Graph::new("Other").single("a", &[]);
    engine.deploy(&other).await;
    let definition = shop().step_queues().option("max_attempts", 4).definition();
    assert_eq!(engine.try_deploy(&definition).await.unwrap(), json!({"result": "created"}));
    let queues = "other shop__pick shop__reserve shop__ship";
    assert_eq!(engine.words("select q.name from flow.queue q order by 1").await, queues);
    assert_eq!(engine.words("select m.queue_name from pgmq.meta m order by 1").await, queues);
    let tables =
        "select substr(t.tablename, 3) from pg_tables t where t.schemaname = 'pgmq' and t.tablename ~ '^q_' order by 1";
    assert_eq!(engine.words(tables).await, queues);
    let of_steps =
        "select concat_ws(':', s.step_index, s.slug, q.name) from flow.step s join flow.queue q using (queue_id)
                    join flow.flow f on f.flow_id = s.flow_id where f.slug = 'Shop' order by s.step_index";
    assert_eq!(engine.words(of_steps).await, "0:reserve:shop__reserve 1:pick:shop__pick 2:Ship:shop__ship");
    let stored = "select jsonb_build_object('shape', flow.stored_shape(f.flow_id), 'notes', f.notes, 'contract',
                     (select jsonb_build_object('input', jsonb_agg(c.schema) filter (where c.step_index = -1) -> 0,
                                                'outputs', jsonb_agg(c.schema order by c.step_index) filter (where c.step_index >= 0))
                      from flow.contract c where c.flow_id = f.flow_id))
                  from flow.flow f where f.slug = 'Shop'";
    let expected = json!({
        "shape": definition["shape"], "notes": definition["notes"], "contract": {"input": true, "outputs": [true, true, true]},
    });
    assert_eq!(engine.value::<Value>(stored).await, expected);
    let attempts =
        "select s.max_attempts::text from flow.step s join flow.flow f using (flow_id) where f.slug = 'Shop'";
    assert_eq!(engine.words(attempts).await, "4 4 4");

    let again = "select jsonb_build_array(flow.deploy($1), pg_current_xact_id_if_assigned())";
    let again: Value = sqlx::query_scalar(again).bind(&definition).fetch_one(engine.pool()).await.unwrap();
    assert_eq!(again, json!([{"result": "verified"}, null]), "verifying wrote nothing, or it had a transaction's id");
}

/// A flow built at run time whose handlers do nothing.
fn idle(graph: FlowBuilder) -> JsonFlow {
    JsonFlow::builder(graph).other_steps(JsonHandler::new(async |_| Ok(Value::Null))).build().unwrap()
}

// P1
#[tokio::test]
async fn the_log_asks_whether_a_flow_of_the_same_shape_was_renamed() {
    let engine = in_production().await;
    let db = Db::new(engine.url()).unwrap();
    let (log, _guard) = Log::begin();
    let deploy = async |slug: &str, steps: &[&str]| {
        let flow = idle(FlowBuilder::new(slug).steps(steps.iter().map(|step| StepBuilder::single(*step))));
        Worker::builder(&db).json(flow).build().unwrap().start().await.unwrap().shutdown().await.unwrap();
    };
    deploy("fulfil_order", &["a", "b"]).await;
    deploy("another", &["a", "c"]).await;
    assert_eq!(log.lines_with("renamed").len(), 0, "no flow has another's shape");
    for _ in 0..2 {
        deploy("fulfil_orders", &["a", "b"]).await;
    }
    let lines = log.lines_with("renamed");
    assert_eq!(lines.len(), 1, "only the creation says so: {lines:?}");
    assert!(lines[0].contains("WARN") && lines[0].contains("flow `fulfil_orders`"), "{lines:?}");
    assert!(lines[0].contains("was `fulfil_order` renamed?"), "{lines:?}");
    let results: Vec<_> = log.lines_with("flow deployed").iter().map(|line| line.contains("created")).collect();
    assert_eq!(results, [true, true, true, false]);
}

// D19
#[tokio::test]
async fn five_mistakes_are_told_in_one_refusal_and_nothing_is_written() {
    let engine = in_production().await;
    let rows = engine.words(ROWS).await;
    let broken = Graph::new("bad-slug")
        .single("input", &[])
        .single("a", &["nobody"])
        .step_option("max_attempts", 0)
        .single("b", &[])
        .with("when_unmet", "skip");
    let definition = broken.definition();
    let error = engine.try_deploy(&definition).await.unwrap_err();
    let error = error.as_database_error().unwrap().downcast_ref::<sqlx::postgres::PgDatabaseError>();
    let told: Vec<String> = serde_json::from_str(error.detail().unwrap()).unwrap();
    let words = ["bad-slug", "\"input\"", "\"nobody\"", "max_attempts", "when_unmet"];
    assert_eq!(told.len(), words.len(), "{told:#?}");
    for word in words {
        let about: Vec<_> = told.iter().filter(|mistake| mistake.contains(word)).collect();
        assert_eq!(about.len(), 1, "{word}: {told:#?}");
        assert!(error.message().contains(about[0].as_str()), "{}", error.message());
    }
    assert_eq!((error.code(), engine.words(ROWS).await), ("WF009", rows));
    assert_eq!(engine.value::<i64>("select count(*) from flow.flow").await, 0);

    // A worker is refused with the same mistakes, before it asks the database.
    let typed: FlowDefinition = serde_json::from_value(definition).unwrap();
    assert_eq!(typed.validate().unwrap_err().mistakes().len(), words.len());
}
