//! The server over real connections: what slow, idle and leaving clients get, and what a connection costs.

use super::connections::{Limits, serve};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::handler::Handler;
use axum::routing::{get, post};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The limit under test, where one is: short, because the test waits for it.
const SHORT: Duration = Duration::from_millis(50);
/// Every other limit, and the deadline of each wait.
const LONG: Duration = Duration::from_secs(60);
const KIB: usize = 1024;
const GET: &str = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

fn limits() -> Limits {
    Limits {
        connections_max: 8,
        waits_min: LONG,
        large_bodies_max: 8,
        head_max: LONG,
        body_max: LONG,
        unread_max: LONG,
    }
}

struct Running {
    address: SocketAddr,
    close: watch::Sender<bool>,
    server: JoinHandle<()>,
}

async fn start(router: Router, limits: Limits) -> Running {
    let listener = super::listen(0).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (close, shutdown) = watch::channel(false);
    Running { address, close, server: tokio::spawn(serve(listener, router, limits, shutdown)) }
}

/// A server that answers `GET /` with "hello" and `POST /` with the length of the body.
async fn greeter(limits: Limits) -> Running {
    let length = |body: Bytes| async move { body.len().to_string() };
    start(Router::new().route("/", get(async || "hello").merge(post(length))), limits).await
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Connects and sends this, without waiting for a response.
    async fn sending(&self, text: &str) -> TcpStream {
        let mut stream = self.connect().await;
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }
}

/// Reads until the body "hello" has arrived.
async fn greeted(stream: &mut TcpStream) {
    let mut text = Vec::new();
    while !text.ends_with(b"hello") {
        let more = timeout(LONG, stream.read_buf(&mut text)).await.expect("an answer in time").expect("an answer");
        assert!(more > 0, "closed after {}", String::from_utf8_lossy(&text));
    }
}

/// Reads until the server closes the connection.
async fn until_closed(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let read = timeout(LONG, stream.read_to_end(&mut text)).await.expect("the server closes the connection");
    assert!(read.is_ok() || read.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionReset));
    String::from_utf8_lossy(&text).into_owned()
}

#[tokio::test]
async fn a_request_whose_head_does_not_arrive_is_closed() {
    let running = greeter(Limits { head_max: SHORT, ..limits() }).await;
    for half in ["", "GET / HT", "GET / HTTP/1.1\r\nhost: loc", "GET / HTTP/1.1\r\nhost: localhost\r\n"] {
        assert_eq!(until_closed(&mut running.sending(half).await).await, "", "{half:?}");
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let running = greeter(Limits { head_max: SHORT, ..limits() }).await;
    let mut stream = running.sending(GET).await;
    assert!(until_closed(&mut stream).await.ends_with("hello"));
}

#[tokio::test]
async fn a_request_whose_body_does_not_arrive_is_refused_and_closed() {
    let running = greeter(Limits { body_max: SHORT, ..limits() }).await;
    let mut stream = running.sending("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n12345").await;
    let text = until_closed(&mut stream).await;
    assert!(text.starts_with("HTTP/1.1 400") && text.contains("did not arrive within 50 ms"), "{text}");
    // A body that arrives is read.
    let mut whole = running.sending("POST / HTTP/1.1\r\nconnection: close\r\ncontent-length: 3\r\n\r\n123").await;
    assert!(until_closed(&mut whole).await.ends_with("\r\n\r\n3"));
}

#[tokio::test]
async fn a_client_that_does_not_read_its_response_is_disconnected() {
    // More than the kernel buffers.
    let large = || async { vec![b'x'; 64 * 1024 * 1024] };
    let router = Router::new().route("/large", get(large)).route("/", get(async || "hello"));
    let running = start(router, Limits { connections_max: 1, unread_max: SHORT, ..limits() }).await;
    let stalled = running.sending(&GET.replace("/ ", "/large ")).await;
    // The only place becomes free although the client keeps its end open.
    greeted(&mut running.sending(GET).await).await;
    drop(stalled);
}

/// An endless response that counts how often it was asked for more.
struct Endless(Arc<AtomicUsize>);

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, Self::Error>>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Some(Ok(hyper::body::Frame::data(Bytes::from(vec![b'x'; KIB])))))
    }
}

#[tokio::test]
async fn an_unread_response_takes_little_of_the_machines_memory() {
    let kib = Arc::new(AtomicUsize::new(0));
    let counted = kib.clone();
    let router = Router::new().route("/", get(async move || Body::new(Endless(counted.clone()))));
    let running = start(router, Limits { connections_max: 1, unread_max: SHORT, ..limits() }).await;
    let stalled = running.sending(GET).await;
    // Its place becomes free once nothing more fits.
    let mut other = running.sending("GET /none HTTP/1.1\r\nconnection: close\r\n\r\n").await;
    assert!(until_closed(&mut other).await.starts_with("HTTP/1.1 404"));
    // What the client's own side keeps is in it: 128 KiB until it reads.
    let kib = kib.load(Ordering::Relaxed);
    assert!((64..512).contains(&kib), "{kib} KiB");
    drop(stalled);
}

#[tokio::test]
async fn connections_above_the_limit_wait_until_one_closes() {
    let running = greeter(Limits { connections_max: 2, ..limits() }).await;
    let (mut first, mut second) = (running.sending(GET).await, running.sending(GET).await);
    greeted(&mut first).await;
    greeted(&mut second).await;
    let mut third = running.sending(GET).await;
    // The server goes on answering the others, and not the third.
    for _ in 0..20 {
        first.write_all(GET.as_bytes()).await.unwrap();
        greeted(&mut first).await;
    }
    let early = third.try_read(&mut [0; 64]);
    assert!(early.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock), "{early:?}");
    drop(first);
    greeted(&mut third).await;
}

