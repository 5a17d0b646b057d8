//! Reading enums that carry their tag beside their fields (`{"state": "paused", "replay": …}`).
//!
//! What serde derives for them buffers a value and reads it once for each variant. The dashboard loads that code over
//! the network, and it was a tenth of all. So the large ones are read by hand: one struct of everything that a variant
//! may carry, then the variant by its tag. They are still written as derived; the tests read back what is written.

use serde::de::Error;

/// What this variant must carry.
pub fn need<T, E: Error>(value: Option<T>, name: &'static str) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(name))
}
