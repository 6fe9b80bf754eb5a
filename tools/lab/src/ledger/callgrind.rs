//! Files of callgrind: instructions by function.
//!
//! The format is that of Valgrind's manual, "Callgrind Format Specification", version 1. Names may be
//! compressed: `fn=(7) main` gives 7 a name, `fn=(7)` uses it; functions, files and objects are numbered each
//! by themselves, callers and callees together. Positions may be relative to the line before (`+3`, `-3`,
//! `*`). A line of costs after `calls=` is what the callee cost, not the function itself.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::error::{Error, Result};

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dump {
    /// The operation for which it was written, if a program asked for it by name.
    pub request: Option<String>,
    /// Events of the first kind that each function cost by itself; by default instructions.
    pub functions: HashMap<String, u64>,
    /// The file's own sum, if it has one.
    pub stated: Option<u64>,
}

impl Dump {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Dump> {
        let bytes = fs::read(path).map_err(Error::file(path))?;
        parse(&String::from_utf8_lossy(&bytes))
            .map_err(|e| Error::Config(format!("{} is no file of callgrind: {e}", path.display())))
    }

    /// Of all functions together.
    pub fn total(&self) -> u64 {
        self.functions.values().sum()
    }
}

/// Names behind numbers.
type Names = HashMap<String, String>;

struct Parser {
    dump: Dump,
    functions: Names,
    objects: Names,
    function: String,
    object: String,
    /// Positions at the beginning of a line of costs.
    positions: usize,
    /// The next line of costs is a callee's.
    in_call: bool,
}

/// Reads a file's text. The error says which line is not understood.
pub fn parse(text: &str) -> std::result::Result<Dump, String> {
    let mut parser = Parser {
        dump: Dump::default(),
        functions: Names::new(),
        objects: Names::new(),
        function: String::new(),
        object: String::new(),
        positions: 1,
        in_call: false,
    };
    if !text.lines().any(|line| line.starts_with("events:")) {
        return Err("it names no events".to_owned());
    }
    for (at, line) in text.lines().enumerate() {
        parser.line(line.trim_end()).ok_or_else(|| format!("line {}: '{line}'", at + 1))?;
    }
    Ok(parser.dump)
}

impl Parser {
    fn line(&mut self, line: &str) -> Option<()> {
        match line.bytes().next() {
            None | Some(b'#') => return Some(()),
            Some(b'0'..=b'9' | b'+' | b'-' | b'*') => return self.costs(line),
            Some(_) => {}
        }
        // A header has a colon after its key; names, too, may hold one.
        let end = line.find([':', '='])?;
        let (key, value) = (&line[..end], line[end + 1..].trim_start());
        match (key, line.as_bytes()[end]) {
            ("fn", b'=') => self.function = name(&mut self.functions, value)?,
            ("cfn", b'=') => drop(name(&mut self.functions, value)?),
            ("ob", b'=') => self.object = name(&mut self.objects, value)?,
            ("cob", b'=') => drop(name(&mut self.objects, value)?),
            ("calls", b'=') => self.in_call = true,
            ("fl" | "fi" | "fe" | "cfl" | "cfi" | "jump" | "jcnd" | "jfi" | "jfn", b'=') => {}
            ("positions", b':') => self.positions = value.split_whitespace().count(),
            ("totals" | "summary", b':') => {
                // A file of several parts has a sum in each. A part may state both; they are the same.
                if key == "totals" || self.dump.stated.is_none() {
                    self.dump.stated = Some(value.split_whitespace().next()?.parse().ok()?);
                }
            }
            ("desc", b':') => {
                if let Some(request) = value.strip_prefix("Trigger: Client Request: ") {
                    self.dump.request = Some(request.to_owned());
                }
            }
            (_, b':') => {}
            _ => return None,
        }
        Some(())
    }

