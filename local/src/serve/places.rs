//! The places for connections, and who gives one up when all are taken.
//!
//! Every client of an office on one machine has the same address, so a share for each address would protect nobody.
//! Instead, the connection for which the office has waited longest makes room for one that has just arrived: connections
//! that are idle, stop in the middle of a request, or do not read their response keep nobody out. One that the office works for is never closed.

use axum::body::{Body, Bytes};
use axum::http::Request;
use axum::response::Response;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

/// The wait between two looks for a connection that can make room.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// All places.
pub(super) struct Places {
    count: u32,
    free: Arc<Semaphore>,
    open: Mutex<HashMap<u64, Arc<Turn>>>,
    next: AtomicU64,
    waits_min: Duration,
}

impl Places {
    /// `waits_min` is how long the office must have waited for a connection before it makes room for another one.
    pub(super) fn new(count: usize, waits_min: Duration) -> Arc<Self> {
        Arc::new(Self {
            count: u32::try_from(count).unwrap_or(u32::MAX),
            free: Arc::new(Semaphore::new(count)),
            open: Mutex::default(),
            next: AtomicU64::new(0),
            waits_min,
        })
    }

    /// Takes a place. If none is free, closes the connection that the office has waited for longest.
    pub(super) async fn take(self: &Arc<Self>, was_full: &mut bool) -> Place {
        let is_full = self.free.available_permits() == 0;
        if is_full && !*was_full {
            tracing::warn!(
                "every place for a connection is taken; the one that has waited longest is closed for each new one"
            );
        }
        *was_full = is_full;
        loop {
            if self.free.available_permits() == 0 {
                self.make_room();
            }
            // The semaphore is never closed.
            if let Ok(Ok(permit)) = timeout(LOOK_EVERY, self.free.clone().acquire_owned()).await {
                let (number, turn) = (self.next.fetch_add(1, Ordering::Relaxed), Arc::new(Turn::default()));
                turn.wait();
                self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(number, turn.clone());
                return Place { number, turn, places: self.clone(), _permit: permit };
            }
        }
    }

    fn make_room(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = open.iter().filter_map(|(number, turn)| Some((turn.waits_since()?, *number)));
        let longest = waiting.min().filter(|(since, _)| since.elapsed() >= self.waits_min);
        if let Some(turn) = longest.and_then(|(_, number)| open.remove(&number)) {
            turn.closes.notify_one();
        }
    }

    /// Waits until every connection has closed.
    pub(super) async fn all_free(&self) {
        let _ = self.free.acquire_many(self.count).await;
    }
}

/// The place of one connection. Dropping it gives it back.
pub(super) struct Place {
    number: u64,
    pub(super) turn: Arc<Turn>,
    places: Arc<Places>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

/// Whose turn it is on a connection: the client's, or the office's.
#[derive(Debug)]
pub(super) struct Turn {
    waits_since: Mutex<Option<Instant>>,
    /// Since when nothing more of a response can be written, because the client does not read.
    unread_since: Mutex<Option<Instant>>,
    closes: Notify,
}

impl Default for Turn {
    fn default() -> Self {
        Self { waits_since: Mutex::new(None), unread_since: Mutex::new(None), closes: Notify::new() }
    }
}

impl Turn {
    /// The office waits for the client.
    fn wait(&self) {
        *self.waits_since.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// The client waits for the office.
    pub(super) fn work(&self) {
        *self.waits_since.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// A part of a response could be written, or could not.
    pub(super) fn writes(&self, could: bool) {
        let mut unread_since = self.unread_since.lock().unwrap_or_else(PoisonError::into_inner);
        *unread_since = if could { None } else { unread_since.or_else(|| Some(Instant::now())) };
    }

    fn waits_since(&self) -> Option<Instant> {
        let unread_since = *self.unread_since.lock().unwrap_or_else(PoisonError::into_inner);
        let waits_since = *self.waits_since.lock().unwrap_or_else(PoisonError::into_inner);
        unread_since.into_iter().chain(waits_since).min()
    }

    /// Waits until this connection has to make room.
    pub(super) async fn makes_room(&self) {
        self.closes.notified().await;
    }
}

/// Answers the requests of one connection, and notes whose turn it is.
pub(super) struct Answering<S> {
    pub(super) service: TowerToHyperService<S>,
    pub(super) turn: Arc<Turn>,
}

impl<S> Service<Request<Incoming>> for Answering<S>
where
    TowerToHyperService<S>: Service<Request<Incoming>, Response = Response>,
    <TowerToHyperService<S> as Service<Request<Incoming>>>::Future: Send + 'static,
{
    type Response = Response;
    type Error = <TowerToHyperService<S> as Service<Request<Incoming>>>::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        if request.body().is_end_stream() {
            self.turn.work();
        } else {
            // It is the client's turn until its body has arrived.
            request.extensions_mut().insert(self.turn.clone());
        }
        let turn = self.turn.clone();
        let answer = self.service.call(request);
        Box::pin(async move {
            let response = answer.await?;
            turn.work();
            Ok(response.map(|body| Body::new(Leaving { body, turn })))
        })
    }
}

/// The body of a response. Once it is written or dropped, it is the client's turn again.
struct Leaving {
    body: Body,
    turn: Arc<Turn>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.turn.wait();
    }
}

impl hyper::body::Body for Leaving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
