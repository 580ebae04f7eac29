//! Rebuilds the crate when a migration changes, because the binary contains the migrations.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
