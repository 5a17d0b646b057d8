//! What every store of idempotency keys must do, told by `Once` on it.

use consumer::once::{Done, Lease, Leasing, Once, OnceStore};
use consumer::{Class, Failure, Span, Timestamp};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::SeqCst};
use std::time::Duration;

const START_MS: i64 = 1_763_600_000_000;
const LEASE_MAX: Span = Span::from_secs(30);
const TTL: Span = Span::from_days(1);

/// A store, a clock that only the test moves, and a count of the work done.
pub struct World {
    store: Arc<dyn OnceStore>,
    clock: Arc<AtomicI64>,
    done: AtomicU32,
}

impl World {
    pub fn new(store: impl OnceStore + 'static) -> Self {
        Self { store: Arc::new(store), clock: Arc::new(AtomicI64::new(START_MS)), done: AtomicU32::new(0) }
    }

    fn once(&self) -> Once {
        let clock = self.clock.clone();
        Once::new(self.store.clone(), LEASE_MAX).with_clock(move || Timestamp::from_ms(clock.load(SeqCst)))
    }

    fn advance(&self, span: Span) {
        self.clock.fetch_add(span.as_ms(), SeqCst);
    }

    /// Does the work of a key; its result is the count of work done.
    async fn work(&self, key: &str) -> Result<Done<u32>, Failure> {
        self.once().run(key, TTL, async { Ok(self.done.fetch_add(1, SeqCst) + 1) }).await
    }

    /// Begins the work of a key and dies in it.
    async fn die_at_work(&self, key: &str) {
        let once = self.once();
        let work = once.run(key, TTL, async {
            self.done.fetch_add(1, SeqCst);
            pending::<Result<u32, Failure>>().await
        });
        let mut work = std::pin::pin!(work);
        // Long enough for any endpoint: the work has begun when it is counted.
        let before = self.done.load(SeqCst);
        while self.done.load(SeqCst) == before {
            assert!(tokio::time::timeout(Duration::from_millis(5), &mut work).await.is_err());
        }
    }
}

/// The work is done once; later deliveries get its result.
pub async fn later_deliveries_get_the_result(world: World) {
    assert_eq!(world.work("a").await.unwrap(), Done { value: 1, repeated: false });
    world.advance(Span::from_mins(60));
    assert_eq!(world.work("a").await.unwrap(), Done { value: 1, repeated: true });
    assert_eq!(world.work("b").await.unwrap(), Done { value: 2, repeated: false });
}

/// Work that failed is done again at once.
pub async fn failed_work_gives_the_key_back(world: World) {
    let failed = world.once().run("a", TTL, async { Err::<u32, _>(Failure::transient("Busy", "come back")) }).await;
    assert_eq!(failed.unwrap_err().error_type, "Busy");
    assert_eq!(world.work("a").await.unwrap(), Done { value: 1, repeated: false });
}

/// A second consumer waits while the first is at work, and takes over after its time.
pub async fn a_crash_at_work_blocks_the_key_until_the_lease_ends(world: World) {
    world.die_at_work("a").await;
    world.advance(Span::from_secs(10));
    let waiting = world.work("a").await.unwrap_err();
    assert_eq!((waiting.class, waiting.context.retry_after), (Class::Transient, Some(Span::from_secs(20))));
    world.advance(Span::from_secs(20));
    assert_eq!(world.work("a").await.unwrap(), Done { value: 2, repeated: false });
}

/// A crash between the work and the acknowledgement of its message repeats nothing.
pub async fn a_crash_after_the_work_repeats_nothing(world: World) {
    assert!(!world.work("a").await.unwrap().repeated);
    // The process dies before it deletes the message: the message is received again.
    let next = World { store: world.store.clone(), clock: world.clock.clone(), done: AtomicU32::new(70) };
    next.advance(Span::from_secs(30));
    assert_eq!(next.work("a").await.unwrap(), Done { value: 1, repeated: true });
    assert_eq!(next.done.load(SeqCst), 70);
}

/// Of many at once, one does the work.
pub async fn of_many_at_once_one_does_the_work(world: World) {
    let world = Arc::new(world);
    let all = (0..16).map(|_| {
        let world = world.clone();
        tokio::spawn(async move { world.work("a").await })
    });
    let mut first = 0;
    for result in all.collect::<Vec<_>>() {
        match result.await.unwrap() {
            Ok(done) if !done.repeated => first += 1,
            Ok(done) => assert_eq!(done.value, 1),
            Err(waiting) => assert_eq!(waiting.error_type, "consumer::once::InProgress"),
        }
    }
    assert_eq!((first, world.done.load(SeqCst)), (1, 1));
}

