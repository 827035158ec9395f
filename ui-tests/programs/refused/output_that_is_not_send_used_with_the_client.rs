use flow_runtime::prelude::*;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Receipt {
    #[serde(skip)]
    #[schemars(skip)]
    held: Option<std::rc::Rc<u32>>,
}

struct Shop;

#[flow(input = u32)]
impl Shop {
    #[step]
    async fn a(&self) -> Result<Receipt, StepError> { //~ cannot travel as JSON
        Ok(Receipt { held: None })
    }
}

async fn work(db: Db) -> Result<(), Box<dyn std::error::Error>> {
    let worker = Worker::builder(&db).flow(Shop).build()?;
    let run = Client::new(&db).start::<Shop>(&3).await?;
    println!("{:?}", run.wait().await?.a.held);
    let _ = worker;
    Ok(())
}

fn main() {
    let _ = work;
}
