//! An upper bound's name ends in `_MAX`.

use super::source::{SourceFile, at};

/// How the comment of a constant begins that is an upper bound.
const BOUND_WORDS: [&str; 6] = ["At most ", "Greatest ", "Largest ", "Longest ", "Most ", "Upper bound "];

/// Constants that are upper bounds by their comment and not by their name, and names with `MAX` in front or
/// in the middle. Texts are left out: they are names of system variables and of the protocol.
pub(crate) fn findings(file: &SourceFile) -> Vec<String> {
    let mut found = Vec::new();
    let mut comment = None;
    for (number, line) in file.text.lines().enumerate() {
        let code = line.trim_start();
        if let Some(text) = code.strip_prefix("/// ") {
            comment.get_or_insert(text);
            continue;
        }
        if code.starts_with("#[") {
            continue;
        }
        let comment = comment.take().unwrap_or_default();
        let Some((name, ty)) = constant(code) else { continue };
        if ty.contains("str") || name == "MAX" {
            continue;
        }
        let says_so = BOUND_WORDS.iter().any(|word| comment.starts_with(word));
        if name.starts_with("MAX_") || name.contains("_MAX_") || says_so && !name.ends_with("_MAX") {
            found.push(at(file, number + 1, &format!("{name}: an upper bound's name ends in _MAX")));
        }
    }
    found
}

/// Name and type of the constant that a line declares.
fn constant(line: &str) -> Option<(&str, &str)> {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let declared = line.strip_prefix("const ").or_else(|| line.strip_prefix("static "))?;
    let (name, rest) = declared.split_once(':')?;
    let is_name = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    is_name.then(|| (name, rest.split('=').next().unwrap_or(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        findings(&SourceFile { path: "crates/x/src/a.rs".into(), text: text.into(), tests_from: 9 }).len()
    }

    #[test]
    fn names_of_bounds_end_in_max() {
        assert_eq!(count("const MAX_ROWS: usize = 5;"), 1);
        assert_eq!(count("pub(crate) const ROWS_MAX_KIB: usize = 5;"), 1);
        assert_eq!(count("/// Most rows.\n#[rustfmt::skip]\npub const ROWS: usize = 5;"), 1);
        assert_eq!(count("/// Most rows.\npub const ROWS_MAX: usize = 5;"), 0);
        assert_eq!(count("/// Rows.\nconst ROWS: usize = 5;\n/// Most.\nfn f() {}"), 0);
        assert_eq!(count("const MAX_DELAY: &str = \"connection_control_max_connection_delay\";"), 0);
    }
}
