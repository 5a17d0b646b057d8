//! Turns that do not depend on time: who goes first among futures of one thread is decided by how often each gives way.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// Gives way to the other futures of this thread so many times.
pub async fn pause(times: usize) {
    for _ in 0..times {
        let mut given = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut given, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// Runs a future to its end while nothing else on this thread runs: what it waits for must come from another thread.
pub fn alone<T>(future: impl Future<Output = T>) -> T {
    struct Wakes(Thread);
    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Wakes(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    // Tokio would make it give way to others after a while, and nobody else runs here.
    let mut future = pin!(tokio::task::unconstrained(future));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}
