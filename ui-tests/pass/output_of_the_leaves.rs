// T17
use flow_runtime::prelude::*;

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn first(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step(slug = "Plain")]
    async fn plain(&self, first: u32) -> Result<Option<u32>, StepError> {
        Ok(Some(first))
    }

    #[step(when_exhausted = skip)]
    async fn skipped(&self, first: u32) -> Result<Option<u32>, StepError> {
        Ok(Some(first))
    }

    #[step(run_if = { "first": 1 }, when_unmet = skip_cascade)]
    async fn cascading(&self, first: u32) -> Result<u32, StepError> {
        Ok(first)
    }

    #[step]
    async fn behind(&self, cascading: u32) -> Result<u32, StepError> {
        Ok(cascading)
    }
}

// T17
#[test]
fn each_leaf_has_one_field() {
    let ShopOutput { plain, skipped, behind } =
        serde_json::from_str(r#"{"Plain": null, "skipped": null, "first": 1, "more": {}}"#).expect("reads");
    assert_eq!((plain, skipped, behind), (None, Some(None), None));
    let missing = serde_json::from_str::<ShopOutput>("{}").expect_err("a plain leaf is there");
    assert!(missing.to_string().contains("missing field `Plain`"), "{missing}");
}

// T17
#[test]
fn the_output_is_written_as_it_was_read() {
    let output: ShopOutput = serde_json::from_str(r#"{"Plain": 1, "behind": 2}"#).expect("reads");
    assert_eq!(serde_json::to_string(&output).expect("writes"), r#"{"Plain":1,"behind":2}"#);
    assert_eq!(format!("{output:?}"), "ShopOutput { plain: Some(1), skipped: None, behind: Some(2) }");
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
