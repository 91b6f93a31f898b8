//! `ambit_tests::fuzz::endpoint`, as a target of cargo fuzz.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| drop(ambit_tests::fuzz::endpoint(data)));
