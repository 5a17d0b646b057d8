//! A letter that the store permanently refuses does not block the rest of its batch.

use crate::measured::Recorded;
use domain::metric::NOT_KEPT;
use domain::time::Span;
use harness::world::{World, order};

#[tokio::test]
async fn refused_letters_stay_in_their_queue_and_the_others_are_kept() {
    const LETTERS: u64 = 40;
    let mut world = World::new().await;
    let metrics = Recorded::start(&mut world);
    for n in 0..LETTERS {
        let error = if n % 2 == 0 { "orders::pricing::Overflow" } else { "orders::stock::Sold" };
        world.die(n, error, world.office.now()).await;
    }
    let open = async || {
        let groups = world.store.groups(0, None, 10).await.unwrap().items;
        groups.iter().map(|facts| facts.counts.open().letters).collect::<Vec<_>>()
    };
    world.faults.refuse_letters_with(Some(&order(7)));
    let report = world.intake().await;
    assert_eq!((report.kept, report.failed.len()), (LETTERS as usize - 1, 1));
    assert_eq!(metrics.values(&NOT_KEPT), [1.0], "an alarm can watch this");
    assert_eq!(open().await.iter().sum::<i64>(), LETTERS.cast_signed() - 1);
    world.faults.refuse_letters_with(None);
    world.advance(Span::from_mins(30));
    assert_eq!(world.intake().await.kept, 1);
    assert_eq!(open().await, [LETTERS.cast_signed() / 2; 2]);
    assert_eq!(metrics.values(&NOT_KEPT), [1.0], "no further report");
}
