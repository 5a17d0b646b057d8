//! How many exchanges with the issuer are under way at a time. Anybody may ask for one.

use tokio::sync::{Semaphore, SemaphorePermit};

/// The most exchanges of codes at a time, and as many of refresh tokens. Each may wait for the issuer as long as
/// [`REQUEST_TIME_MAX`](super::documents::REQUEST_TIME_MAX). On Lambda an instance has one call at a time; there, the
/// parameter ApiConcurrency limits them.
pub(super) const EXCHANGES_MAX: usize = 16;

/// What is exchanged for tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    /// The code of a sign-in. Anybody may send one.
    Code,
    /// A refresh token. Only who has a token of the office may send one, so strangers do not take the places of renewals.
    Refresh,
}

/// The places for exchanges.
pub(super) struct Exchanges {
    codes: Semaphore,
    refreshes: Semaphore,
}

impl Default for Exchanges {
    fn default() -> Self {
        let [codes, refreshes] = [EXCHANGES_MAX; 2].map(Semaphore::new);
        Self { codes, refreshes }
    }
}

impl Exchanges {
    /// Returns a place, which is free again when it is dropped, or `None` if all are taken.
    pub(super) fn place(&self, grant: Grant) -> Option<SemaphorePermit<'_>> {
        let places = match grant {
            Grant::Code => &self.codes,
            Grant::Refresh => &self.refreshes,
        };
        places.try_acquire().ok()
    }
}
