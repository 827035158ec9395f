//! The flow of the manual's first page: it compiles, its names and its definition are right, its handlers are methods.

use flow_runtime::{StepEnum, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Order {
    items: Vec<String>,
    gift: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Reservation {
    item: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Parcel {
    item: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Shipment {
    parcels: usize,
    wrapped: bool,
    run: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Wrap;

struct FulfilOrder {
    carrier: String,
}

/// Takes an order from the shelf to the door.
#[flow(input = Order, deps, max_attempts = 5, timeout = "30s")]
impl FulfilOrder {
    /// Takes each item off the shelf.
    #[step]
    async fn reserve(&self, input: Order) -> Result<Vec<Reservation>, std::io::Error> {
        Ok(input.items.into_iter().map(|item| Reservation { item }).collect())
    }

    /// One task for each reservation.
    #[map(over = reserve, max_attempts = 2, start_delay = "250ms")]
    async fn pick(&self, item: Reservation) -> anyhow::Result<Parcel> {
        Ok(Parcel { item: item.item })
    }

    #[step(run_if = { "gift": true }, when_unmet = skip)]
    async fn wrap(&self, input: Order) -> Result<Wrap, StepError> {
        self.refuse_empty(&input)?;
        Ok(Wrap)
    }

    #[step(when_exhausted = fail)]
    async fn ship(&self, pick: Vec<Parcel>, wrap: Option<Wrap>, ctx: &StepContext) -> Result<Shipment, StepError> {
        let run = format!("{} {}", self.carrier, ctx.run_id());
        Ok(Shipment { parcels: pick.len(), wrapped: wrap.is_some(), run })
    }

    #[step(blocking, after(ship))]
    fn archive(&self, #[from(pick)] mut parcels: Vec<Parcel>) -> Result<usize, String> {
        parcels.dedup();
        Ok(parcels.len())
    }

    fn refuse_empty(&self, order: &Order) -> Result<(), StepError> {
        if order.items.is_empty() { Err("nothing to wrap").permanent() } else { Ok(()) }
    }
}

fn flow() -> FulfilOrder {
    FulfilOrder { carrier: "bike".into() }
}

fn order(items: &[&str]) -> Order {
    Order { items: items.iter().map(|item| (*item).to_owned()).collect(), gift: true }
}

// T20
#[tokio::test]
async fn handlers_are_plain_methods() {
    let flow = flow();
    let reserved = flow.reserve(order(&["ink", "pen"])).await.expect("reserves");
    assert_eq!(reserved.len(), 2);
    let parcel = flow.pick(reserved[0].clone()).await.expect("picks");
    let shipment = flow.ship(vec![parcel], Some(Wrap), &StepContext::for_test()).await.expect("ships");
    assert_eq!((shipment.parcels, shipment.wrapped), (1, true));
    assert!(flow.wrap(order(&[])).await.is_err());
}

// T19
#[test]
fn the_step_enum_has_the_slugs_in_step_order() {
    let slugs: Vec<&str> = FulfilOrderStep::ALL.iter().map(|step| step.as_str()).collect();
    assert_eq!(slugs, ["reserve", "pick", "wrap", "ship", "archive"]);
    for (index, step) in FulfilOrderStep::ALL.iter().copied().enumerate() {
        assert_eq!((step.index(), step.as_str().parse()), (index, Ok(step)));
        assert_eq!(step.to_string(), step.as_str());
        let json = serde_json::to_string(&step).expect("serialises");
        assert_eq!(json, format!("\"{step}\""));
        assert_eq!(serde_json::from_str::<FulfilOrderStep>(&json).expect("reads back"), step);
    }
    let error = "shipp".parse::<FulfilOrderStep>().expect_err("no step");
    assert_eq!(error.to_string(), "this flow has no step `shipp`; did you mean `ship`?");
    assert_eq!(<FulfilOrderStep as StepEnum>::ALL.len(), 5);
}

#[test]
fn keys_name_step_and_type() {
    let pick: StepKey<FulfilOrder, Vec<Parcel>> = FulfilOrder::PICK;
    assert_eq!((pick.slug(), pick.index()), ("pick", 1));
    assert_eq!(FulfilOrder::SHIP.slug(), "ship");
    let _deps = FulfilOrderShipDeps { pick: vec![], wrap: None };
}

// T17
#[test]
fn the_output_has_the_leaves() {
    let output: FulfilOrderOutput = serde_json::from_str(r#"{"archive": 2}"#).expect("reads");
    assert_eq!(output.archive, 2);
}

#[test]
fn the_definition_is_as_written() {
    insta::assert_json_snapshot!(FulfilOrder::definition());
}
