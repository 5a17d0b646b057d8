//! A letter that the store will never take holds up none that came with it.

use async_trait::async_trait;
use domain::metric::{Datum, NOT_KEPT};
use domain::time::Span;
use harness::world::{World, order};
use office::port::{Metrics, SinkError};
use std::sync::{Arc, Mutex};

/// Metrics that can be looked at.
#[derive(Default)]
struct Told(Mutex<Vec<Datum>>);

#[async_trait]
impl Metrics for Told {
    async fn put(&self, data: &[Datum]) -> Result<(), SinkError> {
        self.0.lock().unwrap().extend_from_slice(data);
        Ok(())
    }
}

impl Told {
    /// How many messages were not kept, one number for each time that this was told.
    fn not_kept(&self) -> Vec<f64> {
        let told = self.0.lock().unwrap();
        told.iter().filter(|datum| datum.name == NOT_KEPT.name).map(|datum| datum.values[0].0).collect()
    }
}

#[tokio::test]
async fn letters_that_the_store_refuses_stay_in_their_queue_and_the_rest_is_kept() {
    const LETTERS: u64 = 40;
    let mut world = World::new().await;
    let told = Arc::new(Told::default());
    world.office.metrics = told.clone();
    for n in 0..LETTERS {
        let cause = if n % 2 == 0 { "orders::pricing::Overflow" } else { "orders::stock::Sold" };
        world.die(n, cause, world.office.now()).await;
    }
    let open = async || {
        let groups = world.store.groups(0, None, 10).await.unwrap().items;
        groups.iter().map(|facts| facts.counts.open().letters).collect::<Vec<_>>()
    };
    world.faults.refuse_letters_with(Some(&order(7)));
    let report = world.intake().await;
    assert_eq!((report.kept, report.failed.len()), (LETTERS as usize - 1, 1));
    assert_eq!(told.not_kept(), [1.0], "an alarm can be on it");
    assert_eq!(open().await.iter().sum::<i64>(), LETTERS.cast_signed() - 1);
    world.faults.refuse_letters_with(None);
    world.advance(Span::from_mins(30));
    assert_eq!(world.intake().await.kept, 1);
    assert_eq!(open().await, [LETTERS.cast_signed() / 2; 2]);
    assert_eq!(told.not_kept(), [1.0], "and no more");
}
