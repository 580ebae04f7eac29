//! The binary: parses the arguments, runs the command and returns its exit code.

/// Every request makes many small allocations; mimalloc is faster at them than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    keymeter::cli::run()
}
