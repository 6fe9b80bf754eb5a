//! `cargo xtask demo`: a fresh server, the employees database, the queries that people try first, and what
//! each took.

mod employees;

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::process::{root, run as run_command, target_dir};
use crate::server_process::ServerProcess;
use employees::{EMPLOYEES, SALARIES, Staff};

/// What is asked, in words and in SQL.
const QUERIES: [(&str, &str); 6] = [
    (
        "count both tables",
        "SELECT (SELECT COUNT(*) FROM employees) AS employees, (SELECT COUNT(*) FROM salaries) AS salaries",
    ),
    ("one employee", "SELECT * FROM employees WHERE emp_no = 499999"),
    (
        "highest current salaries",
        "SELECT e.emp_no, e.first_name, e.last_name, s.salary FROM employees e JOIN salaries s ON e.emp_no = s.emp_no \
         WHERE s.to_date = '9999-01-01' ORDER BY s.salary DESC, e.emp_no LIMIT 5",
    ),
    (
        "current pay by gender",
        "SELECT e.gender, COUNT(*) AS people, AVG(s.salary) AS pay FROM employees e JOIN salaries s \
         ON e.emp_no = s.emp_no WHERE s.to_date = '9999-01-01' GROUP BY e.gender ORDER BY e.gender",
    ),
    (
        "join and aggregate",
        "SELECT COUNT(*) AS salaries, SUM(s.salary) AS paid FROM employees e JOIN salaries s ON e.emp_no = s.emp_no",
    ),
    (
        "people hired by year",
        "SELECT YEAR(hire_date) AS hired, COUNT(*) AS people FROM employees GROUP BY hired ORDER BY people DESC LIMIT 3",
    ),
];
const LEFT_JOIN: &str =
    "SELECT * FROM employees AS e LEFT JOIN salaries AS s ON e.emp_no = s.emp_no LIMIT 1000000";

/// Runs the demonstration in a folder of its own, which is gone afterwards.
pub(crate) fn run() -> Result<(), String> {
    run_command("cargo", &["build", "--release", "--package", "server", "--bin", "ratchetd"])?;
    let folder = Folder::make(root().join("demo-data"))?;
    let (employees, salaries) = timed("generate the rows", || generate(&folder.0))?;
    let server = timed("start on an empty folder", || start(&folder.0))?;
    let client = Client { socket: folder.0.join("demo.sock") };
    timed("create the tables", || {
        client.run(&format!("CREATE DATABASE demo; USE demo; {}", employees::SCHEMA))
    })?;
    let load = |file: &Path, table: &str| {
        client.run(&format!("USE demo; LOAD DATA LOCAL INFILE '{}' INTO TABLE {table}", file.display()))
    };
    timed(&format!("load {EMPLOYEES} employees"), || load(&employees, "employees"))?;
    timed(&format!("load {SALARIES} salaries"), || load(&salaries, "salaries"))?;
    for (what, query) in QUERIES {
        let answer = timed(what, || client.ask(query))?;
        for line in answer.lines() {
            println!("            {}", line.replace('\t', "  "));
        }
    }
    timed("1,000,000 rows of a left join to the client", || client.run(&format!("USE demo; {LEFT_JOIN}")))?;
    timed("clean shutdown", || server.stop())
}

/// Runs a step and prints what it took.
fn timed<T>(what: &str, step: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let begun = Instant::now();
    let result = step().map_err(|e| format!("demo: {what}: {e}"))?;
    println!("{:>8.3} s  {what}", begun.elapsed().as_secs_f64());
    Ok(result)
}

/// A folder that did not exist before and does not afterwards.
struct Folder(PathBuf);

impl Folder {
    fn make(path: PathBuf) -> Result<Self, String> {
        if path.exists() {
            return Err(format!("{} is left over from another run; remove it", path.display()));
        }
        fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("demo: cannot remove {}: {error}", self.0.display());
        }
    }
}

fn generate(folder: &Path) -> Result<(PathBuf, PathBuf), String> {
    let staff = Staff::generate();
    let write = |name: &str, rows: &dyn Fn(&mut BufWriter<File>) -> io::Result<()>| {
        let path = folder.join(name);
        let written = File::create(&path).map(BufWriter::new).and_then(|mut file| {
            rows(&mut file)?;
            io::Write::flush(&mut file)
        });
        written.map(|()| path.clone()).map_err(|e| format!("{}: {e}", path.display()))
    };
    let employees = write("employees.tsv", &|file| staff.write_employees(file))?;
    let salaries = write("salaries.tsv", &|file| staff.write_salaries(file))?;
    Ok((employees, salaries))
}

fn start(folder: &Path) -> Result<ServerProcess, String> {
    let socket = folder.join("demo.sock");
    ServerProcess::start(
        Command::new(target_dir().join("release/ratchetd"))
            .args(["--no-defaults", "--skip-networking", "--local-infile=1", "--innodb-buffer-pool-size=1G"])
            .arg(format!("--datadir={}", folder.join("data").display()))
            .arg(format!("--socket={}", socket.display()))
            .arg(format!("--pid-file={}", folder.join("demo.pid").display())),
    )
}

/// The stock client.
struct Client {
    socket: PathBuf,
}

impl Client {
    /// Runs statements; rows go nowhere.
    fn run(&self, sql: &str) -> Result<(), String> {
        self.command(sql, Stdio::null()).map(drop)
    }

    /// The answer with its column names, a row a line.
    fn ask(&self, query: &str) -> Result<String, String> {
        self.command(&format!("USE demo; {query}"), Stdio::piped())
    }

    fn command(&self, sql: &str, stdout: Stdio) -> Result<String, String> {
        let output = Command::new("mariadb")
            .args(["--no-defaults", "--user=root", "--local-infile=1", "--quick", "--batch"])
            .arg(format!("--socket={}", self.socket.display()))
            .args(["--execute", sql])
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .and_then(std::process::Child::wait_with_output)
            .map_err(|e| format!("cannot run mariadb: {e}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}
