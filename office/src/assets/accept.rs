//! Chooses the encoding of a file from the client's `Accept-Encoding`.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Brotli,
    Gzip,
    Identity,
}

/// Returns the smallest encoding that the file has and the client accepts. `values` are its `Accept-Encoding` headers.
pub(super) fn best<'a>(values: impl Iterator<Item = &'a str>, has_brotli: bool, has_gzip: bool) -> Encoding {
    let (mut brotli, mut gzip, mut any) = (None, None, None);
    for item in values.flat_map(|value| value.split(',')) {
        let (name, parameters) = item.split_once(';').unwrap_or((item, ""));
        let wanted = Some(!is_refused(parameters));
        match name.trim().to_ascii_lowercase().as_str() {
            "br" => brotli = wanted,
            "gzip" | "x-gzip" => gzip = wanted,
            "*" => any = wanted,
            _ => {}
        }
    }
    let accepts = |named: Option<bool>| named.or(any).unwrap_or(false);
    match () {
        () if has_brotli && accepts(brotli) => Encoding::Brotli,
        () if has_gzip && accepts(gzip) => Encoding::Gzip,
        () => Encoding::Identity,
    }
}

/// Returns whether the weight is zero (`q=0`, `q=0.0`). Other weights do not matter: the smaller encoding serves both.
fn is_refused(parameters: &str) -> bool {
    parameters
        .trim()
        .strip_prefix("q=")
        .is_some_and(|weight| weight.trim().bytes().all(|byte| byte == b'0' || byte == b'.'))
}

#[cfg(test)]
mod tests {
    use super::{Encoding, best};

    #[test]
    fn the_client_decides() {
        for (header, expected) in [
            ("gzip, deflate, br, zstd", Encoding::Brotli),
            ("gzip, deflate", Encoding::Gzip),
            ("br;q=0, gzip;q=0.5", Encoding::Gzip),
            ("br;q=0.000, *;q=0", Encoding::Identity),
            ("GZIP", Encoding::Gzip),
            ("*", Encoding::Brotli),
            ("*, br;q=0", Encoding::Gzip),
            ("identity", Encoding::Identity),
            ("", Encoding::Identity),
            ("brotli, gzipped", Encoding::Identity),
        ] {
            assert_eq!(best([header].into_iter(), true, true), expected, "{header}");
        }
    }

    #[test]
    fn an_encoding_that_the_file_lacks_is_not_sent() {
        assert_eq!(best(["br, gzip"].into_iter(), false, true), Encoding::Gzip);
        assert_eq!(best(["br", "gzip"].into_iter(), false, true), Encoding::Gzip);
        assert_eq!(best(["br, gzip"].into_iter(), false, false), Encoding::Identity);
    }
}
