//! What the office measures about replays.

use async_trait::async_trait;
use domain::metric::{Datum, Metric, REPLAY_SUCCESS};
use domain::replay::PlanOptions;
use domain::time::Span;
use harness::world::{World, number_of};
use office::act;
use office::port::{Metrics, SinkError};
use queue::Received;
use std::sync::{Arc, Mutex};
use wire::ResumeRequest;

/// Metrics that a test can read.
#[derive(Default)]
pub struct Recorded(Mutex<Vec<Datum>>);

#[async_trait]
impl Metrics for Recorded {
    async fn put(&self, data: &[Datum]) -> Result<(), SinkError> {
        self.0.lock().unwrap().extend_from_slice(data);
        Ok(())
    }
}

impl Recorded {
    /// Records what the office of a world measures from now on.
    pub fn start(world: &mut World) -> Arc<Self> {
        let metrics = Arc::new(Self::default());
        world.office.metrics = metrics.clone();
        metrics
    }

    /// Returns the values of a metric, one for each report.
    pub fn values(&self, metric: &Metric) -> Vec<f64> {
        let data = self.0.lock().unwrap();
        data.iter().filter(|datum| datum.name == metric.name).map(|datum| datum.values[0].0).collect()
    }
}

fn everything_works(_: &Received) -> Option<&'static str> {
    None
}

fn only_every_fourth_works(message: &Received) -> Option<&'static str> {
    (!number_of(&message.content.body).is_multiple_of(4)).then_some("orders::pricing::Overflow")
}

#[tokio::test]
async fn a_replay_that_finished_is_measured_by_what_it_delivered() {
    let mut world = World::new().await;
    let metrics = Recorded::start(&mut world);
    let group = world.one_group(60).await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    world.approve(&group, &plan).await;
    world.run(&plan.id, &only_every_fourth_works, "v2").await;
    assert!(metrics.values(&REPLAY_SUCCESS).is_empty(), "a replay that paused has not ended");

    world.declare_fix(&group, "v3").await;
    world.advance(Span::from_secs(11));
    let resume =
        ResumeRequest { reason: "v3 is live".into(), program_hash: None, fix_declared_at: None, waivers: Vec::new() };
    act::resume(&world.office, &world.anna(), &plan.id, &resume).await.unwrap();
    world.run(&plan.id, &everything_works, "v3").await;
    let total = world.ledger(&plan.id).await.total();
    assert!(total.returned > 0 && total.delivered + total.returned == 60, "{total:?}");
    let share = 100.0 * total.delivered as f64 / 60.0;
    assert_eq!(metrics.values(&REPLAY_SUCCESS), [share]);

    let plan = world.plan(&group, &PlanOptions::default()).await;
    world.approve(&group, &plan).await;
    world.run(&plan.id, &everything_works, "v3").await;
    assert_eq!(metrics.values(&REPLAY_SUCCESS), [share, 100.0]);
}

#[tokio::test]
async fn a_replay_that_a_person_aborts_is_not_measured() {
    let mut world = World::new().await;
    let metrics = Recorded::start(&mut world);
    let group = world.one_group(20).await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    world.approve(&group, &plan).await;
    assert!(world.run(&plan.id, &only_every_fourth_works, "v2").await.is_paused());
    act::abort(&world.office, &world.otto(), &plan.id, "the wrong fix").await.unwrap();
    assert!(world.run(&plan.id, &everything_works, "v2").await.is_finished());
    assert!(metrics.values(&REPLAY_SUCCESS).is_empty());
}
