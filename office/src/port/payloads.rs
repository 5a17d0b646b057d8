//! Payloads in S3 that letters point to.

use async_trait::async_trait;
use domain::read::PayloadLocation;

/// Whether a payload is where a letter points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The payload is there.
    There,
    /// The payload is gone.
    Gone,
    /// It could not be checked. The text says why, and is shown after a number of letters.
    Unknown(&'static str),
}

/// Checks whether payloads are where letters point to. A check never fails: it returns [`Presence::Unknown`].
#[async_trait]
pub trait Payloads: Send + Sync {
    /// Checks one payload.
    async fn check(&self, location: &PayloadLocation) -> Presence;
}

/// The payloads of an office without access to S3: none can be checked.
pub struct NoPayloads;

#[async_trait]
impl Payloads for NoPayloads {
    async fn check(&self, _: &PayloadLocation) -> Presence {
        Presence::Unknown("with payloads in S3 that this office cannot check")
    }
}
