//! What the macros accept: one module a feature, compiled together and run.

#[path = "../pass/blocking_handlers.rs"]
mod blocking_handlers;
#[path = "../pass/conditions_of_every_kind.rs"]
mod conditions_of_every_kind;
#[path = "../pass/diamond_behind_a_skippable_step.rs"]
mod diamond_behind_a_skippable_step;
#[path = "../pass/doc_comments_as_notes.rs"]
mod doc_comments_as_notes;
#[path = "../pass/errors_of_every_kind.rs"]
mod errors_of_every_kind;
#[path = "../pass/flow_in_a_function_body.rs"]
mod flow_in_a_function_body;
#[path = "../pass/flow_in_an_arc.rs"]
mod flow_in_an_arc;
#[path = "../pass/flow_made_by_a_macro.rs"]
mod flow_made_by_a_macro;
#[path = "../pass/flows_of_every_visibility.rs"]
mod flows_of_every_visibility;
#[path = "../pass/foreign_types_without_a_schema.rs"]
mod foreign_types_without_a_schema;
#[path = "../pass/generic_flow.rs"]
mod generic_flow;
#[path = "../pass/graph_and_check.rs"]
mod graph_and_check;
#[path = "../pass/longest_and_shortest_slugs.rs"]
mod longest_and_shortest_slugs;
#[path = "../pass/maps_over_every_list.rs"]
mod maps_over_every_list;
#[path = "../pass/methods_in_any_order.rs"]
mod methods_in_any_order;
#[path = "../pass/names_of_the_prelude_taken.rs"]
mod names_of_the_prelude_taken;
#[path = "../pass/names_of_variants_and_keys.rs"]
mod names_of_variants_and_keys;
#[path = "../pass/no_prelude_at_all.rs"]
mod no_prelude_at_all;
#[path = "../pass/options_alone_and_together.rs"]
mod options_alone_and_together;
#[path = "../pass/options_for_what_may_be_skipped.rs"]
mod options_for_what_may_be_skipped;
#[path = "../pass/output_of_the_leaves.rs"]
mod output_of_the_leaves;
#[path = "../pass/parameters_from_steps.rs"]
mod parameters_from_steps;
#[path = "../pass/queues_of_steps.rs"]
mod queues_of_steps;
#[path = "../pass/routes_of_steps.rs"]
mod routes_of_steps;
#[path = "../pass/runtime_under_another_path.rs"]
mod runtime_under_another_path;
#[path = "../pass/several_flows_in_one_module.rs"]
mod several_flows_in_one_module;
#[path = "../pass/spelled_with_self_and_paths.rs"]
mod spelled_with_self_and_paths;
#[path = "../pass/steps_named_like_types.rs"]
mod steps_named_like_types;
#[path = "../pass/the_same_as_built.rs"]
mod the_same_as_built;
#[path = "../pass/unmarked_items_in_the_block.rs"]
mod unmarked_items_in_the_block;

#[path = "support/run.rs"]
mod run;

#[test]
fn every_file_is_part_of_this_program() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/pass");
    let here = include_str!("pass.rs");
    for file in std::fs::read_dir(folder).expect("the folder is there") {
        let name = file.expect("can be read").file_name();
        let name = name.to_string_lossy();
        assert!(here.contains(&format!("\"../pass/{name}\"")), "pass/{name} is not compiled");
    }
}
