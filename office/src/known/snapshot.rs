//! The form in which a snapshot is stored: JSON, packed with gzip.

use super::{Known, KnownVariant};
use crate::port::ChangePoint;
use domain::time::Timestamp;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::sync::{Arc, OnceLock};

/// The version of the form. A process ignores snapshots of another one, and reads everything.
const FORM: u32 = 1;
/// The longest snapshot, unpacked, bytes: a hundred thousand groups. What claims to be longer is damaged.
const BYTES_MAX: u64 = 512 * 1024 * 1024;

#[derive(Serialize)]
struct Packed<'a> {
    form: u32,
    point: ChangePoint,
    read_at: Timestamp,
    variants: Vec<&'a KnownVariant>,
}

#[derive(Deserialize)]
struct Form {
    form: u32,
}

#[derive(Deserialize)]
struct Unpacked {
    point: ChangePoint,
    read_at: Timestamp,
    variants: Vec<KnownVariant>,
}

/// Packs what is known. Returns `None` if it has no JSON form.
pub(super) fn pack(known: &Known) -> Option<Vec<u8>> {
    let packed =
        Packed { form: FORM, point: known.point, read_at: known.read_at, variants: known.variants().collect() };
    let json = serde_json::to_vec(&packed).ok()?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&json).ok()?;
    encoder.finish().ok()
}

/// Unpacks what [`pack`] has packed. Returns `None` if another version has, or if it is damaged.
pub(super) fn unpack(packed: &[u8]) -> Option<Known> {
    let mut json = Vec::new();
    GzDecoder::new(packed).take(BYTES_MAX).read_to_end(&mut json).ok()?;
    let form: Form = serde_json::from_slice(&json).ok()?;
    if form.form != FORM {
        return None;
    }
    let Unpacked { point, read_at, variants } = serde_json::from_slice(&json).ok()?;
    let variants = variants.into_iter().map(|variant| (variant.facts.variant.id.clone(), Arc::new(variant)));
    Some(Known { point, read_at, variants: variants.collect(), groups: OnceLock::new() })
}
