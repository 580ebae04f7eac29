//! The program `keymeter-envoy`, as an operator starts it. `tests/it/envoy_processor.rs` of the project has it behind
//! Envoy.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::process::{Command, Output};

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_keymeter-envoy")).args(arguments).env_clear().output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn what_is_misspelt_or_missing_is_named_before_it_listens() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[envoy]\nttl_second = 7\n").unwrap();
    let config = format!("--config={}", file.path().display());
    for (arguments, says) in [
        (&[][..], "`keymeter gateway create NAME` prints a credential"),
        (&["--credential-file=/nowhere"], "cannot read /nowhere"),
        (&["--on-silence=keep"], "charge, release"),
        (&[&config], "[envoy] has an unknown member `ttl_second`"),
        (&["check", "/nowhere"], "cannot read /nowhere"),
        (&["check", "http://127.0.0.1:1"], "cannot read http://127.0.0.1:1/config_dump"),
    ] {
        let output = program(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(said(&output).contains(says), "{arguments:?}: {}", said(&output));
    }
}

#[test]
fn a_configuration_that_cannot_be_read_is_not_found_good() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for (text, says) in [("{}", "it has no listener"), ("not JSON", "has no config_dump")] {
        std::fs::write(file.path(), text).unwrap();
        let output = program(&["check", file.path().to_str().unwrap()]);
        assert!(!output.status.success() && said(&output).contains(says), "{}", said(&output));
    }
}
