//! A panic is a failure of its message: caught, with its words and its place.

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

/// A panic that was caught.
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
    static PLACE: RefCell<Option<Frame>> = const { RefCell::new(None) };
}

/// The place of a panic is told to the panic hook alone, so a hook of ours notes it for the panics that we catch, and
/// leaves all others to the hook that was there before.
fn note_places() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if CATCHING.get() {
                PLACE.set(info.location().map(Frame::of_location));
            } else {
                before(info);
            }
        }));
    });
}

/// Runs `work`; a panic in it is an answer.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    note_places();
    let outer = CATCHING.replace(true);
    let answer = catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(outer);
    answer.map_err(|payload| Panicked { message: words(&*payload), frame: PLACE.take() })
}

fn words(payload: &(dyn Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).into(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without words".into(),
    }
}

/// Runs pure work whose panic says something of the message, and gives the panic as a failure of `class`.
///
/// A panic that reaches the consumer is of class unknown. Where the same input must panic again, as in a calculation,
/// the handler knows more: `guard(Class::Permanent, "shop::pricing::total", || total(&order))`. `function` names the
/// innermost frame. Nothing that `work` changed may be used after a panic.
pub fn guard<T>(class: Class, function: &str, work: impl FnOnce() -> T) -> Result<T, Failure> {
    caught(work).map_err(|panicked| {
        let mut failure = panicked.into_failure(class);
        if let Some(frame) = failure.frames.first_mut() {
            frame.function = plain_name(function);
        }
        failure
    })
}

/// A future whose panics are answers.
pub(crate) struct Caught<'a, T>(pub(crate) Pin<Box<dyn Future<Output = T> + Send + 'a>>);

impl<T> Future for Caught<'_, T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match caught(|| self.0.as_mut().poll(cx)) {
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarded_panic_keeps_words_and_place() {
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
        let failure = Caught(work).await.unwrap_err().into_failure(Class::Unknown);
        assert_eq!((failure.message.as_str(), failure.class), ("order 7 is odd", Class::Unknown));
        assert_eq!(failure.frames.len(), 1);
    }
}
