//! Status codes of HTTP, gRPC, errno and SMTP. A code that the sources disagree on is unknown.

use super::{P, T, U};
use crate::reading::Category::*;
use crate::reading::{Category, Class};

/// Looks up an HTTP status. Sources: RFC 9110; the retry lists of reqwest-retry, azure-core, google-cloud-storage,
/// botocore. The lists disagree on 409 and 413.
pub fn http(status: u16) -> Option<(Class, Category)> {
    Some(match status {
        408 => (T, Timeout),
        425 => (T, Conflict),
        429 => (T, Throttled),
        409 | 423 => (U, Conflict),
        413 => (U, ResourceLimit),
        499 => (U, Timeout),
        401 | 403 | 407 | 451 | 511 => (P, Auth),
        404 | 410 => (P, MissingReference),
        412 | 428 => (P, Conflict),
        414 | 431 => (P, ResourceLimit),
        402 => (P, BusinessRule),
        405 | 406 | 421 | 426 => (P, Configuration),
        400 | 411 | 415..=417 | 422 | 424 => (P, SchemaViolation),
        418..=420 | 427 | 430 | 432..=450 | 452..=498 => (P, SchemaViolation),
        501 | 505 | 506 | 508 | 510 => (P, Configuration),
        507 => (U, ResourceLimit),
        509 => (T, Throttled),
        504 | 522 | 524 | 598 => (T, Timeout),
        500 | 502 | 503 | 520 | 521 | 523 | 527 | 529 | 530 => (T, DependencyUnavailable),
        525 | 526 => (P, Configuration),
        300..=308 => (P, Configuration),
        _ => return None,
    })
}

/// Looks up a gRPC status by number. Sources: AIP-194, google/rpc/code.proto, google-api-core `if_transient_error`.
/// The sources disagree on UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and INTERNAL.
pub fn grpc(number: usize) -> Option<(Class, Category)> {
    Some(match number {
        1 => (U, Timeout),
        2 => (U, Unknown),
        13 => (U, DependencyUnavailable),
        3 | 9 | 11 => (P, SchemaViolation),
        4 => (U, Timeout),
        5 => (P, MissingReference),
        6 => (P, Duplicate),
        7 | 16 => (P, Auth),
        8 => (U, Throttled),
        10 => (T, Conflict),
        12 => (P, Configuration),
        14 => (T, DependencyUnavailable),
        15 => (P, DependencyUnavailable),
        _ => return None,
    })
}

/// The names of the gRPC statuses by number, in lower case without separators.
pub const GRPC_NAMES: [&str; 17] = [
    "ok",
    "cancelled",
    "unknown",
    "invalidargument",
    "deadlineexceeded",
    "notfound",
    "alreadyexists",
    "permissiondenied",
    "resourceexhausted",
    "failedprecondition",
    "aborted",
    "outofrange",
    "unimplemented",
    "internal",
    "unavailable",
    "dataloss",
    "unauthenticated",
];

/// Returns Node's name of a Linux error number (errno-base.h, errno.h); `None` for numbers that need no distinction.
pub fn errno(number: u16) -> Option<&'static str> {
    Some(match number {
        1 => "EPERM",
        2 => "ENOENT",
        4 => "EINTR",
        5 => "EIO",
        11 => "EAGAIN",
        12 => "ENOMEM",
        13 => "EACCES",
        16 => "EBUSY",
        17 => "EEXIST",
        20 => "ENOTDIR",
        21 => "EISDIR",
        22 => "EINVAL",
        23 => "ENFILE",
        24 => "EMFILE",
        27 => "EFBIG",
        28 => "ENOSPC",
        30 => "EROFS",
        32 | 54 | 103 | 104 | 10053 | 10054 => "ECONNRESET",
        36 => "ENAMETOOLONG",
        39 => "ENOTEMPTY",
        98 => "EADDRINUSE",
        100 => "ENETDOWN",
        101 => "ENETUNREACH",
        110 | 60 | 10060 => "ETIMEDOUT",
        111 | 61 | 10061 => "ECONNREFUSED",
        112 => "EHOSTDOWN",
        113 => "EHOSTUNREACH",
        116 => "ESTALE",
        122 => "EDQUOT",
        _ => return None,
    })
}

/// Looks up an SMTP reply (RFC 5321): 4yz is transient, 5yz is permanent.
pub fn smtp(reply: u16) -> Option<(Class, Category)> {
    Some(match reply {
        421 => (T, DependencyUnavailable),
        452 => (T, ResourceLimit),
        400..=499 => (T, DependencyUnavailable),
        530 | 534 | 535 | 538 => (P, Auth),
        550 | 551 | 553 => (P, MissingReference),
        500..=599 => (P, SchemaViolation),
        _ => return None,
    })
}
