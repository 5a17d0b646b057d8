//! Connections of the HTTP server, each within limits: a client that is idle, slow or gone holds little memory, and only
//! for a while.

use super::arriving;
use super::places::{Answering, Place, Places};
use super::unread::Unread;
use crate::feed::{Shutdown, begun};
use axum::Router;
use axum::extract::Request;
use axum::middleware::map_request;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

/// The most connections at a time. An idle one takes about 15 kB, so all of them take about 30 MiB. A browser opens six.
const CONNECTIONS_MAX: usize = 2_048;
/// How long a connection may be idle, and how long the head of a request may take to arrive. The dashboard asks every few
/// seconds, so its connection stays open.
const HEAD_MAX: Duration = Duration::from_secs(30);
/// How long the body of a request may take to arrive. It has 64 KiB at most, before sign-in 1 KiB.
const BODY_MAX: Duration = Duration::from_secs(30);
/// The most large bodies of requests in memory at a time: 16 MiB. Further ones wait until one has been answered.
const LARGE_BODIES_MAX: usize = 256;
/// How long the office must have waited for a connection before it closes it for another one, when all places are taken.
const WAITS_MIN: Duration = Duration::from_secs(1);
/// How long a client may leave a response unread while it waits to be written.
const UNREAD_MAX: Duration = Duration::from_secs(30);
/// The largest head of a request, bytes, as in Node.js; also what is read from a connection, or written to it, at a time.
/// Browsers send the cookies of every program on `localhost` along.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// The wait after the process has run out of file handles.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The limits of the server's connections.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most connections at a time. A further one takes the place of the one that the office has waited for longest.
    pub connections_max: usize,
    /// How long the office must have waited for a connection before it closes it for another one.
    pub waits_min: Duration,
    /// The most bodies above 4 KiB in memory at a time. Further ones wait.
    pub large_bodies_max: usize,
    /// How long a connection may be idle, and how long the head of a request may take.
    pub head_max: Duration,
    /// How long the body of a request may take.
    pub body_max: Duration,
    /// How long a client may read nothing of a response that waits for it.
    pub unread_max: Duration,
}

impl Default for Limits {
    /// Returns the limits of an office. Connections take half of the process's file handles at most: the store, the queues
    /// and the workers need some, too.
    fn default() -> Self {
        let handles = getrlimit(Resource::Nofile).current.and_then(|most| usize::try_from(most).ok());
        let connections_max = handles.map_or(CONNECTIONS_MAX, |handles| (handles / 2).clamp(1, CONNECTIONS_MAX));
        Self {
            connections_max,
            waits_min: WAITS_MIN,
            large_bodies_max: LARGE_BODIES_MAX,
            head_max: HEAD_MAX,
            body_max: BODY_MAX,
            unread_max: UNREAD_MAX,
        }
    }
}

/// Serves until shutdown; requests in progress are finished.
pub async fn serve(listener: TcpListener, router: Router, limits: Limits, mut shutdown: Shutdown) {
    // Prepares the routes once. `axum::serve` does it for each connection, which copies all of them: 1.2 MB.
    let large = Arc::new(Semaphore::new(limits.large_bodies_max));
    let limited = map_request(move |request: Request| {
        let request = arriving::within(limits.body_max, &large, request);
        async move { request }
    });
    let router = router.layer(limited).with_state::<()>(());
    let service = TowerToHyperService::new(router);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head_max).max_buf_size(HEAD_BYTES_MAX);
    let places = Places::new(limits.connections_max, limits.waits_min);
    let mut was_full = false;
    loop {
        let (stream, place) = tokio::select! {
            accepted = accept(&listener, &places, &mut was_full) => accepted,
            () = begun(&mut shutdown) => break,
        };
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(limits.unread_max));
        let stream = Unread { stream: Box::pin(stream), turn: place.turn.clone() };
        let answering = Answering { service: service.clone(), turn: place.turn.clone() };
        let connection = http.serve_connection(TokioIo::new(stream), answering);
        tokio::spawn(answer(connection, shutdown.clone(), place));
    }
    drop(listener);
    places.all_free().await;
}

/// Waits for a connection, then for a place.
async fn accept(listener: &TcpListener, places: &Arc<Places>, was_full: &mut bool) -> (TcpStream, Place) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, places.take(was_full).await),
            // The client has gone already.
            Err(error) if is_about_the_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "a connection could not be accepted; trying again");
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
}

fn is_about_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

type Stream = TokioIo<Unread<Pin<Box<TimeoutStream<TcpStream>>>>>;

/// Answers the requests of a connection. Dropping the connection drops the handler of its request, so nothing works for a
/// client that went away.
async fn answer(connection: http1::Connection<Stream, Answering<Router>>, mut shutdown: Shutdown, place: Place) {
    let mut connection = pin!(connection);
    // An error means that the client went away, was too slow, or does not speak HTTP. Nothing here needs to know.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = place.turn.makes_room() => return,
        () = begun(&mut shutdown) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
