//! The trait that `#[flow]` implements: everything about a flow except its handlers.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::{
    definition::FlowDefinition, graph::FlowGraph, step::StepEnum, validate::DefinitionErrors, value::FlowValue,
};

/// A flow as the compiler knows it: its types, its slug and its definition. Implemented by `#[flow]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no flow",
    label = "expected a type whose handlers stand under `#[flow(…)]`"
)]
pub trait Flow: 'static {
    /// The run's input.
    type Input: FlowValue;
    /// The outputs of the leaf steps, one field each.
    type Output: DeserializeOwned;
    /// The steps, in step order.
    type Step: StepEnum;
    /// The slug under which the database knows this flow.
    const SLUG: &'static str;
    /// The steps' slugs, in step order, for constants such as the names of queues.
    #[doc(hidden)]
    const STEP_SLUGS: &'static [&'static str];

    /// The version of the crate that contains the flow, where known. Of two builds, the one with the lower version is older.
    #[doc(hidden)]
    const VERSION: Option<&'static str> = None;

    /// The ordered structural definition that a worker sends to the database.
    fn definition() -> FlowDefinition;

    /// Checks the flow by every rule that needs no database, including conditions against the types that they test.
    ///
    /// Call this in a test: `Checkout::check().unwrap()`. A worker makes the same checks before it connects.
    ///
    /// # Errors
    fn check() -> Result<(), DefinitionErrors> {
        Self::definition().check()
    }

    /// Returns the flow's graph, to be drawn in Mermaid or DOT.
    fn graph() -> FlowGraph {
        Self::definition().graph()
    }
}

impl<F: Flow> Flow for Arc<F> {
    type Input = F::Input;
    type Output = F::Output;
    type Step = F::Step;
    const SLUG: &'static str = F::SLUG;
    const STEP_SLUGS: &'static [&'static str] = F::STEP_SLUGS;
    const VERSION: Option<&'static str> = F::VERSION;

    fn definition() -> FlowDefinition {
        F::definition()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        builder::{FlowBuilder, StepBuilder},
        step::tests::Two,
    };

    struct Shop;

    impl Flow for Shop {
        type Input = bool;
        type Output = ();
        type Step = Two;
        const SLUG: &'static str = "shop";
        const STEP_SLUGS: &'static [&'static str] = &["reserve", "ship"];

        fn definition() -> FlowDefinition {
            let mut definition = FlowBuilder::new("shop")
                .input::<bool>()
                .step(StepBuilder::single("reserve").run_if(json!(true)))
                .step(StepBuilder::single("ship"))
                .build()
                .expect("legal");
            definition.shape.steps[0].run_if = Some(json!("no bool"));
            definition
        }
    }

    // D24
    #[test]
    fn a_check_finds_what_the_types_rule_out_also_behind_an_arc() {
        for errors in [Shop::check(), <Arc<Shop>>::check()] {
            let text = errors.expect_err("a text is no bool").to_string();
            assert!(text.starts_with("flow `shop` has 1 mistake:\n- run_if of step `reserve`"), "{text}");
        }
        assert_eq!(Shop::graph().mermaid(), <Arc<Shop>>::graph().mermaid());
    }
}
