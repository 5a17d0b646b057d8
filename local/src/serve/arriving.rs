//! The limits for the body of a request: the time in which the whole of it must arrive, so that a client that sends a byte
//! now and then does not gain time, and the number of large bodies in memory at a time.

use super::places::Turn;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use hyper::body::{Body as _, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

/// The bytes that every body may have in memory. Only a larger one needs a place: most calls of the API are smaller, so
/// large bodies never keep them waiting.
pub(super) const SMALL_BYTES_MAX: usize = 4 * 1024;

/// Limits the time in which the body of a request must arrive. After it, reading the body fails. A body that turns out to be
/// large waits for one of the places, within the same time.
pub(super) fn within(at_most: Duration, places: &Arc<Semaphore>, mut request: Request) -> Request {
    let turn = request.extensions_mut().remove::<Arc<Turn>>();
    if request.body().is_end_stream() {
        return request;
    }
    let (time, place) = (Box::pin(sleep(at_most)), Large::Not(places.clone()));
    request.map(|body| Body::new(Arriving { body, at_most, time, bytes: 0, place, turn }))
}

type Acquiring = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send + Sync>>;

/// Whether a body has a place among the large ones.
enum Large {
    Not(Arc<Semaphore>),
    Waits(Acquiring),
    Has { _place: Option<OwnedSemaphorePermit> },
}

/// A body that fails once its time has passed.
struct Arriving {
    body: Body,
    at_most: Duration,
    time: Pin<Box<Sleep>>,
    bytes: usize,
    place: Large,
    turn: Option<Arc<Turn>>,
}

impl Arriving {
    /// Waits for a place if the body is large.
    fn poll_place(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            match &mut self.place {
                Large::Not(_) if self.bytes <= SMALL_BYTES_MAX => return Poll::Ready(()),
                Large::Not(places) => self.place = Large::Waits(Box::pin(places.clone().acquire_owned())),
                // The semaphore is never closed.
                Large::Waits(place) => self.place = Large::Has { _place: ready!(place.as_mut().poll(context)).ok() },
                Large::Has { .. } => return Poll::Ready(()),
            }
        }
    }

    fn poll_more(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        ready!(self.poll_place(context));
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame {
            self.bytes = self.bytes.saturating_add(frame.data_ref().map_or(0, Bytes::len));
        }
        if (frame.is_none() || self.body.is_end_stream())
            && let Some(turn) = self.turn.take()
        {
            turn.work();
        }
        Poll::Ready(frame)
    }
}

impl hyper::body::Body for Arriving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.poll_more(context) {
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
