//! What letters only point to.

use async_trait::async_trait;
use domain::read::PayloadLocation;

/// Whether a payload is where a letter points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is.
    There,
    /// It is not.
    Gone,
    /// Nobody could see; of how many letters is said before these words.
    Unknown(&'static str),
}

/// Sees whether payloads are where letters point to. Never fails: who cannot look says why.
#[async_trait]
pub trait Payloads: Send + Sync {
    /// Whether it is there.
    async fn look(&self, place: &PayloadLocation) -> Presence;
}

/// An office that cannot look into S3.
pub struct OutOfSight;

#[async_trait]
impl Payloads for OutOfSight {
    async fn look(&self, _: &PayloadLocation) -> Presence {
        Presence::Unknown("whose payloads in S3 this office cannot see")
    }
}
