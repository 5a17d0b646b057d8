//! Connections over HTTP/1, with and without TLS.

use crate::settings::QueueUrl;
use http_body_util::{BodyExt, Empty, Full, Limited};
use hyper::body::{Body, Bytes};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::sync::{Arc, LazyLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The longest answer that is read, bytes: SQS answers a batch of ten with about 3 kB.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Made when the first report is sent: most functions never need it.
static TLS: LazyLock<Option<TlsConnector>> = LazyLock::new(|| {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
    Some(TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth())))
});

/// Connects to a queue's endpoint.
pub async fn connect(url: &QueueUrl) -> io::Result<SendRequest<Full<Bytes>>> {
    let tcp = TcpStream::connect((url.host.as_str(), url.port)).await?;
    tcp.set_nodelay(true)?;
    if !url.is_tls {
        return handshake(tcp).await;
    }
    let tls = TLS.as_ref().ok_or_else(|| io::Error::other("TLS is not available"))?;
    let name = ServerName::try_from(url.host.clone()).map_err(io::Error::other)?;
    handshake(tls.connect(name, tcp).await?).await
}

/// Speaks HTTP on a stream. The connection ends with the last sender.
pub async fn handshake<S, B>(stream: S) -> io::Result<SendRequest<B>>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // Runtimes may compare the names of headers letter by letter.
    let mut builder = http1::Builder::new();
    builder.preserve_header_case(true);
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(sender)
}

/// Reads an answer up to [`ANSWER_BYTES_MAX`].
pub async fn read<B>(body: B) -> Option<Bytes>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    Limited::new(body, ANSWER_BYTES_MAX).collect().await.ok().map(http_body_util::Collected::to_bytes)
}

/// Gets a document from an address of this machine.
pub async fn get(url: &QueueUrl, authorization: Option<&str>) -> Option<Bytes> {
    let tcp = TcpStream::connect((url.host.as_str(), url.port)).await.ok()?;
    let mut sender = handshake(tcp).await.ok()?;
    let (_, path) = url.url.split_once("://")?.1.split_once('/')?;
    let mut request = Request::get(format!("/{path}")).header(header::HOST, url.authority());
    if let Some(authorization) = authorization {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    let answer = sender.send_request(request.body(Empty::<Bytes>::new()).ok()?).await.ok()?;
    if answer.status().is_success() { read(answer.into_body()).await } else { None }
}
