//! Guesses what the user meant by a name that is no step's: by habit, by spelling, or by type.

use flow_core::near::near_miss;
use syn::{Type, ext::IdentExt};

use crate::{
    model::{Flow, MapSource, Param, Reference, Step},
    text::{element_of, last_word, type_text},
};

/// Says that `reference` of `step` names no step, with a hint; `param` is the parameter with that name, where it is one.
pub(super) fn describe_unknown(flow: &Flow, step: &Step, reference: &Reference, param: Option<&Param>) -> String {
    let missing = reference.name.unraw().to_string();
    let begin =
        format!("step `{}` depends on `{missing}`, but this flow has no step named `{missing}`", step.method_name());
    let hint = by_name(flow, step, &missing, param)
        .or_else(|| near(flow, step, &missing))
        .or_else(|| by_type(flow, step, &param?.ty));
    hint.map_or_else(|| begin.clone(), |hint| format!("{begin}; {hint}"))
}

/// A hint for a name that is known, though not as the name of a step.
fn by_name(flow: &Flow, step: &Step, missing: &str, param: Option<&Param>) -> Option<String> {
    let bare = missing.trim_start_matches('_');
    if bare != missing && matches!(bare, "input" | "item" | "ctx") {
        return Some(format!("a parameter that is not used is left out, and one that is used is `{bare}`"));
    }
    if bare != missing && flow.steps.iter().any(|other| other.method_name() == bare) {
        return Some(format!("to wait for `{bare}` without its output, use `after({bare})`"));
    }
    if missing == "input" {
        return Some("every step has the input already; leave it out".to_owned());
    }
    if let Some(other) = flow.steps.iter().find(|other| other.slug.value == missing) {
        return Some(format!(
            "that is the slug of `{0}`, and steps are named by their methods: `{0}`",
            other.method_name()
        ));
    }
    if flow.unmarked.iter().any(|method| method.unraw() == missing) {
        return Some(format!("`{missing}` is a method without a marker; mark it with `#[step]`"));
    }
    param.and_then(|_| of_the_context(flow, step, missing))
}

/// The values of the context, with the names under which other engines pass them.
const OF_THE_CONTEXT: [(&[&str], &str, &str); 4] = [
    (&["attempt", "attempts", "attempt_number", "retries", "retry"], "the attempt's number", "ctx.attempt()"),
    (&["job_id", "run", "run_id", "task_id", "workflow_id"], "the run's id", "ctx.run_id()"),
    (&["index", "task_index"], "an element's place", "ctx.task_index()"),
    (&["deadline", "timeout"], "the attempt's deadline", "ctx.deadline()"),
];

/// A hint for a name of a value of the context, unless a step has a similar name.
fn of_the_context(flow: &Flow, step: &Step, missing: &str) -> Option<String> {
    let (_, what, call) = OF_THE_CONTEXT.iter().find(|(names, ..)| names.contains(&missing))?;
    let is_similar = |other: &Step| near_miss(missing, [other.method_name().as_str()]).is_some();
    if flow.steps.iter().any(|other| other.method != step.method && is_similar(other)) {
        return None;
    }
    Some(format!("{what} is `{call}`, with the parameter `ctx: &StepContext`"))
}

/// A hint by the parameter's type, where only one step, the input or the element has that type.
fn by_type(flow: &Flow, step: &Step, ty: &Type) -> Option<String> {
    let text = type_text(ty);
    if let Some(word) = shared_word(ty) {
        return Some(format!(
            "what handlers need, such as this `{word}`, is a field of the flow, reached through `self`"
        ));
    }
    let is_element = element(flow, step).is_some_and(|element| element == text);
    let is_input = flow.input.as_ref().is_some_and(|input| type_text(input) == text);
    let takes_input = step.takes_input();
    let returning: Vec<String> = flow
        .steps
        .iter()
        .filter(|other| other.method != step.method && other.written_output().is_some_and(|output| output == text))
        .map(Step::method_name)
        .collect();
    if is_element {
        return Some("the element of a map is the parameter `item`; name it `item`".to_owned());
    }
    match (is_input && !takes_input, &returning[..]) {
        (true, []) => Some("the run's input is the parameter `input`; name it `input`".to_owned()),
        (false, [one]) => Some(format!("step `{one}` returns `{text}`; name it `{one}`")),
        _ => None,
    }
}

/// The type of the elements over which a map runs, where the type is written out.
fn element(flow: &Flow, step: &Step) -> Option<String> {
    match step.source.as_ref()? {
        MapSource::Input(_) => element_of(flow.input.as_ref()?).map(|element| type_text(&element)),
        MapSource::Step(reference) => {
            let source = &flow.steps[reference.target?];
            let output = source.output()?;
            Some(if source.is_map { type_text(output) } else { type_text(&element_of(output)?) })
        }
    }
}

/// The last word of a type that programs share and that JSON cannot carry, such as `PgPool`.
fn shared_word(ty: &Type) -> Option<String> {
    const SHARED: [&str; 16] = [
        "Arc",
        "Client",
        "Connection",
        "Data",
        "Db",
        "Extension",
        "Mutex",
        "MySqlPool",
        "PgConnection",
        "PgPool",
        "Pool",
        "Rc",
        "RwLock",
        "Sender",
        "SqlitePool",
        "State",
    ];
    let inner = if let Type::Reference(reference) = ty { &*reference.elem } else { ty };
    last_word(inner).filter(|word| SHARED.contains(&word.as_str()))
}

/// A hint by the spelling of the name.
fn near(flow: &Flow, step: &Step, missing: &str) -> Option<String> {
    let names: Vec<String> = flow.steps.iter().map(Step::method_name).collect();
    let others = names.iter().map(String::as_str).filter(|name| *name != step.method_name());
    near_miss(missing, others.chain(["input", "ctx", "item"])).map(|near| format!("did you mean `{near}`?"))
}
