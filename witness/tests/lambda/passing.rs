//! The proxy passes on every byte: unknown endpoints, headers, chunks and trailers.

use crate::service::PATIENCE;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use witness::extension::Witness;
use witness::outbox::Outbox;
use witness::proxy::Proxy;
use witness::settings::Settings;

/// Sends a request through the proxy to an upstream that answers with these bytes. Returns what either received.
async fn exchange(request: &str, answer: &'static str) -> (String, String) {
    let upstream = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = upstream.local_addr().expect("an address").to_string();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let proxy = listener.local_addr().expect("an address");
    let settings =
        Settings::read(|name| (name == "AWS_LAMBDA_RUNTIME_API").then(|| address.clone())).expect("settings");
    let watch = Arc::clone(&Witness::new(settings).watch);
    tokio::spawn(Proxy::new(address, watch).serve(listener));
    let upstream = tokio::spawn(async move {
        let (mut stream, _) = upstream.accept().await.expect("a connection");
        let received = until_end(&mut stream).await;
        stream.write_all(answer.as_bytes()).await.expect("it is read");
        received
    });
    let mut stream = TcpStream::connect(proxy).await.expect("the proxy");
    stream.write_all(request.as_bytes()).await.expect("it is read");
    let answered = until_end(&mut stream).await;
    (upstream.await.expect("it ends"), answered)
}

/// Reads until the mark that every test puts at the end.
async fn until_end(stream: &mut TcpStream) -> String {
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    let read = async {
        loop {
            let read = stream.read(&mut buffer).await.expect("bytes");
            received.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&received).into_owned();
            if read == 0 || text.contains("THE-END") {
                return text;
            }
        }
    };
    timeout(PATIENCE, read).await.expect("the end")
}

#[tokio::test]
async fn unknown_endpoints_and_headers_pass_in_the_letters_in_which_they_came() {
    let request = "PUT /2031-01-01/something/new?a=%20b HTTP/1.1\r\nHost: proxy\r\nLambda-Runtime-Invocation-Id: 7\r\n\
                   x-lower: a\r\nX-UPPER: b\r\nContent-Length: 7\r\n\r\nTHE-END";
    let answer = "HTTP/1.1 418 I'm a teapot\r\nLambda-Runtime-New: ü\r\nX-UPPER: c\r\nContent-Length: 7\r\n\r\nTHE-END";
    let (received, answered) = exchange(request, answer).await;
    assert!(received.starts_with("PUT /2031-01-01/something/new?a=%20b HTTP/1.1\r\n"), "{received}");
    for header in ["Lambda-Runtime-Invocation-Id: 7\r\n", "x-lower: a\r\n", "X-UPPER: b\r\n"] {
        assert!(received.contains(header), "{received}");
    }
    assert!(answered.starts_with("HTTP/1.1 418 "), "{answered}");
    for header in ["Lambda-Runtime-New: ü\r\n", "X-UPPER: c\r\n"] {
        assert!(answered.contains(header), "{answered}");
    }
}

#[tokio::test]
async fn a_streamed_response_passes_with_its_trailers() {
    let request = "POST /2018-06-01/runtime/invocation/r-1/response HTTP/1.1\r\nHost: proxy\r\n\
                   Lambda-Runtime-Function-Response-Mode: streaming\r\nTransfer-Encoding: chunked\r\n\
                   Trailer: Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body\r\n\r\n\
                   5\r\nfirst\r\n6\r\nsecond\r\n0\r\nLambda-Runtime-Function-Error-Type: Runtime.Broken\r\n\
                   Lambda-Runtime-Function-Error-Body: THE-END\r\n\r\n";
    let (received, _) = exchange(request, "HTTP/1.1 202 Accepted\r\nContent-Length: 7\r\n\r\nTHE-END").await;
    let lower = received.to_lowercase();
    for part in ["first", "second", "lambda-runtime-function-error-type: runtime.broken", "transfer-encoding: chunked"]
    {
        assert!(lower.contains(part), "{part} in {received}");
    }
}

#[tokio::test]
async fn an_upstream_that_is_gone_is_gone_for_the_runtime_too() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let proxy = listener.local_addr().expect("an address");
    let settings = Settings::read(|_| Some("127.0.0.1:1".to_owned())).expect("settings");
    let watch = witness::watch::Watch::new(settings, Outbox::new(None), Arc::default());
    tokio::spawn(Proxy::new("127.0.0.1:1".into(), watch).serve(listener));
    let mut stream = TcpStream::connect(proxy).await.expect("the proxy");
    stream.write_all(b"GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: p\r\n\r\n").await.expect("sent");
    assert_eq!(until_end(&mut stream).await, "");
}
