//! Deserialization of enums with their tag next to their fields (`{"state": "paused", "replay": …}`).
//!
//! The code that serde derives for them buffers the value and parses it once per variant. The dashboard downloads that
//! code, and it was a tenth of the whole. So large enums are deserialized by hand: one struct with every field that a
//! variant may carry, then the variant by its tag. Serialization is still derived; tests verify the round trip.

use serde::de::Error;

/// Returns a field that this variant requires, or an error that names it.
pub fn need<T, E: Error>(value: Option<T>, name: &'static str) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(name))
}
