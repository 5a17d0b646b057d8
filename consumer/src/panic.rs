//! Turns a panic into a failure of its message, with the panic's text and location.

use crate::failure::Failure;
use crate::frame::{Frame, plain_name};
use domain::reading::Class;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::pin::Pin;
use std::sync::Once;
use std::task::{Context, Poll};

/// A caught panic.
#[derive(Debug)]
pub(crate) struct Panicked {
    message: String,
    frame: Option<Frame>,
}

impl Panicked {
    pub(crate) fn into_failure(self, class: Class) -> Failure {
        let mut failure = Failure::new(class, "panic", self.message);
        failure.frames.extend(self.frame);
        failure
    }
}

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    static LOCATION: RefCell<Option<Frame>> = const { RefCell::new(None) };
}

/// Installs a panic hook that records the location of the panics that we catch, and passes all others to the previous
/// hook. Only the hook learns a panic's location.
fn record_locations() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |info| {
            if CATCHING.get() {
                LOCATION.set(info.location().map(Frame::from_location));
            } else {
                previous(info);
            }
        }));
    });
}

/// Runs `work` and returns a panic as an error.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    record_locations();
    // That of a panic which the handler caught itself says nothing of this one.
    LOCATION.take();
    let outer = CATCHING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    result.map_err(|payload| {
        let panicked = Panicked { message: text(&*payload), frame: LOCATION.take() };
        // What was thrown may panic when it is dropped, and so may what that throws.
        if let Err(thrown) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(thrown);
        }
        panicked
    })
}

pub(crate) fn text(payload: &(dyn Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).into(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a message".into(),
    }
}

/// Runs a pure calculation and returns a panic in it as a failure of `class`.
///
/// A panic that reaches the consumer is classified by its text: an `unwrap` of a transient error is transient, anything
/// else is a bug and permanent. If the handler knows better, it can say so here. `function` names the innermost frame. Do not use data that `work` changed after a panic.
///
/// ```
/// use consumer::{Class, guard};
///
/// let parcels: Vec<u32> = Vec::new();
/// let failure = guard(Class::Permanent, "shop::first_parcel", || parcels[0]).unwrap_err();
/// assert_eq!(failure.class, Class::Permanent);
/// assert_eq!(failure.message, "index out of bounds: the len is 0 but the index is 0");
/// ```
pub fn guard<T>(class: Class, function: &str, work: impl FnOnce() -> T) -> Result<T, Failure> {
    caught(work).map_err(|panicked| {
        let mut failure = panicked.into_failure(class);
        if let Some(frame) = failure.frames.first_mut() {
            frame.function = plain_name(function);
        }
        failure
    })
}

type Work<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A future that returns a panic as an error, also one of its making. One of its end is logged: it has its result, or was
/// cancelled.
pub(crate) struct Caught<'a, T>(Result<Work<'a, T>, Option<Panicked>>);

impl<'a, T> Caught<'a, T> {
    pub(crate) fn new(make: impl FnOnce() -> Work<'a, T>) -> Self {
        Self(caught(make).map_err(Some))
    }
}

impl<T> Future for Caught<'_, T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Ok(work) => match caught(|| work.as_mut().poll(cx)) {
                Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
                Ok(Poll::Pending) => Poll::Pending,
                Err(panicked) => Poll::Ready(Err(panicked)),
            },
            Err(panicked) => panicked.take().map_or(Poll::Pending, |panicked| Poll::Ready(Err(panicked))),
        }
    }
}

impl<T> Drop for Caught<'_, T> {
    fn drop(&mut self) {
        let work = std::mem::replace(&mut self.0, Err(None));
        if let Err(panicked) = caught(|| drop(work)) {
            tracing::error!(?panicked, "a handler panicked at its end");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarded_panic_keeps_message_and_location() {
        let parcels: Vec<u8> = Vec::new();
        let failure = guard(Class::Permanent, "shop::pack", || parcels[std::hint::black_box(0)]).unwrap_err();
        assert_eq!(failure.error_type, "panic");
        assert_eq!(failure.message, "index out of bounds: the len is 0 but the index is 0");
        assert_eq!(failure.frames[0].function, "shop::pack");
        assert!(failure.frames[0].file.ends_with("panic.rs"));
    }

    #[test]
    fn work_without_panic_passes_through() {
        assert_eq!(guard(Class::Permanent, "f", || 7).unwrap(), 7);
    }

    #[tokio::test]
    async fn a_panic_after_an_await_is_caught_too() {
        let work = Box::pin(async {
            tokio::task::yield_now().await;
            if std::hint::black_box(true) {
                panic!("order {} is odd", 7);
            }
        });
        let failure = Caught::new(|| work).await.unwrap_err().into_failure(Class::Unknown);
        assert_eq!((failure.message.as_str(), failure.class), ("order 7 is odd", Class::Unknown));
        assert_eq!(failure.frames.len(), 1);
    }

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a bomb");
        }
    }

    #[tokio::test]
    async fn panics_of_the_making_the_payload_and_the_end_are_caught_too() {
        let made = Caught::<()>::new(|| panic!("no future")).await.unwrap_err();
        assert_eq!(made.message, "no future");
        let thrown = Caught::<()>::new(|| Box::pin(async { std::panic::panic_any(Bomb) })).await.unwrap_err();
        assert_eq!(thrown.message, "a panic without a message");
        let mut ended = Caught::<()>::new(|| {
            Box::pin(async {
                let _bomb = Bomb;
                std::future::pending().await
            })
        });
        assert!(tokio::time::timeout(std::time::Duration::ZERO, &mut ended).await.is_err());
        drop(ended);
    }
}
