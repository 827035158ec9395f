//! The plans of the statements behind every call of a worker and a client: the same whatever the tables hold.

use std::collections::BTreeSet;

use flow_tests::support::{Claim, Engine, Graph, PlanWatch, Plans, complete_each};
use serde_json::{Value, json};

/// Steps of every kind: a map over the input, one over a step, a condition that is met and one that is not, a cascade.
fn shop() -> Graph {
    Graph::new("shop")
        .map("each", "input", &[])
        .single("list", &["each"])
        .map("every", "list", &["each"])
        .single("met", &["list"])
        .with("run_if", json!({ "list": [1] }))
        .single("unmet", &["list"])
        .with("run_if", json!({ "list": [7] }))
        .single("behind", &["unmet"])
        .single("flaky", &["met"])
        .with("when_exhausted", "skip_cascade")
        .step_option("max_attempts", 2)
        .single("last", &["flaky"])
        .single("end", &["every", "behind"])
}

/// One whose failure ends the run while others are at work.
fn strict() -> Graph {
    Graph::new("strict").single("left", &[]).single("right", &[])
}

/// One whose exchanges take the usual way.
fn plain() -> Graph {
    Graph::new("plain").single("one", &[]).single("two", &["one"]).single("wide", &["one"])
}

/// A database with the flows and a connection that tells its plans.
struct Watched {
    engine: Engine,
    watch: PlanWatch,
    shop: i64,
}

impl Watched {
    /// On tables with this past.
    async fn after(past: &[Past]) -> Self {
        let engine = Engine::with_connections(1).await;
        engine.deploy(&shop()).await;
        engine.deploy(&strict()).await;
        engine.deploy(&plain()).await;
        for part in past {
            part.make(&engine).await;
        }
        let shop = engine.worker(&shop()).await.id;
        Self { watch: PlanWatch::begin(engine.pool()).await, engine, shop }
    }

    /// The plans of every call that workers and clients make under load, with everything that may follow from it.
    async fn plans(&self) -> Plans {
        let Self { engine, watch, shop } = self;
        let shop = engine.hand(*shop);
        start(engine, "shop").await;
        let held = shop.claim(2).await;
        shop.heartbeat(&held).await;
        // A lease ends and its work is taken over; a reply is lost and answered again.
        watch.beside(engine.expire_leases()).await;
        engine.recover().await;
        watch.beside(engine.go_on()).await;
        let taken = shop.claim(100).await;
        assert!(taken.len() == 5 && taken.iter().all(|claim| claim.attempt == 1), "{taken:?}");
        shop.repeat(0, &[]).await;
        // One suspect was lost beside others, so it must be alone; the rest are suspects too.
        watch.beside(engine.expire_leases()).await;
        engine.recover().await;
        watch.beside(engine.go_on()).await;
        let alone = shop.claim(100).await;
        assert_eq!(alone.len(), 1, "{alone:?}");
        assert_eq!(shop.claim(100).await, []);
        shop.settle(&complete_each(&alone, output)).await;
        let released = shop.claim(1).await;
        shop.release(&released).await;
        watch.beside(engine.run_sql("update flow.worker set draining_at = null")).await;
        shop.settle(&complete_each(&held, output)).await;
        shop.settle(&complete_each(&taken, output)).await;
        shop.settle(&complete_each(&taken, output)).await;
        let flaky = 6;
        loop {
            let claims = shop.claim(100).await;
            if claims.is_empty() {
                break;
            }
            let ends = claims.iter().map(|c| if c.step == flaky { c.fail("no") } else { c.complete(output(c)) });
            shop.settle(&ends.collect::<Vec<_>>()).await;
            watch.beside(engine.pass_time()).await;
        }

        start(engine, "strict").await;
        let leaver = watch.beside(engine.worker(&strict())).await;
        let mut claims = leaver.claim(6).await;
        claims.sort_by_key(|claim| (claim.run, claim.step));
        leaver.settle(&[claims[0].fail_for_good("no"), claims[2].complete(1)]).await;
        engine.cancel(claims[4].run).await;
        leaver.release(&claims).await;
        let rest = watch.beside(engine.worker(&strict())).await;
        rest.complete_all(output).await;

        // The usual exchange: several results, a single one, and reads from a mark.
        start(engine, "plain").await;
        let usual = watch.beside(engine.worker(&plain())).await;
        let first = usual.exchange(2, &[]).await;
        let second = usual.exchange_from(&first.read, 1, &complete_each(&first.claims, output)).await;
        let third = usual.exchange(1, &complete_each(&second.claims, output)).await;
        let fourth = usual.exchange(2, &complete_each(&third.claims, output)).await;
        usual.settle(&complete_each(&fourth.claims, output)).await;
        usual.complete_all(output).await;
        watch.take()
    }
}

