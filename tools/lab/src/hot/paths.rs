//! The list of hot functions and what each may have.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result};

/// `hot_paths.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HotPaths {
    /// Crates in whose code no validator is outside a `check` module, and whose large copies are listed.
    pub crates: Vec<String>,
    /// Functions that are called like validators and may be hot: what they check is checked once per read or
    /// login.
    #[serde(default)]
    pub validators: Vec<String>,
    /// The hot functions by their paths, demangled and without hash, and what each may have.
    pub functions: BTreeMap<String, Limits>,
}

/// What a function may have that operations of the ledger run through.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Bytes of code, in each of its instances; none: it is to be inlined.
    pub bytes: Option<u64>,
    /// Calls to panics or formatting in cold tails.
    #[serde(default)]
    pub cold: usize,
    /// The same in line.
    #[serde(default)]
    pub inline: usize,
    /// Copies of a large constant size.
    #[serde(default)]
    pub copies: usize,
}

/// As the list has it.
impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes.map(|bytes| format!("bytes = {bytes}"));
        let counts = [("cold", self.cold), ("inline", self.inline), ("copies", self.copies)];
        let counts = counts.iter().filter(|(_, number)| *number > 0);
        let all = bytes.into_iter().chain(counts.map(|(key, number)| format!("{key} = {number}")));
        write!(f, "{{ {} }}", all.collect::<Vec<_>>().join(", "))
    }
}

impl HotPaths {
    /// Reads the list.
    pub fn read(path: &Path) -> Result<HotPaths> {
        let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
        HotPaths::parse(&text).map_err(|what| Error::Config(format!("{}: {what}", path.display())))
    }

    pub(super) fn parse(text: &str) -> std::result::Result<HotPaths, String> {
        toml::from_str(text).map_err(|e| e.message().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_zero_and_what_is_unknown_is_refused() {
        let text = "crates = ['a']\n[functions]\n'a::f' = { bytes = 100 }\n'a::g' = { cold = 1 }";
        let functions = HotPaths::parse(text).unwrap().functions;
        assert_eq!((functions["a::f"].bytes, functions["a::f"].cold), (Some(100), 0));
        assert_eq!((functions["a::g"].bytes, functions["a::g"].cold), (None, 1));
        assert_eq!(functions["a::f"].to_string(), "{ bytes = 100 }");
        assert!(HotPaths::parse("crates = []\n[functions]\nf = { size = 1 }").is_err());
        let twice = HotPaths::parse("crates = []\n[functions]\nf = {}\nf = {}").unwrap_err();
        assert!(twice.contains("duplicate key"), "{twice}");
    }
}
