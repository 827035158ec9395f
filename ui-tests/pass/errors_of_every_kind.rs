// T26
use flow_runtime::prelude::*;

struct Shop;

type Result<T, E = std::fmt::Error> = std::result::Result<T, E>;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn anyhow(&self, input: u32) -> anyhow::Result<u32> {
        anyhow::ensure!(input > 0, "nothing to do");
        Ok(input)
    }

    #[step]
    async fn io(&self) -> std::io::Result<u32> {
        Ok(1)
    }

    #[step]
    async fn alias(&self) -> Result<u32> {
        Err(std::fmt::Error)
    }

    #[step]
    async fn text(&self) -> Result<u32, String> {
        "1".parse::<u32>().map_err(|error| error.to_string())
    }

    #[step]
    async fn word(&self) -> Result<u32, &'static str> {
        Err("no")
    }

    #[step]
    async fn boxed(&self) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
        Ok("1".parse()?)
    }

    #[step]
    async fn step_error(&self) -> Result<u32, StepError> {
        let number = "1".parse::<u32>()?;
        "2".parse::<u32>().permanent()?;
        "3".parse::<u32>().retry_after(std::time::Duration::from_secs(number.into()))
    }
}

// T26
#[tokio::test]
async fn handlers_fail_with_their_own_errors() {
    assert_eq!(Shop.step_error().await, Ok(3));
    assert!(Shop.anyhow(0).await.is_err() && Shop.alias().await.is_err());
    assert_eq!(ShopStep::ALL.len(), 7);
}

// T31
#[test]
fn handlers_run() {
    crate::run::run_handlers(Shop);
}