#[tokio::test]
async fn connections_that_the_office_waits_for_make_room_and_one_that_it_works_for_does_not() {
    let (begun, mut begins) = mpsc::unbounded_channel();
    let (finish, finished) = watch::channel(false);
    let slow = async move || {
        let _ = begun.send(());
        let _ = finished.clone().wait_for(|finished| *finished).await;
        "hello"
    };
    let length = |body: Bytes| async move { body.len().to_string() };
    let router = Router::new().route("/slow", get(slow)).route("/", get(async || "hello").merge(post(length)));
    let running = start(router, Limits { connections_max: 4, waits_min: SHORT, ..limits() }).await;
    let mut busy = running.sending(&GET.replace("/ ", "/slow ")).await;
    timeout(LONG, begins.recv()).await.expect("the request begins");
    let idle = running.connect().await;
    let half_head = running.sending("GET / HTTP/1.1\r\nhost: loc").await;
    let half_body = running.sending("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n12345").await;
    let mut kept = Vec::new();
    for _ in 0..3 {
        let mut stream = running.sending(GET).await;
        greeted(&mut stream).await;
        kept.push(stream);
    }
    for mut closed in [idle, half_head, half_body] {
        assert_eq!(until_closed(&mut closed).await, "");
    }
    finish.send(true).unwrap();
    greeted(&mut busy).await;
}

#[tokio::test]
async fn a_response_that_its_client_does_not_read_makes_room() {
    let large = || async { vec![b'x'; 64 * 1024 * 1024] };
    let router = Router::new().route("/large", get(large)).route("/", get(async || "hello"));
    let running = start(router, Limits { connections_max: 1, waits_min: SHORT, ..limits() }).await;
    let stalled = running.sending(&GET.replace("/ ", "/large ")).await;
    greeted(&mut running.sending(GET).await).await;
    drop(stalled);
}

#[tokio::test]
async fn large_bodies_wait_for_each_other_and_small_ones_for_none() {
    let running = greeter(Limits { large_bodies_max: 1, ..limits() }).await;
    let head = |bytes: usize| format!("POST / HTTP/1.1\r\nconnection: close\r\ncontent-length: {bytes}\r\n\r\n");
    let large = "x".repeat(20_000);
    let mut first = running.sending(&format!("{}{}", head(large.len() + 1), large)).await;
    let small = async || {
        for _ in 0..8 {
            let mut stream = running.sending(&format!("{}small", head(5))).await;
            assert!(until_closed(&mut stream).await.ends_with("\r\n\r\n5"));
        }
    };
    small().await;
    let mut second = running.sending(&format!("{}{large}", head(large.len()))).await;
    small().await;
    let early = second.try_read(&mut [0; 64]);
    assert!(early.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock), "{early:?}");
    first.write_all(b"x").await.unwrap();
    assert!(until_closed(&mut first).await.ends_with("20001"));
    assert!(until_closed(&mut second).await.ends_with("20000"));
}

/// A handler that counts its copies.
#[derive(Default)]
struct Copied(Arc<AtomicUsize>);

impl Clone for Copied {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::Relaxed);
        Self(self.0.clone())
    }
}

#[tokio::test]
async fn a_connection_copies_no_handler() {
    const CONNECTIONS: usize = 8;
    let copied = Copied::default();
    let copies = copied.0.clone();
    let handler = async |State(_): State<Copied>| "never called";
    let router = Router::new().route_service("/other", handler.with_state(copied)).route("/", get(async || "hello"));
    let running = start(router, limits()).await;
    let mut first = running.sending(GET).await;
    greeted(&mut first).await;
    let before = copies.load(Ordering::Relaxed);
    let mut open = Vec::new();
    for _ in 1..CONNECTIONS {
        let mut stream = running.sending(GET).await;
        greeted(&mut stream).await;
        open.push(stream);
    }
    assert_eq!(copies.load(Ordering::Relaxed), before);
}

/// Reports that it was dropped.
struct Dropped(mpsc::UnboundedSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

#[tokio::test]
async fn a_handler_ends_when_its_client_goes_away() {
    let (report, mut reports) = mpsc::unbounded_channel();
    let handler = async move || {
        let _ = report.send("started");
        let _dropped = Dropped(report.clone());
        std::future::pending::<()>().await;
    };
    let running = start(Router::new().route("/", get(handler)), limits()).await;
    let stream = running.sending(GET).await;
    assert_eq!(timeout(LONG, reports.recv()).await.expect("in time"), Some("started"));
    drop(stream);
    assert_eq!(timeout(LONG, reports.recv()).await.expect("in time"), Some("dropped"));
}

#[tokio::test]
async fn shutdown_waits_for_requests_and_not_for_idle_connections() {
    let (begun, mut begins) = mpsc::unbounded_channel();
    let (finish, finished) = watch::channel(false);
    let handler = async move || {
        let _ = begun.send(());
        let _ = finished.clone().wait_for(|finished| *finished).await;
        "hello"
    };
    let running = start(Router::new().route("/", get(handler)), limits()).await;
    let idle = running.connect().await;
    let mut busy = running.sending(GET).await;
    timeout(LONG, begins.recv()).await.expect("the request begins");
    running.close.send(true).unwrap();
    finish.send(true).unwrap();
    greeted(&mut busy).await;
    timeout(LONG, running.server).await.expect("the server ends").unwrap();
    drop(idle);
}
