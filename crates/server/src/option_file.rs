//! Option files in MySQL's format.
//!
//! ```text
//! # comment            ; comment
//! [mysqld]
//! port = 3307          # the rest of the line is a comment
//! socket = "/tmp/x y"
//! skip-networking
//! !include /etc/more.cnf
//! !includedir /etc/more.d
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use super::options::{OptionError, Setting};

/// Groups that the server reads.
const GROUPS: [&str; 2] = ["mysqld", "ratchetd"];
/// Files that include each other stop here.
const DEPTH_MAX: usize = 10;

/// The settings of the server's groups in `path` and everything it includes, in order.
///
/// # Errors
/// When a file cannot be read, or a line cannot be understood; the error names file and line.
pub(crate) fn read(path: &Path) -> Result<Vec<Setting>, OptionError> {
    let mut settings = Vec::new();
    read_into(path, &mut settings, 0)?;
    Ok(settings)
}

fn read_into(path: &Path, settings: &mut Vec<Setting>, depth: usize) -> Result<(), OptionError> {
    if depth > DEPTH_MAX {
        return Err(OptionError::new(&format!(
            "{}: option files include each other too deeply",
            path.display()
        )));
    }
    let text = fs::read_to_string(path)
        .map_err(|e| OptionError::new(&format!("cannot read {}: {e}", path.display())))?;
    // None: before the first group.
    let mut ours = None;
    for (number, line) in text.lines().enumerate() {
        let origin = format!("{}:{}", path.display(), number + 1);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(directive) = line.strip_prefix('!') {
            include(directive, path, settings, depth, &origin)?;
        } else if let Some(group) = line.strip_prefix('[') {
            let name = group.split_once(']').map(|(name, _)| name.trim());
            let name = name.ok_or_else(|| OptionError::new(&format!("{origin}: group without ']'")))?;
            ours = Some(GROUPS.contains(&name));
        } else if ours
            .ok_or_else(|| OptionError::new(&format!("{origin}: option without a group before it")))?
        {
            settings.push(parse_line(line, origin)?);
        }
    }
    Ok(())
}

fn include(
    directive: &str,
    from: &Path,
    settings: &mut Vec<Setting>,
    depth: usize,
    origin: &str,
) -> Result<(), OptionError> {
    let (word, target) = directive.split_once(char::is_whitespace).unwrap_or((directive, ""));
    let base = from.parent().unwrap_or(Path::new("."));
    let target = base.join(target.trim());
    match word {
        "include" => read_into(&target, settings, depth + 1),
        "includedir" => {
            for file in files_of(&target)? {
                read_into(&file, settings, depth + 1)?;
            }
            Ok(())
        }
        _ => Err(OptionError::new(&format!("{origin}: unknown directive '!{word}'"))),
    }
}

/// Files of directory `dir` that end in `.cnf`, by name.
fn files_of(dir: &Path) -> Result<Vec<PathBuf>, OptionError> {
    let entries =
        fs::read_dir(dir).map_err(|e| OptionError::new(&format!("cannot read {}: {e}", dir.display())))?;
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "cnf"));
    files.sort();
    Ok(files)
}

fn parse_line(line: &str, origin: String) -> Result<Setting, OptionError> {
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => (name.trim(), Some(unquote(value.trim()))),
        None => (without_comment(line).trim(), None),
    };
    if name.is_empty() {
        return Err(OptionError::new(&format!("{origin}: value without a name")));
    }
    Ok(Setting { name: name.to_owned(), value, origin })
}

/// The value without its quotes or trailing comment, its escapes replaced.
fn unquote(value: &str) -> String {
    let quote = value.chars().next().filter(|&c| c == '"' || c == '\'');
    let inner = quote.and_then(|q| value[1..].rfind(q).map(|end| &value[1..=end]));
    let plain = inner.unwrap_or_else(|| without_comment(value).trim_end());
    let mut out = String::with_capacity(plain.len());
    let mut chars = plain.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('s') => out.push(' '),
            Some(other @ ('\\' | '"' | '\'')) => out.push(other),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

fn without_comment(text: &str) -> &str {
    text.split_once('#').map_or(text, |(before, _)| before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_groups_are_read_with_their_includes() {
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("my.cnf");
        fs::create_dir(dir.path().join("more.d")).unwrap();
        let text = "# c\n[client]\nport=1\n[mysqld]\nport = 3307 # real\nskip-networking\n\
                    socket=\"/tmp/x # y\"\n!includedir more.d\n[ratchetd]\nback-log=80\n";
        fs::write(&main, text).unwrap();
        fs::write(dir.path().join("more.d/a.cnf"), "[mysqld]\ntmpdir=/var\\stmp\n").unwrap();
        fs::write(dir.path().join("more.d/b.txt"), "[mysqld]\nignored\n").unwrap();
        let settings = read(&main).unwrap();
        let pairs: Vec<_> = settings.iter().map(|s| (s.name.as_str(), s.value.as_deref())).collect();
        let expected = [
            ("port", Some("3307")),
            ("skip-networking", None),
            ("socket", Some("/tmp/x # y")),
            ("tmpdir", Some("/var tmp")),
            ("back-log", Some("80")),
        ];
        assert_eq!(pairs, expected);
        assert!(settings[0].origin.ends_with("my.cnf:5"));
    }

    #[test]
    fn mistakes_name_file_and_line() {
        let dir = tempfile::tempdir().unwrap();
        for (text, message) in [
            ("[mysqld\n", "my.cnf:1: group without ']'"),
            ("\n!frobnicate x\n", "my.cnf:2: unknown directive '!frobnicate'"),
            ("# c\nport=1\n[mysqld]\n", "my.cnf:2: option without a group before it"),
            ("[mysqld]\n=3\n", "my.cnf:2: value without a name"),
        ] {
            let path = dir.path().join("my.cnf");
            fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err();
            assert!(error.0.ends_with(message), "{}", error.0);
        }
        fs::write(dir.path().join("loop.cnf"), "!include loop.cnf\n").unwrap();
        assert!(read(&dir.path().join("loop.cnf")).unwrap_err().0.contains("too deeply"));
        assert!(read(&dir.path().join("absent.cnf")).is_err());
    }
}