/// A lease that ended in the middle of the work, and was taken over, records nothing.
pub async fn a_lease_that_was_taken_over_records_nothing(world: World) {
    let store = &world.store;
    let at = |s: i64| Timestamp::from_ms(START_MS).plus(Span::from_secs(s));
    let lease = |token: &'static str, s: i64| {
        let leasing = Leasing { key: "a", token, now: at(s), until: at(s + 30), expires_at: at(86_400) };
        async move { store.lease(&leasing).await.unwrap() }
    };
    assert_eq!(lease("slow", 0).await, Lease::Granted);
    assert_eq!(lease("next", 29).await, Lease::InProgress { until: at(30) });
    assert_eq!(lease("next", 30).await, Lease::Granted);
    assert!(!store.complete("a", "slow", "1", at(86_400)).await.unwrap());
    store.release("a", "slow").await.unwrap();
    assert_eq!(lease("third", 31).await, Lease::InProgress { until: at(60) });
    assert!(store.complete("a", "next", "2", at(86_400)).await.unwrap());
    store.release("a", "next").await.unwrap();
    assert_eq!(lease("third", 32).await, Lease::Done { result: "2".into() });
}

/// After its time to live a key is free, also if the store still has it.
pub async fn an_expired_key_is_free(world: World) {
    assert!(!world.work("a").await.unwrap().repeated);
    world.advance(Span::from_ms(TTL.as_ms() - 1));
    assert!(world.work("a").await.unwrap().repeated);
    world.advance(Span::from_ms(1));
    assert!(!world.work("a").await.unwrap().repeated);
}

/// Keys and results are kept as they are, up to their limits.
pub async fn keys_and_results_have_limits(world: World) {
    for key in ["".to_owned(), "k".repeat(1_025)] {
        let refused = world.work(&key).await.unwrap_err();
        assert_eq!((refused.class, refused.error_type.as_str()), (Class::Permanent, "consumer::once::KeyLength"));
    }
    assert_eq!(world.work("a\0b").await.unwrap_err().error_type, "consumer::once::KeyText");
    let key = format!("{}' \"€\n", "k".repeat(1_000));
    assert!(!world.work(&key).await.unwrap().repeated);
    assert!(world.work(&key).await.unwrap().repeated);
    let of = async |length: usize| world.once().run("long", TTL, async { Ok("x".repeat(length)) }).await;
    assert_eq!(of(70_000).await.unwrap().value.len(), 70_000, "the work is done");
    assert_eq!(of(7).await.unwrap_err().error_type, "consumer::once::ResultNotKept", "and never again");
}

/// Makes one test of each case. `$fresh` is an async function that returns a store of its own.
#[macro_export]
macro_rules! once_conformance {
    ($fresh:path) => {
        $crate::once_conformance!($fresh:
            later_deliveries_get_the_result, failed_work_gives_the_key_back,
            a_crash_at_work_blocks_the_key_until_the_lease_ends, a_crash_after_the_work_repeats_nothing,
            of_many_at_once_one_does_the_work, a_lease_that_was_taken_over_records_nothing, an_expired_key_is_free,
            keys_and_results_have_limits);
    };
    // `$fresh` returns `None` where the store is not installed.
    ($fresh:path, or $reason:literal) => {
        $crate::once_conformance!($fresh, or $reason:
            later_deliveries_get_the_result, failed_work_gives_the_key_back,
            a_crash_at_work_blocks_the_key_until_the_lease_ends, a_crash_after_the_work_repeats_nothing,
            of_many_at_once_one_does_the_work, a_lease_that_was_taken_over_records_nothing, an_expired_key_is_free,
            keys_and_results_have_limits);
    };
    ($fresh:path, or $reason:literal: $($case:ident),+) => {
        $(
            #[tokio::test]
            async fn $case() {
                match $fresh().await {
                    Some(store) => $crate::conformance::once::$case($crate::conformance::once::World::new(store)).await,
                    None => $crate::skipped::report(module_path!(), stringify!($case), $reason),
                }
            }
        )+
    };
    ($fresh:path: $($case:ident),+) => {
        $(
            #[tokio::test]
            async fn $case() {
                let world = $crate::conformance::once::World::new($fresh().await);
                $crate::conformance::once::$case(world).await;
            }
        )+
    };
}
