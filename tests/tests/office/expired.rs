//! Groups whose letters are past their deadlines.

use domain::letter::LetterState;
use domain::time::Span;
use harness::samples::move_letters;
use harness::world::World;
use office::gate::LettersToSend;

#[tokio::test]
async fn a_group_of_expired_letters_does_not_say_that_they_can_be_sent() {
    let world = World::new().await;
    let group = world.one_group(3).await;
    let to_send = async || {
        LettersToSend::now(&world.office, &world.store.group_facts(&group, i64::MAX).await.unwrap().unwrap())
            .await
            .unwrap()
    };
    assert_eq!((to_send().await.letters.letters, to_send().await.left_out.len()), (3, 0));
    world.advance(Span::from_days(15));
    assert_eq!(to_send().await.letters.letters, 3, "they have no deadline");
    let letters = world.letters(&group, None).await;
    for before in letters {
        let mut after = before.moved(LetterState::Waiting);
        (after.diagnosis.impact.deadline, after.loss_at) = (Some(before.sent_at), Some(before.sent_at));
        world.store.commit(move_letters(&[(before, after)])).await.unwrap();
    }
    assert_eq!(
        (to_send().await.letters.letters, to_send().await.left_out),
        (0, vec!["3 past their deadline".to_string()])
    );
}
