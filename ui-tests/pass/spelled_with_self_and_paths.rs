// T28
use flow_runtime::{StepError, prelude as engine};

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema, Clone)]
struct Tally(u32);

#[engine::flow(input = Self)]
impl Tally {
    #[flow_runtime::step]
    async fn reserve(&self, input: Self) -> Result<Vec<Self>, StepError> {
        Ok(vec![input])
    }

    #[flow_runtime::map(over = reserve)]
    async fn pick(&self, item: Tally) -> Result<Self, StepError> {
        Ok(item)
    }
}

// T28
#[test]
fn self_is_the_type() {
    let output: TallyOutput = serde_json::from_str(r#"{"pick": [3]}"#).expect("reads");
    assert_eq!(output.pick[0].0, 3);
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Tally(1));
}
