//! The list of hot functions and what each may have.

use std::fmt;
use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result};

/// `hot_paths.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HotPaths {
    /// Crates in whose code no validator stands outside a `check` module, and whose large copies are listed.
    pub crates: Vec<String>,
    /// Functions that are called like validators and may be hot: what they check is checked once per read or login.
    #[serde(default)]
    pub validators: Vec<String>,
    /// The hot functions.
    pub functions: Vec<HotFunction>,
}

/// A function that operations of the ledger run through.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HotFunction {
    /// Its path, demangled and without hash.
    pub name: String,
    /// Bytes of code it may have, in each of its instances; none: it is to be inlined.
    pub bytes: Option<u64>,
    /// Calls to panics or formatting it may have in cold tails.
    #[serde(default)]
    pub cold: usize,
    /// The same in line.
    #[serde(default)]
    pub inline: usize,
    /// Copies of a large constant size it may make.
    #[serde(default)]
    pub copies: usize,
}

/// As a line of the list.
impl fmt::Display for HotFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{ name = \"{}\"", self.name)?;
        if let Some(bytes) = self.bytes {
            write!(f, ", bytes = {bytes}")?;
        }
        for (key, number) in [("cold", self.cold), ("inline", self.inline), ("copies", self.copies)] {
            if number > 0 {
                write!(f, ", {key} = {number}")?;
            }
        }
        write!(f, " }}")
    }
}

impl HotPaths {
    /// Reads the list.
    pub fn read(path: &Path) -> Result<HotPaths> {
        let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
        HotPaths::parse(&text).map_err(|what| Error::Config(format!("{}: {what}", path.display())))
    }

    pub(super) fn parse(text: &str) -> std::result::Result<HotPaths, String> {
        let paths: HotPaths = toml::from_str(text).map_err(|e| e.message().to_owned())?;
        let twice = |(at, f): &(usize, &HotFunction)| paths.functions[..*at].iter().any(|g| g.name == f.name);
        match paths.functions.iter().enumerate().find(twice) {
            Some((_, function)) => Err(format!("{} stands there twice", function.name)),
            None => Ok(paths),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_zero_and_what_is_unknown_is_refused() {
        let text =
            "crates = ['a']\nfunctions = [{ name = 'a::f', bytes = 100 }, { name = 'a::g', cold = 1 }]";
        let paths = HotPaths::parse(text).unwrap();
        assert_eq!((paths.functions[0].bytes, paths.functions[0].cold), (Some(100), 0));
        assert_eq!((paths.functions[1].bytes, paths.functions[1].cold), (None, 1));
        assert!(HotPaths::parse("crates = []\nfunctions = [{ name = 'f', size = 1 }]").is_err());
        let twice = HotPaths::parse("crates = []\nfunctions = [{ name = 'f' }, { name = 'f' }]").unwrap_err();
        assert_eq!(twice, "f stands there twice");
    }
}
