//! Definitions that are accepted, and each mistake by itself.

use serde_json::json;

use super::*;
use crate::{
    definition::{Mode, QueueMode},
    draft::{FlowDraft, StepDraft},
};

fn flow(steps: impl IntoIterator<Item = StepDraft>) -> FlowDraft {
    FlowDraft { steps: steps.into_iter().collect(), ..FlowDraft::new("shop") }
}

fn needing(slug: &str, needs: &[&str]) -> StepDraft {
    StepDraft { needs: needs.iter().map(|slug| (*slug).to_owned()).collect(), ..StepDraft::single(slug) }
}

#[track_caller]
fn refused(draft: FlowDraft) -> Vec<String> {
    let errors = draft.assemble().expect_err("the flow has mistakes");
    errors.mistakes().iter().map(ToString::to_string).collect()
}

// D1
#[test]
fn a_definition_without_options_has_the_defaults() {
    let definition = flow([StepDraft::single("a")]).assemble().expect("legal");
    let options = &definition.options;
    assert_eq!((options.max_attempts, options.base_delay_ms), (3, 1_000));
    assert_eq!((options.max_delay_ms, options.timeout_ms), (300_000, 60_000));
    assert_eq!(options.steps[0].start_delay_ms, None);
}

// D4
#[test]
fn a_flow_without_steps_is_refused() {
    assert_eq!(refused(flow([])), ["the flow has no step; declare at least one"]);
}

// D8
#[test]
fn slugs_equal_ignoring_case_are_refused() {
    let mistakes = refused(flow([StepDraft::single("ship"), StepDraft::single("Ship")]));
    assert_eq!(mistakes, ["step slugs `ship` and `Ship` are equal ignoring case; give one of them another"]);
}

// D9
#[test]
fn dependencies_that_name_no_step_are_refused() {
    let after = StepDraft { after: vec!["paid".into()], ..StepDraft::single("c") };
    let mistakes = refused(flow([needing("reserve", &["x"]), StepDraft::map("pick", "resreve"), after]));
    let expected = [
        "step `reserve` needs `x`, but this flow has no such step",
        "step `pick` maps over `resreve`, but this flow has no such step; did you mean `reserve`?",
        "step `c` comes after `paid`, but this flow has no such step",
    ];
    assert_eq!(mistakes, expected);
}

// D10
#[test]
fn cycles_are_refused_with_their_steps() {
    let itself = refused(flow([needing("a", &["a"])]));
    assert_eq!(itself, ["step `a` depends on itself; `a -> b` reads: `a` needs `b`"]);
    let closing = StepDraft { after: vec!["b".into()], ..StepDraft::single("a") };
    let two = refused(flow([closing, needing("b", &["a"])]));
    assert_eq!(two, ["dependency cycle: a -> b -> a; `a -> b` reads: `a` needs `b`"]);
}

// D11
#[test]
fn a_dependency_given_twice_is_refused() {
    let both = StepDraft { after: vec!["a".into()], ..needing("b", &["a"]) };
    let source = StepDraft { needs: vec!["a".into()], ..StepDraft::map("c", "a") };
    let mistakes = refused(flow([StepDraft::single("a"), both, source]));
    let text = |step: &str| format!("step `{step}` depends on `a` twice; name it once");
    assert_eq!(mistakes, [text("b"), text("c")]);
}

// D12, D13
#[test]
fn steps_and_dependencies_stand_in_step_order() {
    let steps = [needing("d", &["c", "b"]), needing("c", &["a"]), StepDraft::single("a"), StepDraft::single("b")];
    let definition = flow(steps).assemble().expect("legal");
    let slugs: Vec<&str> = definition.shape.steps.iter().map(|step| &*step.slug).collect();
    assert_eq!(slugs, ["a", "c", "b", "d"]);
    assert_eq!(definition.shape.steps[3].needs, ["c", "b"]);
}

// D14
#[test]
fn kind_and_source_agree() {
    let map = StepDraft { over: None, ..StepDraft::map("a", "input") };
    let single = StepDraft { over: Some("input".into()), ..StepDraft::single("b") };
    let expected = [
        "map `a` has no source; say what it runs over",
        "step `b` runs over `input` but is no map; make it a map or drop the source",
    ];
    assert_eq!(refused(flow([map, single])), expected);
}

// D14
#[test]
fn a_kind_is_one_of_two() {
    let definition = flow([StepDraft::single("a")]).assemble().expect("legal");
    let text = serde_json::to_string(&definition).expect("writes");
    let other = text.replace("\"kind\":\"single\"", "\"kind\":\"many\"");
    assert_ne!(other, text);
    let error = serde_json::from_str::<FlowDefinition>(&other).expect_err("no kind");
    assert!(error.to_string().contains("expected `single` or `map`"), "{error}");
}

