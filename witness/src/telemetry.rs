//! Receives what Lambda's Telemetry API delivers.

use crate::logs::Logs;
use crate::proxy::ACCEPT_PAUSE;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::net::TcpListener;

/// The longest delivery that is read, bytes: twice what the subscription asks for.
const DELIVERY_BYTES_MAX: usize = 1024 * 1024;

/// Starts to receive. Returns the address that Lambda is told, or `None` if no port is free.
pub async fn receive(logs: Arc<Logs>) -> Option<String> {
    // Lambda does not deliver to the loopback interface (Lambda developer guide, "Telemetry API").
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await.ok()?;
    let port = listener.local_addr().ok()?.port();
    tokio::spawn(serve(listener, logs));
    Some(format!("http://sandbox.localdomain:{port}/"))
}

async fn serve(listener: TcpListener, logs: Arc<Logs>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let logs = Arc::clone(&logs);
        tokio::spawn(async move {
            let service = service_fn(|request: Request<Incoming>| {
                let logs = Arc::clone(&logs);
                async move {
                    if let Ok(body) = Limited::new(request.into_body(), DELIVERY_BYTES_MAX).collect().await {
                        let _ = catch_unwind(AssertUnwindSafe(|| logs.take(&body.to_bytes())));
                    }
                    Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
                }
            });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
