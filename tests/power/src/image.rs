//! What a disk holds of a file: its synced content, and the changes since.

use crate::{Chance, Survives};

/// A write that survives in part ends at a multiple of this many bytes.
const SECTOR: usize = 512;

pub(crate) struct Image {
    synced: Vec<u8>,
    changes: Vec<Change>,
}

enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Truncate(usize),
}

impl Image {
    pub(crate) fn synced(content: Vec<u8>) -> Self {
        Self { synced: content, changes: Vec::new() }
    }

    pub(crate) fn write(&mut self, at: usize, bytes: &[u8]) {
        self.changes.push(Change::Write { at, bytes: bytes.to_vec() });
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.changes.push(Change::Truncate(length));
    }

    pub(crate) fn sync(&mut self) {
        for change in std::mem::take(&mut self.changes) {
            apply(&mut self.synced, &change, usize::MAX);
        }
    }

    /// Returns the content after a power cut.
    pub(crate) fn survivors(&self, survives: Survives, chance: Chance<'_>) -> Vec<u8> {
        let mut content = self.synced.clone();
        let count = match survives {
            Survives::All | Survives::Any => self.changes.len(),
            Survives::Synced => 0,
            Survives::Prefix => chance(self.changes.len() + 1),
        };
        for change in &self.changes[..count] {
            let length = match (survives, change) {
                (Survives::Any, _) if chance(2) == 0 => continue,
                (Survives::Any, Change::Write { bytes, .. }) if chance(4) == 0 => {
                    SECTOR * chance(bytes.len() / SECTOR + 1)
                }
                _ => usize::MAX,
            };
            apply(&mut content, change, length);
        }
        content
    }
}

/// Applies a change, of a write at most `length` bytes.
fn apply(content: &mut Vec<u8>, change: &Change, length: usize) {
    match change {
        Change::Write { at, bytes } => {
            let bytes = &bytes[..bytes.len().min(length)];
            if content.len() < at + bytes.len() {
                content.resize(at + bytes.len(), 0);
            }
            content[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        Change::Truncate(length) => content.resize(*length, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_synced_content_is_certain() {
        let mut image = Image::synced(b"before".to_vec());
        image.write(0, b"synced, ");
        image.sync();
        image.write(8, b"one, ");
        image.write(13, b"two");
        image.truncate(10);
        let of = |survives, number: usize| image.survivors(survives, &mut |below| number.min(below - 1));
        assert_eq!(of(Survives::Synced, 0), b"synced, ");
        assert_eq!(of(Survives::Prefix, 1), b"synced, one, ");
        assert_eq!(of(Survives::Prefix, 2), b"synced, one, two");
        assert_eq!(of(Survives::All, 0), b"synced, on");
        assert_eq!(of(Survives::Any, 0), b"synced, ");
        assert_eq!(of(Survives::Any, 1), b"synced, on");
    }
}