// D10
#[test]
fn longer_cycles_and_those_closed_by_after_are_refused() {
    let after = |slug: &str, first: &str| StepDraft { after: vec![first.into()], ..StepDraft::single(slug) };
    let five =
        [needing("a", &["e"]), needing("b", &["a"]), needing("c", &["b"]), needing("d", &["c"]), after("e", "d")];
    let text = "dependency cycle: a -> e -> d -> c -> b -> a; `a -> b` reads: `a` needs `b`";
    assert_eq!(refused(flow(five)), [text]);
    let itself = "step `a` depends on itself; `a -> b` reads: `a` needs `b`";
    assert_eq!(refused(flow([after("a", "a")])), [itself]);
}

// D16
#[test]
fn a_condition_with_a_nul_is_refused() {
    let step = StepDraft { run_unless: Some(json!({"a": ["\0"]})), ..StepDraft::single("a") };
    let text = "run_unless of step `a` holds the character U+0000, which no stored text can contain";
    assert_eq!(refused(flow([step])), [text]);
}

// D18
#[test]
fn modes_are_three_words() {
    for (word, mode) in [("skip", Mode::Skip), ("skip_cascade", Mode::SkipCascade), ("fail", Mode::Fail)] {
        assert_eq!(serde_json::from_value::<Mode>(json!(word)).expect("a mode"), mode);
        assert_eq!((mode.as_str(), mode.to_string().as_str(), Mode::from_name(word)), (word, word, Some(mode)));
    }
    assert!(serde_json::from_value::<Mode>(json!("skipped")).is_err());
}

// D15
#[test]
fn a_map_may_have_further_dependencies() {
    let map = StepDraft { needs: vec!["b".into(), "c".into()], after: vec!["d".into()], ..StepDraft::map("e", "a") };
    let singles = ["a", "b", "c", "d"].map(StepDraft::single);
    let over_input = StepDraft::map("f", "input");
    assert!(flow(singles.into_iter().chain([map, over_input])).assemble().is_ok());
}

// D16, D18
#[test]
fn conditions_are_kept_and_have_a_mode() {
    let pattern = json!({"b": [1, null, {"d": {}, "c": "x"}], "a": null});
    let step = StepDraft { run_if: Some(pattern.clone()), run_unless: Some(json!(null)), ..StepDraft::single("a") };
    let definition = flow([step]).assemble().expect("legal");
    let text = serde_json::to_string(&definition).expect("serialises");
    let read: FlowDefinition = serde_json::from_str(&text).expect("reads back");
    assert_eq!(read, definition);
    let step = &read.shape.steps[0];
    assert_eq!((&step.run_if, &step.run_unless), (&Some(pattern), &Some(json!(null))));
    assert_eq!((step.when_unmet, step.when_exhausted), (Some(Mode::Skip), Mode::Fail));
}

// D17
#[test]
fn a_dependents_condition_names_its_dependencies() {
    let on = |slug: &str, pattern| StepDraft { run_if: Some(pattern), ..needing(slug, &["a"]) };
    let steps = [StepDraft::single("a"), on("b", json!(true)), on("c", json!({"a": 1, "d": 2}))];
    let expected = [
        "run_if of step `b` is no object; the step has dependencies, so its keys are their slugs",
        "run_if of step `c` has the key `d`, which is no dependency of it",
    ];
    assert_eq!(refused(flow(steps)), expected);
}

// D3, D19
#[test]
fn every_mistake_is_reported_at_once() {
    let mut draft = flow([needing("a", &["z"]), StepDraft::single("input")]);
    draft.slug = "my-shop".into();
    draft.options.max_attempts = 0;
    draft.steps[0].when_unmet = Some(Mode::Fail);
    draft.steps[1].options.max_delay_ms = Some(500);
    let expected = [
        "flow slug `my-shop` contains `-`; a slug has ASCII letters, digits and single `_` only",
        "step slug `input` is reserved; `run`, `input`, `item`, `ctx` and `deps` cannot name a step",
        "step `a` needs `z`, but this flow has no such step",
        "step `a` has when_unmet but no condition; add run_if or run_unless, or drop when_unmet",
        "flow `my-shop`: max_attempts of 0 is out of range; it is 1 to 1000",
        "step `input`: max_delay of 500ms is below the base_delay of 1s; raise max_delay or lower base_delay",
    ];
    assert_eq!(refused(draft), expected);
}

