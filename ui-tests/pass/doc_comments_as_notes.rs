// D25
use flow_runtime::prelude::*;

struct Shop;

/// Sells.
///
/// Things.
#[flow(input = u32)]
impl Shop {
    /// Takes "one" off the shelf.
    #[step]
    async fn reserve(&self, input: u32) -> Result<u32, StepError> {
        Ok(input)
    }

    #[step]
    async fn ship(&self, reserve: u32) -> Result<u32, StepError> {
        Ok(reserve)
    }
}

// D25
#[test]
fn docs_are_notes() {
    let notes = Shop::definition().notes;
    assert_eq!(notes.flow.as_deref(), Some("Sells.\n\nThings."));
    assert_eq!(notes.steps, [Some("Takes \"one\" off the shelf.".to_owned()), None]);
    assert!(Shop::graph().mermaid().contains("reserve<br/>Takes &quot;one&quot; off the shelf."));
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
