//! What the environment says. Only `DLO_REPORTS` is set by people; Lambda sets the rest.

use domain::id::QueueArn;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// The environment variable with the URL of the receipts queue.
pub const REPORTS: &str = "DLO_REPORTS";
/// The environment variable with the ARN of the function's main queue. Only a function needs it whose queue the office's
/// stack does not name, and only for starts that fail: an event names its queue itself.
pub const QUEUE: &str = "DLO_QUEUE";
/// The environment variable with the port of the proxy, for functions that need [`PORT`] themselves.
pub const PORT_VARIABLE: &str = "DLO_WITNESS_PORT";
/// The environment variable with the address of Lambda's Runtime API.
pub const RUNTIME_API: &str = "AWS_LAMBDA_RUNTIME_API";
/// The port of the proxy unless [`PORT_VARIABLE`] names another. Lambda itself uses 9001; samples use 9000 to 9009 and
/// 8080.
pub const PORT: u16 = 9163;

/// What the witness works with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where Lambda's Runtime API is: host and port.
    pub upstream: String,
    /// The port of the proxy.
    pub port: u16,
    /// The receipts queue; `None` if none is named or its URL is wrong.
    pub reports: Option<QueueUrl>,
    /// The main queue, if people named it.
    pub queue: Option<QueueArn>,
    /// The region of the function.
    pub region: Option<String>,
    /// The function's name.
    pub function: String,
    /// The function's version.
    pub version: Option<String>,
    /// The execution environment: Lambda gives each a log stream of its own.
    pub instance: Option<String>,
    /// The log group.
    pub log_group: Option<String>,
    /// The memory that the function may use, MB.
    pub memory_mb: Option<u32>,
    /// Whether one environment runs several invocations at a time (Lambda Managed Instances).
    pub is_concurrent: bool,
}

impl Settings {
    /// Reads the environment. Returns `None` outside of Lambda.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        Some(Self {
            upstream: text(RUNTIME_API)?,
            port: port(&variable),
            reports: text(REPORTS).and_then(|url| url.parse().ok()),
            queue: text(QUEUE).map(|arn| QueueArn::from(arn.trim())),
            region: text("AWS_REGION"),
            function: text("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_default(),
            version: text("AWS_LAMBDA_FUNCTION_VERSION"),
            instance: text("AWS_LAMBDA_LOG_STREAM_NAME"),
            log_group: text("AWS_LAMBDA_LOG_GROUP_NAME"),
            memory_mb: text("AWS_LAMBDA_FUNCTION_MEMORY_SIZE").and_then(|mb| mb.parse().ok()),
            is_concurrent: text("AWS_LAMBDA_MAX_CONCURRENCY").is_some_and(|most| most != "1"),
        })
    }

    /// Reads the environment of this process.
    pub fn of_process() -> Option<Self> {
        Self::read(of_process)
    }

    /// The address that the runtime is given instead of Lambda's.
    pub fn proxy(&self) -> SocketAddr {
        proxy(self.port)
    }
}

/// Reads a variable of this process.
pub fn of_process(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Reads the port of the proxy.
pub fn port(variable: impl Fn(&str) -> Option<String>) -> u16 {
    variable(PORT_VARIABLE).and_then(|port| port.parse().ok()).filter(|port| *port != 0).unwrap_or(PORT)
}

/// Returns the proxy's address.
pub fn proxy(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// The URL of a queue, for example `https://sqs.eu-west-1.amazonaws.com/111122223333/reports`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueUrl {
    /// The URL as given.
    pub url: String,
    /// Whether it is `https`; `http` only on the machine of a test.
    pub is_tls: bool,
    /// The host without the port.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl QueueUrl {
    /// The host as in a request's header: with the port unless it is the scheme's own.
    pub fn authority(&self) -> String {
        let own = if self.is_tls { 443 } else { 80 };
        if self.port == own { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// The region in the host: `sqs.<region>.amazonaws.com`, also with `-fips`, `api.aws` or another partition's domain.
    pub fn region(&self) -> Option<&str> {
        let mut labels = self.host.split('.');
        match (labels.next(), labels.next()) {
            (Some("sqs" | "sqs-fips"), region) => region,
            // A VPC endpoint: vpce-….sqs.<region>.vpce.amazonaws.com.
            (Some(first), Some("sqs")) if first.starts_with("vpce-") => labels.next(),
            (region, Some("queue")) => region,
            _ => None,
        }
        .filter(|region| region.contains('-'))
    }
}

impl FromStr for QueueUrl {
    type Err = ();

    fn from_str(url: &str) -> Result<Self, ()> {
        let (scheme, rest) = url.trim().split_once("://").ok_or(())?;
        let is_tls = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(()),
        };
        let (authority, path) = rest.split_once('/').ok_or(())?;
        let own = if is_tls { 443 } else { 80 };
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| ())?),
            None => (authority, own),
        };
        let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain(host) || !is_plain(path) {
            return Err(());
        }
        Ok(Self { url: url.trim().to_owned(), is_tls, host: host.to_owned(), port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_urls() {
        let check = |url: &str, wanted: Option<(&str, Option<&str>)>| {
            let parsed: Option<QueueUrl> = url.parse().ok();
            let parsed = parsed.as_ref().map(|url| (url.authority(), url.region()));
            assert_eq!(parsed.as_ref().map(|(authority, region)| (authority.as_str(), *region)), wanted, "{url}");
        };
        let region = Some("eu-west-1");
        check("https://sqs.eu-west-1.amazonaws.com/111122223333/r", Some(("sqs.eu-west-1.amazonaws.com", region)));
        check(
            "https://sqs-fips.us-gov-west-1.amazonaws.com/1/r",
            Some(("sqs-fips.us-gov-west-1.amazonaws.com", Some("us-gov-west-1"))),
        );
        check("https://eu-west-1.queue.amazonaws.com/1/r", Some(("eu-west-1.queue.amazonaws.com", region)));
        check(
            "https://vpce-1-a.sqs.eu-west-1.vpce.amazonaws.com/1/r",
            Some(("vpce-1-a.sqs.eu-west-1.vpce.amazonaws.com", region)),
        );
        check("http://127.0.0.1:4566/000000000000/r", Some(("127.0.0.1:4566", None)));
        for wrong in
            ["", "reports", "arn:aws:sqs:eu-west-1:1:r", "ftp://a/b", "https://a", "https:///b", "http://a:x/b"]
        {
            check(wrong, None);
        }
    }

    #[test]
    fn outside_of_lambda_there_are_no_settings() {
        assert!(Settings::read(|_| None).is_none());
        let read = Settings::read(|name| (name == RUNTIME_API).then(|| "127.0.0.1:9001".to_owned())).expect("settings");
        assert_eq!((read.port, read.reports, read.is_concurrent), (PORT, None, false));
        let port_of = |text: &str| port(|_| Some(text.to_owned()));
        assert_eq!(["9200", "0", "70000", ""].map(port_of), [9200, PORT, PORT, PORT]);
    }
}
