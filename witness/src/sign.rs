//! Signs requests to SQS: AWS Signature Version 4 for a POST to `/` without a query, the only form that is sent here.
//!
//! The SDK's signer brings thirty crates and a third of this program's size. A test signs the same requests with both.

use ring::{digest, hmac};
use std::fmt::Write;

/// The name of the service in a signature.
const SERVICE: &str = "sqs";

/// What a request is signed with.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    /// The access key's id.
    pub id: String,
    /// The secret.
    pub secret: String,
    /// The session token of a role.
    pub token: Option<String>,
}

/// A request as it is signed.
#[derive(Clone, Copy)]
pub struct Signable<'a> {
    /// The header `host`.
    pub host: &'a str,
    /// The header `x-amz-target`.
    pub target: &'a str,
    /// The header `content-type`.
    pub content_type: &'a str,
    /// The body.
    pub body: &'a [u8],
    /// The region of the queue.
    pub region: &'a str,
    /// Seconds since 1970-01-01T00:00:00 UTC.
    pub now_s: u64,
}

/// The headers that a signature adds.
pub struct Signature {
    /// `x-amz-date`.
    pub date: String,
    /// `authorization`.
    pub authorization: String,
}

/// Signs a request.
pub fn sign(request: &Signable<'_>, keys: &Keys) -> Signature {
    let date = basic_format(request.now_s);
    let day = &date[..8];
    let scope = format!("{day}/{}/{SERVICE}/aws4_request", request.region);
    let mut headers = vec![("content-type", request.content_type), ("host", request.host), ("x-amz-date", &date)];
    headers.extend(keys.token.as_deref().map(|token| ("x-amz-security-token", token)));
    headers.push(("x-amz-target", request.target));
    let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let mut canonical = "POST\n/\n\n".to_owned();
    for (name, value) in &headers {
        let _ = writeln!(canonical, "{name}:{}", value.trim());
    }
    let _ = write!(canonical, "\n{names}\n{}", sha256(request.body));
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", sha256(canonical.as_bytes()));
    let mut key = mac(format!("AWS4{}", keys.secret).as_bytes(), day);
    for part in [request.region, SERVICE, "aws4_request"] {
        key = mac(key.as_ref(), part);
    }
    let signature = hex(mac(key.as_ref(), &text).as_ref());
    let authorization =
        format!("AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}", keys.id);
    Signature { date, authorization }
}

fn mac(key: &[u8], text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes())
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    domain::id::to_hex(bytes)
}

/// Returns a time as `20261122T101112Z`.
fn basic_format(now_s: u64) -> String {
    let (days, rest) = (now_s / 86_400, now_s % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Returns the date of a day since 1970-01-01. After Howard Hinnant, "chrono-compatible low-level date algorithms": years
/// begin in March, so that a leap day is a year's last.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let rows = [
            (0, "19700101T000000Z"),
            (951_782_400, "20000229T000000Z"),
            (1_440_938_160, "20150830T123600Z"),
            (1_798_761_599, "20261231T235959Z"),
            (4_107_542_400, "21000301T000000Z"),
        ];
        for (now_s, wanted) in rows {
            assert_eq!(basic_format(now_s), wanted);
        }
    }

    /// Returns the header that the SDK's signer makes.
    fn by_sdk(request: &Signable<'_>, keys: &Keys) -> String {
        use aws_credential_types::Credentials;
        use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
        use aws_sigv4::sign::v4::SigningParams;
        let credentials = Credentials::new(&keys.id, &keys.secret, keys.token.clone(), None, "test");
        let identity = credentials.into();
        let params = SigningParams::builder()
            .identity(&identity)
            .region(request.region)
            .name(SERVICE)
            .time(std::time::UNIX_EPOCH + std::time::Duration::from_secs(request.now_s))
            .settings(SigningSettings::default())
            .build()
            .expect("complete")
            .into();
        let headers =
            [("host", request.host), ("content-type", request.content_type), ("x-amz-target", request.target)];
        let url = format!("https://{}/", request.host);
        let signable =
            SignableRequest::new("POST", url, headers.into_iter(), SignableBody::Bytes(request.body)).expect("valid");
        let (instructions, _) = sign(signable, &params).expect("signed").into_parts();
        let (headers, _) = instructions.into_parts();
        let authorization = headers.iter().find(|header| header.name() == "authorization").expect("signed");
        authorization.value().to_owned()
    }

    #[test]
    fn the_signature_is_the_sdks() {
        let keys = |token: Option<&str>| Keys {
            id: "AKIDEXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            token: token.map(str::to_owned),
        };
        let rows = [
            ("sqs.eu-west-1.amazonaws.com", "eu-west-1", "{}", None),
            ("sqs.us-east-1.amazonaws.com", "us-east-1", "{\"MessageBody\":\"ä \\n\"}", Some("IQoJb3Jp+/=")),
            ("127.0.0.1:4566", "us-east-1", "", Some("t")),
        ];
        for (host, region, body, token) in rows {
            for now_s in [0, 951_782_399, 1_795_341_600] {
                let request = Signable {
                    host,
                    target: "AmazonSQS.SendMessageBatch",
                    content_type: "application/x-amz-json-1.0",
                    body: body.as_bytes(),
                    region,
                    now_s,
                };
                let keys = keys(token);
                assert_eq!(sign(&request, &keys).authorization, by_sdk(&request, &keys), "{host} {body} {now_s}");
            }
        }
    }
}
