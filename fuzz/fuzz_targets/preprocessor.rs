#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| eggshade_lab::fuzz::preprocessor(data));