    /// `POSITION.. COST..`; costs left out are none.
    fn costs(&mut self, line: &str) -> Option<()> {
        let mut fields = line.split_whitespace();
        for _ in 0..self.positions {
            fields.next().filter(|position| is_position(position))?;
        }
        let cost: u64 = fields.next().map_or(Some(0), |cost| cost.parse().ok())?;
        if !std::mem::take(&mut self.in_call) && cost > 0 {
            let function = readable(&self.function, &self.object);
            *self.dump.functions.entry(function).or_default() += cost;
        }
        Some(())
    }
}

fn is_position(text: &str) -> bool {
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = match number.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).is_ok(),
        None => number.parse::<u64>().is_ok(),
    };
    text == "*" || is_number
}

/// Resolves `(7) name`, `(7)` or a plain name.
fn name(names: &mut Names, text: &str) -> Option<String> {
    let Some((number, name)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
        return Some(text.to_owned());
    };
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return Some(text.to_owned());
    }
    let name = name.trim_start();
    if name.is_empty() {
        return names.get(number).cloned();
    }
    names.insert(number.to_owned(), name.to_owned());
    Some(name.to_owned())
}

/// A function as two builds both name it: without the compiler's hash and the level of recursion; without a
/// name, by its object.
fn readable(function: &str, object: &str) -> String {
    if function.is_empty() || function.starts_with("0x") || function == "???" {
        let file = object.rsplit('/').next().unwrap_or_default();
        return format!("without a name, in {}", if file.is_empty() { "no file" } else { file });
    }
    let function = match function.rsplit_once('\'') {
        Some((function, level)) if !level.is_empty() && level.bytes().all(|b| b.is_ascii_digit()) => function,
        _ => function,
    };
    match function.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            path.to_owned()
        }
        _ => function.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, after the manual's examples: both compressions, an inlined file, a call, costs left out.
    const SMALL: &str = "# callgrind format
version: 1
creator: by hand
desc: Trigger: Client Request: ping
positions: line
events: Ir Dr

ob=(1) /usr/bin/tool
fl=(1) main.c
fn=(1) main
16 20 3
+1 5
cob=(2) /lib/libc.so.6
cfi=(2) copy.c
cfn=(2) memcpy
calls=3 40
* 900 7
fi=(3) inlined.h
-4 30
fe=(1)
0x20 1
fn=(3)
";

    #[test]
    fn costs_of_callees_are_not_the_callers() {
        let text = SMALL.replace("fn=(3)\n", "ob=(2)\nfl=(2)\nfn=(2)\n40 850\n+2 50\ntotals: 956 7\n");
        let dump = parse(&text).unwrap();
        let expected = HashMap::from([("main".to_owned(), 56), ("memcpy".to_owned(), 900)]);
        assert_eq!(dump.functions, expected);
        assert_eq!((dump.total(), dump.stated, dump.request.as_deref()), (956, Some(956), Some("ping")));
    }

    #[test]
    fn what_is_not_understood_is_an_error_that_names_the_line() {
        assert_eq!(parse(SMALL).unwrap_err(), "line 22: 'fn=(3)'", "no such name");
        assert!(parse("hello").unwrap_err().contains("events"));
        for line in ["16 many", "16x 3", "nonsense"] {
            assert!(
                parse(&format!("events: Ir\nfn=main\n{line}\n")).unwrap_err().starts_with("line 3"),
                "{line}"
            );
        }
    }

    #[test]
    fn instruction_positions_are_skipped_and_jumps_cost_nothing() {
        let text = "positions: instr line\nevents: Ir\nfn=(1) f\n0x400 12 7\n+0x4 * 2\njcnd=3/4 +8 +1\n* *\n-4 +1 1\n";
        assert_eq!(parse(text).unwrap().functions, HashMap::from([("f".to_owned(), 10)]));
    }

    #[test]
    fn two_builds_name_a_function_alike() {
        let of = |function| readable(function, "/lib/libc.so.6");
        assert_eq!(of("exec::run::h0123456789abcdef"), "exec::run");
        assert_eq!(of("exec::run'2"), "exec::run");
        assert_eq!(of("<T as Trait<'a>>::hash"), "<T as Trait<'a>>::hash");
        assert_eq!(of("0x00000000000034a0"), "without a name, in libc.so.6");
    }
}
