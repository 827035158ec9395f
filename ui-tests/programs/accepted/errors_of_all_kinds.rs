use flow_runtime::prelude::*;

struct Shop;

/// A report like those of other crates: no standard error, but one that converts into a boxed one.
mod eyre {
    #[derive(Debug)]
    pub struct Report(String);
    pub type Result<T, E = Report> = std::result::Result<T, E>;
    impl From<Report> for Box<dyn std::error::Error + Send + Sync> {
        fn from(report: Report) -> Self {
            report.0.into()
        }
    }
    impl Report {
        pub fn new(text: String) -> Self {
            Self(text)
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum ShopError {
    #[error("gone")]
    Gone,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
#[flow(input = String)]
impl Shop {
    #[step]
    async fn a(&self, input: String) -> Result<u32, StepError> {
        let n: u32 = input.parse()?;
        let _ = std::fs::metadata("/x")?;
        let _: serde_json::Value = serde_json::from_str("1")?;
        let _ = Err::<u32, _>(ShopError::Gone)?;
        let _: u32 = std::future::ready(Ok::<u32, anyhow::Error>(1)).await?;
        let _: u32 = Err("text")?;
        Ok(n)
    }
    #[step]
    async fn b(&self, a: u32) -> Result<u32, ShopError> {
        std::future::ready(std::fs::metadata("/x")?).await;
        Ok(a)
    }
    #[step]
    async fn c(&self, b: u32) -> anyhow::Result<u32> {
        std::future::ready(()).await;
        anyhow::bail!("no {b}")
    }
    #[step]
    async fn d(&self, c: u32) -> eyre::Result<u32> {
        std::future::ready(()).await;
        Err(eyre::Report::new(format!("no {c}")))
    }
    #[step]
    async fn e(&self, d: u32) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
        std::future::ready(()).await;
        Err(format!("{d}").into())
    }
    #[step]
    async fn f(&self, e: u32) -> Result<u32, Box<dyn std::error::Error + Send + Sync + 'static>> {
        std::future::ready(()).await;
        Err(format!("{e}").into())
    }
    #[step]
    async fn g(&self, f: u32) -> Result<u32, eyre::Report> {
        std::future::ready(()).await;
        Ok(f)
    }
    #[step]
    async fn h(&self, g: u32) -> Result<u32, std::convert::Infallible> {
        std::future::ready(()).await;
        Ok(g)
    }
    #[step]
    async fn i(&self, h: u32) -> Result<u32, std::borrow::Cow<'static, str>> {
        std::future::ready(()).await;
        Ok(h)
    }
    #[step]
    async fn j(&self, i: u32) -> std::result::Result<u32, std::sync::Arc<ShopError>> {
        std::future::ready(()).await;
        Ok(i)
    }
    #[step]
    async fn k(&self, j: u32) -> Result<u32, tokio::task::JoinError> {
        tokio::spawn(async move { j }).await
    }
    #[step]
    async fn l(&self, k: u32) -> Result<u32, StepError> {
        Ok(tokio::spawn(async move { k }).await?)
    }
}

pub(crate) fn main() {
    crate::run::run_handlers(Shop);
}
