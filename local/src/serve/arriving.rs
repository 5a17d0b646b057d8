//! The time limit for the body of a request. It covers the whole body: a client that sends a byte now and then does not
//! gain time.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use hyper::body::{Body as _, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// Limits the time in which the body of a request must arrive. After it, reading the body fails.
pub(super) fn within(at_most: Duration, request: Request) -> Request {
    if request.body().is_end_stream() {
        return request;
    }
    request.map(|body| Body::new(Arriving { body, at_most, time: Box::pin(sleep(at_most)) }))
}

/// A body that fails once its time has passed.
struct Arriving {
    body: Body,
    at_most: Duration,
    time: Pin<Box<Sleep>>,
}

impl hyper::body::Body for Arriving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Pending if self.time.as_mut().poll(context).is_ready() => {
                let text = format!("it did not arrive within {} ms", self.at_most.as_millis());
                Poll::Ready(Some(Err(axum::Error::new(io::Error::new(io::ErrorKind::TimedOut, text)))))
            }
            other => other,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
