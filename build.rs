//! Rebuilds the crate when what the binary contains changes: the migrations and, in a release, the dashboard.

use std::env;
use std::path::Path;

#[expect(clippy::disallowed_methods, reason = "Cargo tells a build script its profile in the environment")]
fn main() {
    println!("cargo:rerun-if-changed=migrations");
    // A debug build reads the dashboard when it starts.
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        // A path that does not exist would rebuild the crate each time.
        let built = Path::new("dashboard/dist").exists();
        println!("cargo:rerun-if-changed={}", if built { "dashboard/dist" } else { "dashboard" });
    }
}
