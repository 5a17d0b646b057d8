//! A letter that the store will never take holds up none that came with it.

use dlo_tests::world::{World, order};
use domain::time::Span;

#[tokio::test]
async fn letters_that_the_store_refuses_stay_in_their_queue_and_the_rest_is_kept() {
    const LETTERS: u64 = 40;
    let world = World::new().await;
    for n in 0..LETTERS {
        let cause = if n % 2 == 0 { "orders::pricing::Overflow" } else { "orders::stock::Sold" };
        world.die(n, cause, world.office.now()).await;
    }
    let open = async || {
        let groups = world.store.groups(0, None, 10).await.unwrap().items;
        groups.iter().map(|facts| facts.counts.open().letters).collect::<Vec<_>>()
    };
    world.faults.set_unwelcome(Some(&order(7)));
    let report = world.intake().await;
    assert_eq!((report.kept, report.failed.len()), (LETTERS as usize - 1, 1));
    assert_eq!(open().await.iter().sum::<i64>(), LETTERS.cast_signed() - 1);
    world.faults.set_unwelcome(None);
    world.advance(Span::from_mins(30));
    assert_eq!(world.intake().await.kept, 1);
    assert_eq!(open().await, [LETTERS.cast_signed() / 2; 2]);
}