async fn start(engine: &Engine, slug: &str) {
    let starts = "select flow.start_runs($1, array_fill('[1, 2]'::text, array[3]))";
    sqlx::query(starts).bind(slug).execute(engine.pool()).await.unwrap();
}

fn output(claim: &Claim) -> Value {
    let list = 1;
    if claim.step == list { json!([1, 2]) } else { json!(1) }
}

/// How many ended runs make large tables: with two tasks in each of nine steps, more than 200,000 tasks.
const MANY: i32 = 12_000;

/// What happened to the tables before.
#[derive(Debug, Clone, Copy)]
enum Past {
    Runs(i32),
    Analyse,
}

impl Past {
    async fn make(self, engine: &Engine) {
        let analyse =
            "analyze flow.run, flow.step_state, flow.task, flow.attempt_error, flow.message, flow.delayed, flow.hand";
        match self {
            Self::Runs(count) => engine.insert_history("shop", count, 2).await,
            Self::Analyse => engine.run_sql(analyse).await,
        }
    }
}

/// Every statement whose plans are others than on new tables, with both.
fn changes(new: &Plans, other: &Plans, state: &str) -> String {
    let statements: BTreeSet<_> = new.keys().chain(other.keys()).collect();
    let plans = |of: &Plans, statement| match of.get(statement) {
        Some(plans) => plans.iter().cloned().collect::<Vec<_>>().join("\n\n"),
        None => "(not run)".to_owned(),
    };
    let changed = statements.into_iter().filter(|statement| new.get(*statement) != other.get(*statement));
    let both = |s| format!("{s}\n\non new tables:\n{}\n\non {state}:\n{}\n\n", plans(new, s), plans(other, s));
    changed.map(both).collect()
}

/// The tables that grow.
const GROWING: [&str; 7] = ["run", "step_state", "task", "attempt_error", "message", "delayed", "piece"];

/// Whether a node of a plan reads a table that grows by anything but a look-up in its recorded index, or by row id.
fn is_scan(node: &str) -> bool {
    let words: Vec<&str> = node.split_whitespace().collect();
    let follows = |before: &str, word: &str| words.windows(2).any(|pair| pair == [before, word]);
    let is_looked_up = |table: &&str| {
        let recorded = [format!("{table}_pkey"), format!("{table}_due")];
        recorded.iter().any(|index| follows("using", index)) && node.contains(" by (")
    };
    let Some(table) = GROWING.iter().find(|table| follows("on", table)) else { return false };
    !node.contains("ModifyTable") && !node.contains("Tid Scan") && !is_looked_up(table)
}

// B13
#[tokio::test]
async fn no_past_of_the_tables_changes_a_plan() {
    let new = Watched::after(&[]).await.plans().await;
    let scans: Vec<_> = new.values().flatten().flat_map(|plan| plan.lines()).filter(|node| is_scan(node)).collect();
    assert!(scans.is_empty(), "a table that grows is scanned: {scans:#?}");
    let mut changed = String::new();
    for (state, past) in [
        ("tables analysed while empty", vec![Past::Analyse]),
        ("small tables", vec![Past::Runs(50), Past::Analyse]),
        ("large tables without statistics", vec![Past::Runs(MANY)]),
        ("large tables with fresh statistics", vec![Past::Runs(MANY), Past::Analyse]),
        ("large tables with stale statistics", vec![Past::Analyse, Past::Runs(MANY)]),
    ] {
        changed += &changes(&new, &Watched::after(&past).await.plans().await, state);
    }
    assert!(changed.is_empty(), "plans have changed:\n\n{changed}");
    println!("{} statements, each with the same plan in every state", new.len());
}

// B13
#[tokio::test]
async fn a_connection_that_planned_early_keeps_the_plans_of_new_tables() {
    let new = Watched::after(&[]).await.plans().await;
    let early = Watched::after(&[Past::Analyse]).await;
    let mut changed = changes(&new, &early.plans().await, "tables analysed while empty");
    early.watch.beside(Past::Runs(MANY).make(&early.engine)).await;
    changed += &changes(&new, &early.plans().await, "tables that have grown since");
    assert!(changed.is_empty(), "plans have changed:\n\n{changed}");
}
