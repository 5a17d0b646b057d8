//! The proxy between the runtime and Lambda's Runtime API.
//!
//! Every request is passed on as it came, with unknown paths and headers, and streamed. Only the bodies that say how an
//! invocation began and ended are looked at, after they have been passed on.

use crate::http;
use crate::tee::Tee;
use crate::watch::{Announced, Watch};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

/// The pause after a connection that could not be accepted.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(10);
/// The header by which a runtime names the type of an error.
const ERROR_TYPE: &str = "lambda-runtime-function-error-type";
/// The path by which the wrapper recognises the proxy.
pub const ALIVE_PATH: &str = "/dlo-witness/alive";

/// The answer to it. It names the API behind the proxy: where environments share a network, each has one of its own.
pub fn alive(upstream: &str) -> String {
    format!("dlo-witness {} for {upstream}\n", env!("CARGO_PKG_VERSION"))
}

/// The longest event that is kept, bytes: Lambda's largest is 6 MB, of which an event source mapping uses all.
const EVENT_BYTES_MAX: usize = 6 * 1024 * 1024 + 100 * 1024;
/// The longest response that is read, bytes: ten thousand failed messages take about 0.6 MB.
const RESPONSE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The longest error that is read, bytes. Lambda itself cuts errors at 256 kB.
const ERROR_BYTES_MAX: usize = 1024 * 1024;
/// The longest headers, bytes: runtimes send the X-Ray cause of an error as a header of up to 1 MiB.
const HEADERS_BYTES_MAX: usize = 4 * 1024 * 1024;

type Answer = Response<UnsyncBoxBody<Bytes, hyper::Error>>;

/// The proxy's ends: Lambda's address and the watch.
pub struct Proxy {
    upstream: String,
    watch: Arc<Watch>,
}

/// What a request is about.
enum Route {
    Alive,
    Next,
    Response(String),
    Error(String),
    InitError,
    Other,
}

impl Proxy {
    /// Returns a proxy of `upstream`, host and port.
    pub fn new(upstream: String, watch: Arc<Watch>) -> Arc<Self> {
        Arc::new(Self { upstream, watch })
    }