#[test]
fn a_step_queue_that_fits_neither_way_is_refused() {
    let mut draft = flow([StepDraft::single("a")]);
    draft.slug = "f".repeat(46);
    draft.queue_mode = QueueMode::StepQueues;
    assert_eq!(refused(draft).len(), 1);
}

// D19
#[test]
fn the_text_of_all_mistakes_names_the_flow_and_how_many_there_are() {
    let one = flow([needing("a", &["z"])]).assemble().expect_err("a mistake");
    assert_eq!((one.flow(), one.mistakes().len()), ("shop", 1));
    assert_eq!(one.to_string(), "flow `shop` has 1 mistake:\n- step `a` needs `z`, but this flow has no such step");
    let two = flow([needing("a", &["y", "z"])]).assemble().expect_err("mistakes").to_string();
    assert!(two.starts_with("flow `shop` has 2 mistakes:\n- "), "{two}");
}

/// The mistakes of a definition that was legal before `spoil`.
fn spoilt(steps: impl IntoIterator<Item = StepDraft>, spoil: impl FnOnce(&mut FlowDefinition)) -> Vec<String> {
    let mut definition = flow(steps).assemble().expect("legal");
    spoil(&mut definition);
    let errors = definition.validate().err();
    errors.iter().flat_map(|errors| errors.mistakes()).map(ToString::to_string).collect()
}

// D12
#[test]
fn a_definition_out_of_step_order_is_refused() {
    let steps = || [StepDraft::single("a"), needing("b", &["a"])];
    let swapped = spoilt(steps(), |definition| definition.shape.steps.swap(0, 1));
    assert_eq!(swapped, ["step `b` stands before `a`, which it depends on; steps are listed in step order"]);
    assert_eq!(spoilt(steps(), |_| {}), [""; 0]);

    let last = || StepDraft { after: vec!["c".into(), "d".into()], ..needing("e", &["a", "b"]) };
    let five = || ["a", "b", "c", "d"].map(StepDraft::single).into_iter().chain([last()]);
    let text = "step `e` lists its dependencies out of step order";
    assert_eq!(spoilt(five(), |definition| definition.shape.steps[4].needs.reverse()), [text]);
    assert_eq!(spoilt(five(), |definition| definition.shape.steps[4].after.reverse()), [text]);
}

// D18
#[test]
fn a_condition_has_a_mode_for_when_it_is_not_met() {
    let guarded = StepDraft { run_if: Some(json!(1)), ..StepDraft::single("a") };
    let without = spoilt([guarded], |definition| definition.shape.steps[0].when_unmet = None);
    assert_eq!(without, ["step `a` has a condition but no when_unmet"]);
}

// D3
#[test]
fn a_steps_own_options_have_bounds_and_delays_may_be_equal() {
    let step = |spoil: fn(&mut StepDraft)| {
        let mut step = StepDraft::single("a");
        spoil(&mut step);
        refused(flow([step]))
    };
    let attempts = step(|step| step.options.max_attempts = Some(0));
    assert_eq!(attempts, ["step `a`: max_attempts of 0 is out of range; it is 1 to 1000"]);
    let timeout = step(|step| step.options.timeout_ms = Some(0));
    assert_eq!(timeout, ["step `a`: timeout of 0s is out of range; it is 1ms to 1d"]);

    let mut equal = flow([StepDraft::single("a")]);
    (equal.options.base_delay_ms, equal.options.max_delay_ms) = (5_000, 5_000);
    equal.steps[0].options.max_delay_ms = Some(5_000);
    assert!(equal.assemble().is_ok());
}

#[test]
fn a_route_names_a_legal_queue_and_only_routed_flows_have_one() {
    let routed = |mode: QueueMode, queue: Option<&str>| {
        let step = StepDraft { queue: queue.map(str::to_owned), ..StepDraft::single("a") };
        let draft = FlowDraft { queue_mode: mode, ..flow([step]) };
        draft.assemble().err().map(|errors| errors.mistakes()[0].to_string())
    };
    assert_eq!(routed(QueueMode::Routed, Some("stock")), None);
    let text = "step `a` is routed to `Stock`, which is no queue name: it is 1 to 47 of a-z, 0-9 and `_`";
    assert_eq!(routed(QueueMode::Routed, Some("Stock")).as_deref(), Some(text));
    let text = "step `a` has no route; every step of a routed flow names its queue";
    assert_eq!(routed(QueueMode::Routed, None).as_deref(), Some(text));
    let text = "step `a` names the queue `stock`, but the flow is not routed";
    assert_eq!(routed(QueueMode::Plain, Some("stock")).as_deref(), Some(text));
}
