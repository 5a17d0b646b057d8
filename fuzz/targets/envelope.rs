//! Fuzzes `dlo_fuzz::envelope`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dlo_fuzz::envelope(data));
