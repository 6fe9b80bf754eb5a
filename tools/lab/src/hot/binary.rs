//! An x86-64 ELF executable: its functions by name and by address, and which source lines its code comes
//! from.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use addr2line::Loader;
use object::{Architecture, Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind, SymbolKind};

use super::flow::Target;
use super::names::{crate_of, readable};
use crate::error::{Error, Result};

/// A function's machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Where it begins.
    pub(super) address: u64,
    /// Bytes.
    pub(super) bytes: u64,
}

/// What is known of an executable. Code is read from a copy in memory.
pub(super) struct Binary {
    code: Vec<(u64, Vec<u8>)>,
    /// Functions by their readable name; instances of a generic function share one.
    functions: BTreeMap<String, Vec<Place>>,
    names: HashMap<u64, String>,
    /// Slots that the dynamic linker fills, by address.
    slots: HashMap<u64, Slot>,
    lines: Loader,
}

enum Slot {
    Import(String),
    Code(u64),
}

/// One of the functions whose source an instruction comes from: the innermost first, those it is inlined in
/// after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Frame {
    /// Its name without path and type arguments: line tables have no more.
    pub(super) function: String,
    /// Source file.
    pub(super) file: String,
    /// Line in it.
    pub(super) line: u32,
}

impl Frame {
    /// Of the workspace, not of a library or the compiler's.
    pub(super) fn is_own(&self) -> bool {
        self.in_workspace().is_some()
            && !self.file.contains("/registry/")
            && !self.file.starts_with("/rustc/")
    }

    /// `crates/..:line`.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.in_workspace().unwrap_or(&self.file), self.line)
    }

    /// The file's path from the folder of the workspace's crates on.
    fn in_workspace(&self) -> Option<&str> {
        ["/crates/", "/tools/"].iter().find_map(|folder| Some(&self.file[self.file.find(folder)? + 1..]))
    }
}

impl Binary {
    /// Reads the file at `path`; refuses other machines' programs, and those without symbols or line tables.
    pub(super) fn read(path: &Path) -> Result<Binary> {
        let refuse = |what: &str| Error::Config(format!("{}: {what}", path.display()));
        let bytes = std::fs::read(path).map_err(Error::file(path))?;
        let file = object::File::parse(&*bytes).map_err(|e| refuse(&e.to_string()))?;
        if file.architecture() != Architecture::X86_64 || file.format() != object::BinaryFormat::Elf {
            return Err(refuse("only x86-64 ELF executables can be looked into"));
        }
        if file.section_by_name(".debug_info").is_none() || file.section_by_name(".symtab").is_none() {
            return Err(refuse(
                "has no symbols or line tables (strip = \"none\", debug = \"line-tables-only\")",
            ));
        }
        let is_code = |section: &object::Section| section.kind() == SectionKind::Text;
        let code =
            file.sections().filter(is_code).filter_map(|s| Some((s.address(), s.data().ok()?.to_vec())));
        let lines = Loader::new(path).map_err(|e| refuse(&e.to_string()))?;
        let mut binary = Binary {
            code: code.collect(),
            functions: BTreeMap::new(),
            names: HashMap::new(),
            slots: slots(&file),
            lines,
        };
        let functions = file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.size() > 0);
        for symbol in functions {
            let name = readable(symbol.name().unwrap_or_default());
            let place = Place { address: symbol.address(), bytes: symbol.size() };
            binary.names.entry(place.address).or_insert_with(|| name.clone());
            binary.functions.entry(name).or_default().push(place);
        }
        Ok(binary)
    }

    /// Instances of the function called so, largest first.
    pub(super) fn instances(&self, name: &str) -> Vec<Place> {
        let mut places = self.functions.get(name).cloned().unwrap_or_default();
        places.sort_by_key(|place| std::cmp::Reverse(place.bytes));
        places
    }

    /// Functions of some crates, by name.
    pub(super) fn functions_of<'a>(
        &'a self,
        crates: &'a [String],
    ) -> impl Iterator<Item = (&'a str, Place)> + 'a {
        let of = |name: &str| crates.iter().any(|c| c == crate_of(name));
        let all = self.functions.iter().filter(move |(name, _)| of(name));
        all.flat_map(|(name, places)| places.iter().map(move |place| (name.as_str(), *place)))
    }

    /// A function's bytes.
    pub(super) fn code(&self, place: Place) -> &[u8] {
        let find = |(start, bytes): &'_ &(u64, Vec<u8>)| {
            place.address >= *start && place.address + place.bytes <= start + bytes.len() as u64
        };
        self.code.iter().find(find).map_or(&[], |(start, bytes)| {
            let from = (place.address - start) as usize;
            &bytes[from..from + place.bytes as usize]
        })
    }

    /// What a call leads to: the function's name, and its code if it lies in this file.
    pub(super) fn callee(&self, target: Target) -> Option<(&str, Option<Place>)> {
        let address = match target {
            Target::Code(address) => address,
            Target::Slot(slot) => match self.slots.get(&slot)? {
                Slot::Import(name) => return Some((name, None)),
                Slot::Code(address) => *address,
            },
        };
        let name = self.names.get(&address)?;
        let place = self.functions[name].iter().find(|place| place.address == address);
        Some((name, place.copied()))
    }

    /// Whose source the instruction at `address` comes from.
    pub(super) fn frames(&self, address: u64) -> Vec<Frame> {
        let mut found = Vec::new();
        let Ok(mut frames) = self.lines.find_frames(address) else { return found };
        while let Ok(Some(frame)) = frames.next() {
            let (Some(function), Some(location)) = (frame.function, frame.location) else { continue };
            let name = function.raw_name().map(|name| readable(&name)).unwrap_or_default();
            found.push(Frame {
                function: name.split('<').next().unwrap_or_default().to_owned(),
                file: location.file.unwrap_or_default().to_owned(),
                line: location.line.unwrap_or_default(),
            });
        }
        found
    }
}

/// What the dynamic linker puts where.
fn slots(file: &object::File) -> HashMap<u64, Slot> {
    let names = file.dynamic_symbol_table();
    let relocations = file.dynamic_relocations().into_iter().flatten();
    let slot = |(address, relocation): (u64, object::Relocation)| {
        let slot = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let symbol = object::ObjectSymbolTable::symbol_by_index(names.as_ref()?, index).ok()?;
                Slot::Import(readable(symbol.name().ok()?))
            }
            _ => Slot::Code(relocation.addend() as u64),
        };
        Some((address, slot))
    };
    relocations.filter_map(slot).collect()
}