    /// Serves connections until the program ends.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                // Out of files, for example: let others end before the next attempt.
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let proxy = Arc::clone(&self);
            tokio::spawn(async move {
                let _ = stream.set_nodelay(true);
                // One connection upstream for each downstream, as if the runtime had called Lambda itself.
                let upstream = Arc::new(Mutex::new(None));
                let service = service_fn(move |request| {
                    let (proxy, upstream) = (Arc::clone(&proxy), Arc::clone(&upstream));
                    async move { proxy.answer(request, &upstream).await }
                });
                let mut server = http1::Builder::new();
                server.preserve_header_case(true).max_buf_size(HEADERS_BYTES_MAX).timer(TokioTimer::new());
                // A runtime may keep a connection for as long as it likes.
                server.header_read_timeout(None);
                let _ = server.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    }

    async fn answer(&self, request: Request<Incoming>, upstream: &Mutex<Option<Upstream>>) -> io::Result<Answer> {
        let route = route_of(&request);
        match route {
            Route::Alive => {
                let body = Full::new(Bytes::from(alive(&self.upstream)));
                return Ok(Response::new(body.map_err(|never| match never {}).boxed_unsync()));
            }
            Route::Next => self.watch.asked().await,
            _ => {}
        }
        let error_type = text_of(request.headers(), ERROR_TYPE);
        let request = self.observed(request, &route);
        let (ended, request) = request;
        let response = self.pass_on(request, upstream).await?;
        let (parts, body) = response.into_parts();
        let body = match (&route, announced(&parts.headers)) {
            (Route::Next, Some(announced)) => {
                let watch = Arc::clone(&self.watch);
                Tee::new(body, EVENT_BYTES_MAX, move |frames| watch.began(announced, &frames))
            }
            _ => Tee::blind(body),
        };
        if let Route::Response(request_id) = &route {
            match take(&ended) {
                frames if parts.status.is_success() => self.watch.responded(request_id, frames.as_deref()),
                _ if parts.status.is_client_error() => self.watch.refused(request_id, parts.status.as_u16()),
                _ => {}
            }
        }
        if let Route::Error(request_id) = &route {
            // A body that was read has ended the invocation already; of a larger one only the header is known.
            self.watch.failed(request_id, &[], error_type.as_deref());
        }
        Ok(Response::from_parts(parts, body.boxed_unsync()))
    }

    /// Looks at the body of a request that ends an invocation. The body of a response is returned in the first part
    /// once it has passed: it counts only if Lambda accepts it.
    fn observed(&self, request: Request<Incoming>, route: &Route) -> (Passed, Request<Tee>) {
        let passed = Passed::default();
        let (mut parts, body) = request.into_parts();
        let error_type = text_of(&parts.headers, ERROR_TYPE);
        let watch = Arc::clone(&self.watch);
        let body = match route {
            Route::Response(id) if watch.follows(id) && !is_streamed(&parts.headers) => {
                let kept = Arc::clone(&passed);
                Tee::new(body, RESPONSE_BYTES_MAX, move |frames| put(&kept, frames))
            }
            Route::Error(id) => {
                let id = id.clone();
                Tee::new(body, ERROR_BYTES_MAX, move |frames| watch.failed(&id, &frames, error_type.as_deref()))
            }
            Route::InitError => {
                Tee::new(body, ERROR_BYTES_MAX, move |frames| watch.init_failed(&frames, error_type.as_deref()))
            }
            _ => Tee::blind(body),
        };
        // These are about a connection, not about a request; and the server has answered the expectation.
        for name in [header::CONNECTION, header::EXPECT] {
            parts.headers.remove(name);
        }
        if let Ok(host) = self.upstream.parse() {
            parts.headers.insert(header::HOST, host);
        }
        (passed, Request::from_parts(parts, body))
    }

    /// Sends a request to Lambda, on the connection of the last one where it still stands.
    async fn pass_on(
        &self,
        mut request: Request<Tee>,
        upstream: &Mutex<Option<Upstream>>,
    ) -> io::Result<Response<Incoming>> {
        let mut upstream = upstream.lock().await;
        if let Some(mut sender) = upstream.take()
            && sender.ready().await.is_ok()
        {
            match sender.try_send_request(request).await {
                Ok(response) => {
                    *upstream = Some(sender);
                    return Ok(response);
                }
                // Not a byte of it was sent: the connection had ended while it was idle.
                Err(mut failed) => match failed.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(io::Error::other(failed.into_error())),
                },
            }
        }
        let stream = TcpStream::connect(&self.upstream).await?;
        stream.set_nodelay(true)?;
        let mut sender = http::handshake(stream).await?;
        let response = sender.send_request(request).await.map_err(io::Error::other)?;
        *upstream = Some(sender);
        Ok(response)
    }
}

type Upstream = SendRequest<Tee>;
/// Where a body is put once all of it has passed.
type Passed = Arc<std::sync::Mutex<Option<Vec<Bytes>>>>;

fn put(passed: &Passed, frames: Vec<Bytes>) {
    *passed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(frames);
}

fn take(passed: &Passed) -> Option<Vec<Bytes>> {
    passed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
}

/// Reads what a request is about. The version in front of the path does not matter.
fn route_of<B>(request: &Request<B>) -> Route {
    let path = request.uri().path();
    if path == ALIVE_PATH {
        return Route::Alive;
    }
    let Some((_, path)) = path.split_once("/runtime/") else { return Route::Other };
    let parts: Vec<&str> = path.split('/').collect();
    match (request.method(), parts.as_slice()) {
        (&Method::GET, ["invocation", "next"]) => Route::Next,
        (&Method::POST, ["invocation", id, "response"]) => Route::Response((*id).to_owned()),
        (&Method::POST, ["invocation", id, "error"]) => Route::Error((*id).to_owned()),
        (&Method::POST, ["init" | "restore", "error"]) => Route::InitError,
        _ => Route::Other,
    }
}

/// Whether a response is streamed: whoever streams does not return failed messages.
fn is_streamed(headers: &HeaderMap) -> bool {
    headers.get("lambda-runtime-function-response-mode").is_some_and(|mode| mode.as_bytes() == b"streaming")
}

fn announced(headers: &HeaderMap) -> Option<Announced> {
    Some(Announced {
        request_id: text_of(headers, "lambda-runtime-aws-request-id")?,
        function: text_of(headers, "lambda-runtime-invoked-function-arn"),
        deadline_ms: text_of(headers, "lambda-runtime-deadline-ms").and_then(|ms| ms.parse().ok()),
    })
}

fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
