//! The stock command-line client, which needs no program beside it.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use super::Finding;
use super::logins::{self, Abilities, LIST, Login};
use super::place::Place;
use crate::process::root;

/// How it is asked for.
pub(super) const NAME: &str = "mariadb";

const SQL: &str = r"SELECT CURRENT_USER();
SHOW STATUS LIKE 'Ssl_version';
DROP TABLE IF EXISTS round_trip;
CREATE TABLE round_trip (id INT PRIMARY KEY, words VARCHAR(100), big BIGINT, exact DECIMAL(20,6),
  approximate DOUBLE, day DATE, moment DATETIME(6), bytes VARBINARY(100), nothing INT) DEFAULT CHARSET utf8mb4;
PREPARE put FROM 'INSERT INTO round_trip VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)';
SET @id = -7, @words = 'naïve 🦀 中文 o''brien \\', @big = -9007199254740993, @exact = 12345678901234.567890,
  @approximate = 0.1, @day = '2024-02-29', @moment = '2024-02-29 23:59:59.123456', @bytes = x'00ff275c',
  @nothing = NULL;
EXECUTE put USING @id, @words, @big, @exact, @approximate, @day, @moment, @bytes, @nothing;
PREPARE found FROM 'SELECT id, words, big, exact, approximate, day, moment, HEX(bytes), nothing FROM round_trip
  WHERE id = ? AND words = ?';
EXECUTE found USING @id, @words;
";
const ROW: &str = "-7\tnaïve 🦀 中文 o'brien \\\\\t-9007199254740993\t12345678901234.567890\t0.1\t2024-02-29\t\
    2024-02-29 23:59:59.123456\t00FF275C\tNULL";

/// Makes all logins.
pub(super) fn log_in(place: &Place) -> Result<Vec<Finding>, String> {
    let text = std::fs::read_to_string(root().join(LIST)).map_err(|error| format!("{LIST}: {error}"))?;
    let can = Abilities { has_sockets: true, has_keys: true, has_versions: true };
    let finding = |login: &Login| {
        let out = run(place, login)?;
        Ok(Finding { name: login.name.to_owned(), wrong: judge(login, &out) })
    };
    logins::read(&text, place, can)?.iter().map(finding).collect()
}

fn run(place: &Place, login: &Login) -> Result<Output, String> {
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "--batch", "--skip-column-names", "--default-character-set=utf8mb4"]);
    command.arg(format!("--user={}", login.account)).arg(format!("--password={}", login.password));
    if login.by_socket {
        command.arg(format!("--socket={}", place.socket().display()));
    } else {
        command.args(["--protocol=tcp", "--host=127.0.0.1"]).arg(format!("--port={}", place.port));
    }
    match login.tls {
        "no" => command.arg("--skip-ssl"),
        "yes" => command.arg("--ssl"),
        version => command.arg("--ssl").arg(format!("--tls-version=TLSv{version}")),
    };
    if let Some(authority) = login.authority {
        command.arg(format!("--ssl-ca={}", authority.display()));
    }
    let failed = |error: std::io::Error| format!("mariadb: {error}");
    let streams = command.arg("d").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = streams.spawn().map_err(failed)?;
    let mut stdin = child.stdin.take().ok_or("a child without its standard input")?;
    // A client that was refused does not read.
    let _ = stdin.write_all(SQL.as_bytes());
    drop(stdin);
    child.wait_with_output().map_err(failed)
}

/// Why it is not as wanted, if so.
fn judge(login: &Login, out: &Output) -> Option<String> {
    let (said, complaint) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let right = match login.outcome {
        "in" => {
            let version = match login.tls {
                "no" => String::new(),
                "yes" => "TLSv1.3".to_owned(),
                version => format!("TLSv{version}"),
            };
            said == format!("{}@%\nSsl_version\t{version}\n{ROW}\n", login.account)
        }
        "refused" => !out.status.success() && said.is_empty(),
        number => complaint.starts_with(&format!("ERROR {number} ")) && said.is_empty(),
    };
    (!right).then(|| format!("wanted {}, found {said}{complaint}", login.outcome))
}
