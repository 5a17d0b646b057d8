//! Hosts, their ports, and the queries of addresses.

use super::shapes::is_name;
use alloc::string::String;

/// Whether a text can be the name of a host.
pub fn is_host(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-'))
}

/// Splits `10.0.0.7:5432`, `db.internal:5432`; `None` for a file and its line. The word before may announce a host.
pub fn host_and_port<'a>(core: &'a str, before: &str) -> Option<(&'a str, &'a str)> {
    #[rustfmt::skip]
    const CODE: &[&str] = &["java", "kt", "go", "rs", "py", "rb", "js", "ts", "php", "cs", "cpp", "cc", "c", "h", "scala", "ex", "mjs", "tsx"];
    const TOPS: &[&str] = &["internal", "local", "com", "net", "org", "io", "example", "svc", "dev", "cloud"];
    let (host, port) = core.rsplit_once(':')?;
    let numbers = host.split('.').count() == 4 && host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let last = host.rsplit('.').next().unwrap_or(host);
    let named = is_host(host) && !CODE.contains(&last) && (TOPS.contains(&last) || host.matches('.').count() >= 2);
    // `connection to stock:80`
    let announced = matches!(before, "to" | "host" | "server" | "endpoint" | "broker" | "address");
    (numbers || named || host == "localhost" || (announced && is_host(host))).then_some((host, port))
}

/// The keys of an address's query that count.
const QUERY_KEYS_MAX: usize = 8;

/// Returns the keys of a query: `?page&cursor`. Its values are data.
pub fn query_keys(query: &str) -> String {
    let mut out = String::new();
    let keys = query.split('&').filter_map(|pair| pair.split('=').next()).filter(|key| is_name(key));
    for (at, key) in keys.take(QUERY_KEYS_MAX).enumerate() {
        out.push(if at == 0 { '?' } else { '&' });
        out.push_str(key);
    }
    out
}
