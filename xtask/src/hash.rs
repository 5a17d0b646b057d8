//! FNV-1a, 64 bits: names for file contents. Stable across Rust versions, unlike the standard hasher.

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

#[derive(Clone, Copy)]
pub struct Fnv(u64);

impl Fnv {
    pub fn new() -> Fnv {
        Fnv(OFFSET)
    }

    pub fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
    }

    pub fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

pub fn hex(bytes: &[u8]) -> String {
    let mut fnv = Fnv::new();
    fnv.add(bytes);
    fnv.hex()
}

#[cfg(test)]
mod tests {
    #[test]
    fn equals_the_published_vectors() {
        assert_eq!(super::hex(b""), "cbf29ce484222325");
        assert_eq!(super::hex(b"a"), "af63dc4c8601ec8c");
        assert_eq!(super::hex(b"foobar"), "85944171f73967e8");
    }
}
