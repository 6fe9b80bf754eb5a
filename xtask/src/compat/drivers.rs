//! The drivers, and how their programs are made ready and run.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Finding;
use super::logins::{self, Abilities, LIST};
use super::place::Place;
use crate::process::{root, target_dir};

/// Longest time for all logins of a driver, in seconds.
const LOGINS_SECONDS_MAX: &str = "300";

const ALL: Abilities = Abilities { has_sockets: true, has_keys: true, has_versions: true };

/// A driver and its program.
pub(super) struct Driver {
    /// How it is asked for.
    pub(super) name: &'static str,
    /// What must be installed.
    tools: &'static [&'static str],
    can: Abilities,
    /// Fetches and builds in a folder of its own; the program and its arguments.
    make: fn(&Path) -> Result<Vec<String>, String>,
}

/// All of them.
pub(super) const DRIVERS: [Driver; 7] = [
    Driver { name: "pymysql", tools: &["python3"], can: ALL, make: |folder| python(folder, "pymysql") },
    // Connector/Python encrypts no password by a key, nor asks its C library to.
    Driver {
        name: "connector-python",
        tools: &["python3"],
        can: Abilities { has_keys: false, ..ALL },
        make: |folder| python(folder, "connector"),
    },
    Driver {
        name: "connector-python-c",
        tools: &["python3"],
        can: Abilities { has_keys: false, ..ALL },
        make: |folder| python(folder, "connector-c"),
    },
    Driver { name: "mysql2", tools: &["node", "npm"], can: ALL, make: node },
    Driver { name: "go-sql-driver", tools: &["go"], can: ALL, make: go },
    // Java's own library has no sockets that the driver could use.
    Driver {
        name: "connector-j",
        tools: &["java", "mvn"],
        can: Abilities { has_sockets: false, ..ALL },
        make: java,
    },
    Driver {
        name: "mysql_async",
        tools: &["cargo"],
        can: Abilities { has_versions: false, ..ALL },
        make: rust,
    },
];

impl Driver {
    /// Fetches and builds the program.
    pub(super) fn prepare(&self) -> Result<Vec<String>, String> {
        for tool in self.tools {
            let mut asked = Command::new(tool);
            let asked = asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            asked.status().map_err(|error| format!("{tool}: {error}"))?;
        }
        let folder = target_dir().join("compat").join(self.name);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        (self.make)(&folder)
    }

    /// Runs the logins that the driver supports.
    pub(super) fn log_in(&self, program: Vec<String>, place: &Place) -> Result<Vec<Finding>, String> {
        let text = read(&root().join(LIST))?;
        let logins = logins::read(&text, place, self.can)?;
        let lines: String = logins.iter().map(|login| login.line(place)).collect();
        let said = converse(&program, place.port, &lines)?;
        let found = |name: &str| {
            let of_it = |line: &&str| line.split_once(' ').is_some_and(|(_, rest)| is_about(rest, name));
            let answers: Vec<&str> = said.lines().filter(of_it).collect();
            match answers.as_slice() {
                [line] if line.starts_with("ok ") => None,
                [line] => Some((*line).to_owned()),
                lines => Some(format!("{} answers", lines.len())),
            }
        };
        let finding = |name: &str| Finding { name: name.to_owned(), wrong: found(name) };
        Ok(logins.iter().map(|login| finding(login.name)).collect())
    }
}

/// Whether what follows `ok` or `wrong` is about the login `name`.
fn is_about(rest: &str, name: &str) -> bool {
    rest.strip_prefix(name).is_some_and(|after| after.is_empty() || after.starts_with(':'))
}

/// Runs the program, gives it `lines` to read, and returns what it printed.
fn converse(program: &[String], port: u16, lines: &str) -> Result<String, String> {
    let shown = program.join(" ");
    let failed = |error: std::io::Error| format!("{shown}: {error}");
    let mut child = Command::new("timeout")
        .arg(LOGINS_SECONDS_MAX)
        .args(program)
        .arg(port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut stdin = child.stdin.take().ok_or("a child without its standard input")?;
    stdin.write_all(lines.as_bytes()).map_err(failed)?;
    drop(stdin);
    let out = child.wait_with_output().map_err(failed)?;
    if !out.status.success() {
        return Err(format!("{shown}: {}", out.status));
    }
    String::from_utf8(out.stdout).map_err(|error| format!("{shown}: {error}"))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn sources(language: &str) -> PathBuf {
    root().join("tests/clients").join(language)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Runs a step that makes a program ready.
fn step(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

fn python(folder: &Path, driver: &str) -> Result<Vec<String>, String> {
    step(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let interpreter = folder.join("bin/python");
    let requirements = sources("python").join("requirements.txt");
    step(Command::new(&interpreter).args(["-m", "pip", "install", "--quiet", "-r"]).arg(requirements))?;
    Ok(vec![text(&interpreter), text(&sources("python").join("clients.py")), driver.to_owned()])
}

fn node(folder: &Path) -> Result<Vec<String>, String> {
    // The program finds the driver beside itself.
    for name in ["package.json", "package-lock.json", "clients.mjs"] {
        std::fs::copy(sources("node").join(name), folder.join(name))
            .map_err(|error| format!("{name}: {error}"))?;
    }
    step(Command::new("npm").args(["ci", "--silent", "--no-audit", "--no-fund"]).current_dir(folder))?;
    Ok(vec!["node".to_owned(), text(&folder.join("clients.mjs"))])
}

fn go(folder: &Path) -> Result<Vec<String>, String> {
    let program = folder.join("clients");
    step(
        Command::new("go")
            .args(["build", "-mod=readonly", "-o"])
            .arg(&program)
            .arg(".")
            .env("GOTOOLCHAIN", "local")
            .current_dir(sources("go")),
    )?;
    Ok(vec![text(&program)])
}

fn java(folder: &Path) -> Result<Vec<String>, String> {
    let jars = folder.join("jars");
    step(
        Command::new("mvn")
            .args(["--quiet", "--batch-mode", "dependency:copy-dependencies", "--file"])
            .arg(sources("java").join("pom.xml"))
            .arg(format!("-DoutputDirectory={}", jars.display())),
    )?;
    let path = format!("{}/*", jars.display());
    Ok(vec!["java".to_owned(), "-cp".to_owned(), path, text(&sources("java").join("Clients.java"))])
}

fn rust(folder: &Path) -> Result<Vec<String>, String> {
    step(
        Command::new("cargo")
            .args(["build", "--quiet", "--locked", "--target-dir"])
            .arg(folder)
            .current_dir(sources("rust")),
    )?;
    Ok(vec![text(&folder.join("debug/clients"))])
}
