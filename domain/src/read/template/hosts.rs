//! Hosts, their ports, and the queries of addresses.

use super::shapes::{self, is_name};
use super::{MASK, Scanner, codes, labels, parts, paths};
use crate::text::split_last;
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
    let (host, port) = split_last(core, b':')?;
    let numbers = host.split('.').count() == 4 && host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let last = host.rsplit('.').next().unwrap_or(host);
    let named = is_host(host) && !CODE.contains(&last) && (TOPS.contains(&last) || host.matches('.').count() >= 2);
    // `connection to stock:80`
    let announced = matches!(before, "to" | "host" | "server" | "endpoint" | "broker" | "address");
    (numbers || named || host == "localhost" || (announced && is_host(host))).then_some((host, port))
}

impl Scanner<'_> {
    /// An address: scheme, host and the words of its path stay; variable parts are masked.
    pub(super) fn url(&mut self, scheme: usize) {
        let rest = self.rest();
        let end = rest.find(|c: char| {
            c.is_whitespace() || shapes::is_quote(c) || matches!(c, '<' | '>' | '|' | ')' | '}' | ']') && c != '\''
        });
        let url = rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', ',', ';', ':', '!', '…']);
        self.at += url.len();
        if let Some((key, _)) = url[..scheme].split_once('=').filter(|(key, _)| labels::is_own_end(key)) {
            self.out.word(key);
            self.out.punctuation('=');
            return self.out.mask();
        }
        let whole = &url[scheme + 3..];
        let located = whole.split('#').next().unwrap_or(whole);
        let (plain, query) = located.split_once('?').unwrap_or((located, ""));
        let (authority, path) = plain.split_at(plain.find('/').unwrap_or(plain.len()));
        let host = authority.rsplit('@').next().unwrap_or(authority);
        // The scheme is a name even if it contains a digit: `s3`.
        let mut masked = String::from(&url[..scheme + 3]);
        let port = host.rsplit_once(':').filter(|(_, port)| codes::is_service_port(port));
        masked.push_str(&parts::mask_parts(port.map_or(host, |(name, _)| name)));
        if let Some((_, port)) = port {
            masked.push(':');
            masked.push_str(port);
        }
        // The name of a document is data in an address, too.
        let document = path.rfind('/').filter(|_| paths::is_document(path));
        let path = document.map_or_else(|| parts::mask_parts(path), |at| parts::mask_parts(&path[..at]) + "/*");
        // The key of a stored object is a file's path, not a route.
        let is_stored = paths::is_store(&url[..scheme]);
        let has_ending = url.rsplit('/').next().is_some_and(|name| name.contains('.'));
        let blanks = if is_stored && !has_ending { self.rest_of_name(true) } else { None };
        self.at += blanks.unwrap_or(0);
        let is_key = is_stored && (path.contains(MASK) || blanks.is_some());
        masked.push_str(if is_key { "/*" } else { &path });
        if let Some(bucket) = paths::bucket(host, &path).filter(|_| !is_key && path.contains(MASK)) {
            masked.truncate(masked.len() - path.len() + bucket);
            masked.push_str("/*");
        }
        masked.push_str(&query_keys(query));
        self.out.word(&masked);
    }
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
