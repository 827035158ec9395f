// T21
#![allow(dead_code, non_camel_case_types, reason = "the names are there to be in the way")]

use flow_runtime::{StepContext, StepError, flow};

type Done<T> = std::result::Result<T, StepError>;
mod done {
    pub(super) type Result<T> = super::Done<T>;
}

struct Result;
struct Option;
struct Vec;
struct String;
struct Box;
struct Some;
struct None;
struct Ok;
struct Err;
struct Arc;
struct Step;
struct Flow;
struct u8;
struct str;
struct bool;
struct usize;
trait Iterator {}
trait Clone {}
trait Send {}
trait Sync {}
trait Into {}
trait From {}
mod core {}
mod std_too {}
mod serde {}
mod schemars {}
mod serde_json {}
struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step(when_exhausted = skip)]
    async fn output(&self, input: u32) -> done::Result<i64> {
        Done::Ok(input.into())
    }

    #[map(over = list)]
    async fn pick(&self, item: i64, output: std::option::Option<i64>, ctx: &StepContext) -> done::Result<i64> {
        Done::Ok(item + output.unwrap_or_default() + i64::from(ctx.attempt()))
    }

    #[step]
    async fn list(&self) -> done::Result<std::vec::Vec<i64>> {
        Done::Ok(vec![1])
    }
}

flow_runtime::with_step_queues!(ShopQueues for Shop);
flow_runtime::route_flow!(ShopRoutes for Shop { Output => "a", Pick => "b", List => "a" });

// T21
#[test]
fn a_flow_compiles_among_them() {
    assert_eq!(ShopStep::Output.as_str(), "output");
    assert_eq!(<ShopRoutes as flow_runtime::Routed>::QUEUES, ["a", "a", "b"]);
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
