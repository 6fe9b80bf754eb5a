//! Running other programs, and where the workspace is.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies one level below the root").to_owned()
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// Runs `program` with `args` in the workspace root with inherited output; an error names the command that
/// failed.
pub(crate) fn run(program: &str, args: &[&str]) -> Result<(), String> {
    run_with(program, args, &[])
}

/// As [`run`], with further environment variables.
pub(crate) fn run_with(program: &str, args: &[&str], variables: &[(&str, &Path)]) -> Result<(), String> {
    let shown = format!("{program} {}", args.join(" "));
    println!("== {shown}");
    let begun = Instant::now();
    let status = Command::new(program)
        .args(args)
        .envs(variables.iter().copied())
        .current_dir(root())
        .status()
        .map_err(|e| format!("cannot run {program}: {e}"))?;
    println!("== {:.1} s", begun.elapsed().as_secs_f64());
    if status.success() { Ok(()) } else { Err(format!("failed: {shown}")) }
}

/// Builds the release server and the tools for it, and runs `tool` with the server's path and `options`.
pub(crate) fn run_on_server(tool: &str, options: &[&str]) -> Result<(), String> {
    run("cargo", &["build", "--quiet", "--release", "--package=server", "--package=testkit", "--bins"])?;
    let built = target_dir().join("release");
    let path = |name: &str| built.join(name).to_string_lossy().into_owned();
    run(&path(tool), &[&[path("ratchetd").as_str()], options].concat())
}

/// Runs `program` and returns its standard output.
pub(crate) fn output(program: &str, args: &[&str]) -> Result<String, String> {
    let out = Command::new(program)
        .args(args)
        .current_dir(root())
        .output()
        .map_err(|e| format!("cannot run {program}: {e}"))?;
    if !out.status.success() {
        return Err(format!(
            "failed: {program} {}\n{}",
            args.join(" "),
            String::from_utf8_lossy(&out.stderr)
        ));
    }
    String::from_utf8(out.stdout).map_err(|e| format!("{program}: {e}"))
}

/// Removes a folder, if there is one, with all that is in it.
pub(crate) fn remove(folder: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(format!("{}: {e}", folder.display())),
        _ => Ok(()),
    }
}

/// An empty folder at `path`.
pub(crate) fn fresh(path: &Path) -> Result<PathBuf, String> {
    remove(path)?;
    std::fs::create_dir_all(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path.to_owned())
}
