//! Fuzzes `dlo_fuzz::template`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dlo_fuzz::template(data));
