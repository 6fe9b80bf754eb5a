//! `lockstep`: the same statements to an optimised server and to a MySQL that runs already.

use crate::process;

/// Builds server and tool, and runs the tool with `options`.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let build = ["build", "--quiet", "--profile=fast", "--package=server", "--package=testkit", "--bins"];
    process::run("cargo", &build)?;
    let built = process::target_dir().join("fast");
    let path = |name: &str| built.join(name).to_string_lossy().into_owned();
    process::run(&path("lockstep"), &[&[path("ratchetd").as_str()], options].concat())
}
