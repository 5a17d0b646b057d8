//! The HTTP server of an office on one machine: API, dashboard and additional routes, on the loopback only.

mod arriving;
mod connections;
mod places;
#[cfg(test)]
mod tests;
mod unread;

pub use connections::{Limits, serve};

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn, map_response};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use office::api::{self, Api};
use office::assets::{self, Files};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket};

use crate::sign_in::{self, Sessions};

/// The port cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another program uses the port.
    #[error(
        "port {0} is in use. Stop the program that uses it, or choose another port with --port (0 takes any free port)"
    )]
    InUse(u16),
    /// Any other reason.
    #[error("cannot listen on port {port} of this machine; choose another port with --port")]
    Other {
        /// The port.
        port: u16,
        /// The error.
        #[source]
        source: io::Error,
    },
}

/// The most bytes of responses that the operating system keeps for a connection whose client does not read. Left to
/// itself, Linux keeps 4 MB for each, up to the memory that it has for all connections of the machine.
const SEND_BYTES_MAX: u32 = 64 * 1024;
/// The most connections that wait to be accepted, as of `TcpListener::bind`.
const BACKLOG: u32 = 1_024;

fn bind(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // As `TcpListener::bind` does: on Windows it would let other programs take the port.
    socket.set_reuseaddr(cfg!(not(windows)))?;
    // Accepted connections inherit it.
    socket.set_send_buffer_size(SEND_BYTES_MAX)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.listen(BACKLOG)
}

/// Listens on the loopback; port 0 takes any free port.
pub async fn listen(port: u16) -> Result<TcpListener, ListenError> {
    bind(port).map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => ListenError::InUse(port),
        _ => ListenError::Other { port, source },
    })
}

/// Returns the whole router: the API with its sign-in, `more`, and the dashboard for every other path.
pub fn router(api: Api, sessions: Arc<Sessions>, more: Router, dashboard: Files) -> Router {
    let mut endpoints = api::endpoints();
    endpoints.extend(sign_in::endpoints());
    Router::new()
        .merge(api::router(api, &endpoints).layer(Extension(sessions)))
        .merge(more)
        .fallback_service(assets::router(dashboard))
        .layer(map_response(assets::secure))
        .layer(from_fn(loopback_only))
}

/// Returns every endpoint of an office on one machine, for its OpenAPI document.
pub fn endpoints() -> Vec<api::Endpoint> {
    api::endpoints().into_iter().chain(sign_in::endpoints()).collect()
}

/// Refuses requests whose Host header names another host. Otherwise a web page could point its own domain at this machine
/// (DNS rebinding) and reach an office that trusts everyone who can reach it.
async fn loopback_only(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(
        host,
        |(name, port)| {
            if port.bytes().all(|b| b.is_ascii_digit()) { name } else { host }
        },
    );
    if matches!(name, "127.0.0.1" | "localhost" | "[::1]") {
        return next.run(request).await;
    }
    (StatusCode::MISDIRECTED_REQUEST, "This office accepts requests to 127.0.0.1 and localhost only.\n").into_response()
}
