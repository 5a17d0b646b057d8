//! A store that does not answer after the work is done, and work that outlasts its lease.

use super::*;
use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// A store of one key that does not answer the first calls to keep a result.
#[derive(Default)]
struct Deaf {
    calls_lost: AtomicU32,
    /// Whether it says nothing, rather than that the connection was lost.
    is_silent: bool,
    kept: std::sync::Mutex<Option<String>>,
}

#[async_trait]
impl OnceStore for Deaf {
    async fn lease(&self, _: &Leasing<'_>) -> Result<Lease, StoreError> {
        let kept = self.kept.lock().expect("no panic").clone();
        Ok(kept.map_or(Lease::Granted, |result| Lease::Done { result }))
    }

    async fn complete(&self, _: &str, _: &str, result: &str, _: Timestamp) -> Result<bool, StoreError> {
        if self.calls_lost.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
            return if self.is_silent { pending().await } else { Err(StoreError::new("the connection was lost")) };
        }
        *self.kept.lock().expect("no panic") = Some(result.to_owned());
        Ok(true)
    }

    async fn release(&self, _: &str, _: &str) -> Result<(), StoreError> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_after_the_work_does_not_repeat_it() {
    for is_silent in [false, true] {
        let store = Arc::new(Deaf { calls_lost: AtomicU32::new(3), is_silent, ..Deaf::default() });
        let once = Once::new(store, Span::from_secs(60));
        let works = AtomicU32::new(0);
        let pay = async || {
            let work = async {
                works.fetch_add(1, SeqCst);
                Ok::<_, Failure>(7)
            };
            once.run("order-7", Span::from_days(30), work).await.map(|done| (done.value, done.repeated))
        };
        let kept = tokio::time::timeout(Duration::from_secs(60), pay()).await.expect("before the lease ends");
        assert_eq!(kept.expect("it is kept at last"), (7, false));
        assert_eq!(pay().await.expect("it was done"), (7, true));
        assert_eq!(works.load(SeqCst), 1);
    }
}

/// A store that grants leases, if it says anything, and nothing else.
struct Silent {
    grants: bool,
}

#[async_trait]
impl OnceStore for Silent {
    async fn lease(&self, _: &Leasing<'_>) -> Result<Lease, StoreError> {
        if self.grants { Ok(Lease::Granted) } else { pending().await }
    }

    async fn complete(&self, _: &str, _: &str, _: &str, _: Timestamp) -> Result<bool, StoreError> {
        pending().await
    }

    async fn release(&self, _: &str, _: &str) -> Result<(), StoreError> {
        pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_store_holds_up_neither_lease_nor_failure() {
    let run = async |grants: bool, result: Result<u8, Failure>| {
        let (once, began) = (Once::new(Arc::new(Silent { grants }), Span::from_secs(30)), Instant::now());
        let failed = once.run("order-7", Span::from_days(30), async { result }).await.expect_err("no answer");
        (failed, began.elapsed().as_secs())
    };
    let (unleased, took_s) = run(false, Ok(7)).await;
    assert_eq!((unleased.class, took_s), (domain::reading::Class::Transient, 6));
    assert!(unleased.message.ends_with("no answer within 6000 ms"), "{}", unleased.message);
    let (failed, took_s) = run(true, Err(Failure::permanent("orders::NotFound", "no such order"))).await;
    assert_eq!((failed.error_type.as_str(), took_s), ("orders::NotFound", 6));
    let (unkept, took_s) = run(true, Ok(7)).await;
    assert!(unkept.class == domain::reading::Class::Transient && (30..45).contains(&took_s), "{took_s} s");
}

/// A store that grants every lease after a time, and notes its calls.
#[derive(Default)]
struct Noting {
    answers_after: Duration,
    calls: std::sync::Mutex<Vec<String>>,
}

impl Noting {
    fn note(&self, what: &str) {
        self.calls.lock().expect("no panic").push(what.to_owned());
    }
}

#[async_trait]
impl OnceStore for Noting {
    async fn lease(&self, _: &Leasing<'_>) -> Result<Lease, StoreError> {
        tokio::time::sleep(self.answers_after).await;
        Ok(Lease::Granted)
    }

    async fn complete(&self, _: &str, _: &str, result: &str, _: Timestamp) -> Result<bool, StoreError> {
        self.note(&format!("completed with {result}"));
        Ok(true)
    }

    async fn release(&self, _: &str, _: &str) -> Result<(), StoreError> {
        self.note("released");
        Ok(())
    }
}

/// Runs work of this length on a lease, in a runtime whose clock is the test's.
async fn work_of(lease_s: i64, work_s: u64, lease_answers_after_s: u64) -> (Result<bool, Failure>, u64, Vec<String>) {
    let store = Arc::new(Noting { answers_after: Duration::from_secs(lease_answers_after_s), ..Noting::default() });
    let began = Instant::now();
    let once = Once::new(store.clone(), Span::from_secs(lease_s))
        .with_clock(move || Timestamp::from_ms(i64::try_from(began.elapsed().as_millis()).expect("a short test")));
    let work = async {
        tokio::time::sleep(Duration::from_secs(work_s)).await;
        Ok(7)
    };
    let done = once.run("order-7", Span::from_days(30), work).await;
    let calls = store.calls.lock().expect("no panic").clone();
    (done.map(|done| done.repeated), began.elapsed().as_secs(), calls)
}

#[tokio::test(start_paused = true)]
async fn work_is_cut_off_before_its_lease_ends_and_keeps_its_key() {
    let (done, took_s, calls) = work_of(30, 26, 0).await;
    assert_eq!((done.expect("it is done"), took_s, calls), (false, 26, vec!["completed with 7".to_owned()]));
    // The lease began when it was asked for: what its answer took is lost to the work.
    for (work_s, lease_answers_after_s) in [(28, 0), (3_600, 0), (23, 5)] {
        let (done, took_s, calls) = work_of(30, work_s, lease_answers_after_s).await;
        let failure = done.expect_err("it is cut off");
        assert_eq!(
            (failure.error_type.as_str(), failure.class),
            ("consumer::once::CutOff", domain::reading::Class::Transient)
        );
        assert_eq!((took_s, failure.context.retry_after), (27, Some(Span::from_secs(3))), "{work_s} s of work");
        assert_eq!(calls, Vec::<String>::new(), "it may have had its effect, so nobody else may begin yet");
    }
    let (done, took_s, calls) = work_of(5, 0, 5).await;
    assert_eq!(done.expect_err("it does not begin").error_type, "consumer::once::LeasedTooLate");
    assert_eq!((took_s, calls), (5, Vec::new()));
}
