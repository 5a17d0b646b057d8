//! Fuzzes `dlo_fuzz::frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dlo_fuzz::frames(data));
