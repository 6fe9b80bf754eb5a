//! Programs from outside that tests run against the server: the stock client, sysbench.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a program said and how it ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Standard output and standard error, in the order they were written.
    pub output: String,
    /// Whether the exit status was 0.
    pub success: bool,
}

/// Runs `program` in `folder` with `args` and `input` until it ends. Its output is flushed line by line, so
/// that lines of both streams keep their order.
///
/// # Errors
/// The program, or `stdbuf`, is not installed: a sentence that says so.
pub fn run(program: &str, args: &[&str], folder: &Path, input: &str) -> Result<Outcome, String> {
    let (mut reader, writer) = std::io::pipe().map_err(|e| e.to_string())?;
    let mut child = Command::new("stdbuf")
        .arg("--output=L")
        .arg(program)
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(writer.try_clone().map_err(|e| e.to_string())?)
        .stderr(writer)
        .spawn()
        .map_err(|e| format!("cannot run stdbuf, of GNU coreutils: {e}"))?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    let input = input.to_owned();
    // A program that ends early leaves input unread; its output tells why.
    let feeder = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let mut output = Vec::new();
    std::io::Read::read_to_end(&mut reader, &mut output).map_err(|e| e.to_string())?;
    let status = child.wait().map_err(|e| e.to_string())?;
    let _ = feeder.join();
    if matches!(status.code(), Some(126 | 127)) {
        return Err(format!("this test needs the program {program}, which is not installed"));
    }
    Ok(Outcome { output: String::from_utf8_lossy(&output).into_owned(), success: status.success() })
}

/// Says where two texts part: the first line that differs, with the three lines before it.
pub fn difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let (old, new): (Vec<_>, Vec<_>) = (expected.lines().collect(), actual.lines().collect());
    let at = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let before = new[at.saturating_sub(3)..at].join("\n  ");
    let line = |lines: &[&str]| lines.get(at).map_or("the end", |line| *line).to_owned();
    Some(format!("line {}, after\n  {before}\nexpected: {}\nactual:   {}", at + 1, line(&old), line(&new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run("no-such-program", &[], Path::new("/"), "").unwrap_err();
        assert_eq!(error, "this test needs the program no-such-program, which is not installed");
    }

    #[test]
    fn both_streams_keep_their_order() {
        let outcome = run("sh", &["-c", "echo 1; echo 2 >&2; cat; exit 3"], Path::new("/"), "3\n").unwrap();
        assert_eq!((outcome.output.as_str(), outcome.success), ("1\n2\n3\n", false));
    }

    #[test]
    fn the_first_line_that_differs_is_told() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        let told = difference("a\nb\n", "a\nc\n").unwrap();
        assert_eq!(told, "line 2, after\n  a\nexpected: b\nactual:   c");
    }
}
