//! A store that does not answer, after the work is done.

use super::*;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// A store of one key that does not answer the first calls to keep a result.
#[derive(Default)]
struct Deaf {
    calls_lost: AtomicU32,
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
            return Err(StoreError::new("the connection was lost"));
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
    let store = Arc::new(Deaf { calls_lost: AtomicU32::new(3), ..Deaf::default() });
    let once = Once::new(store, Span::from_secs(60));
    let works = AtomicU32::new(0);
    let pay = async || {
        let work = async {
            works.fetch_add(1, SeqCst);
            Ok::<_, Failure>(7)
        };
        once.run("order-7", Span::from_days(30), work).await.map(|done| (done.value, done.repeated))
    };
    assert_eq!(pay().await.expect("it is kept at last"), (7, false));
    assert_eq!(pay().await.expect("it was done"), (7, true));
    assert_eq!(works.load(SeqCst), 1);
}
