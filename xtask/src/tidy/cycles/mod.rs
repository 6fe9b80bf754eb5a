//! Import cycles: files of a crate that, over one another, use each other.
//!
//! A file uses another if it names the other's module or what is in it, by `use` or by a path. Test code is
//! left out, and a crate's root, which names all.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use super::source::SourceFile;

/// Most files in one cycle.
const CYCLE_FILES_MAX: usize = 6;

/// The path of a module within its crate.
type Module = Vec<String>;

/// Crates with a cycle of too many files.
pub(crate) fn findings(files: &[SourceFile]) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<&SourceFile>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.is_test_file() && file.path.contains("/src/")) {
        crates.entry(file.crate_name()).or_default().push(file);
    }
    let found = |(name, files): (&str, Vec<&SourceFile>)| {
        let cycle = largest_cycle(&graph(&files));
        let names: Vec<String> = cycle.iter().map(|module| module.join("::")).collect();
        let (count, names) = (cycle.len(), names.join(", "));
        let says =
            || format!("crate {name}: {count} files use each other, at most {CYCLE_FILES_MAX}: {names}");
        (count > CYCLE_FILES_MAX).then(says)
    };
    crates.into_iter().filter_map(found).collect()
}

/// The modules that each file uses.
fn graph(files: &[&SourceFile]) -> BTreeMap<Module, BTreeSet<Module>> {
    let modules: BTreeSet<Module> = files.iter().map(|file| module_of(&file.path)).collect();
    let mut graph = BTreeMap::new();
    for file in files {
        let own = module_of(&file.path);
        let mut used = BTreeSet::new();
        if let Ok(syntax) = syn::parse_file(&file.text) {
            let mut paths = Paths { inner: own.clone(), found: Vec::new() };
            paths.visit_file(&syntax);
            let holders = paths.found.iter().filter_map(|path| holder(path, &modules));
            used.extend(holders.filter(|module| !module.is_empty() && *module != own));
        }
        graph.insert(own, used);
    }
    graph
}

/// `a::b` for `crates/x/src/a/b.rs` and `crates/x/src/a/b/mod.rs`; nothing for a root.
fn module_of(path: &str) -> Module {
    let inner = path.split_once("/src/").map_or(path, |(_, inner)| inner).trim_end_matches(".rs");
    let mut parts: Module = inner.split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&&last[..])) {
        parts.pop();
    }
    parts
}

/// The file that has what `path` names: that of the longest part of it that is a module.
fn holder(path: &[String], modules: &BTreeSet<Module>) -> Option<Module> {
    (0..=path.len()).rev().map(|len| path[..len].to_vec()).find(|part| modules.contains(part))
}

/// Collects paths into the crate, from its root.
struct Paths {
    /// The module that the visitor is in.
    inner: Module,
    found: Vec<Module>,
}

impl Paths {
    /// The path from the crate's root, if `segments` leads into the crate.
    fn path_from_root(&self, segments: &[String]) -> Option<Module> {
        let mut from = match segments.first()?.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => self.inner.clone(),
            _ => return None,
        };
        for segment in segments {
            match segment.as_str() {
                "crate" | "self" => {}
                "super" => drop(from.pop()),
                name => from.push(name.to_owned()),
            }
        }
        Some(from)
    }

    fn add_tree(&mut self, before: &mut Module, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.add_tree(before, &path.tree);
                before.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.add_tree(before, item)),
            syn::UseTree::Name(name) => self.add_leaf(before, Some(&name.ident)),
            syn::UseTree::Rename(rename) => self.add_leaf(before, Some(&rename.ident)),
            syn::UseTree::Glob(_) => self.add_leaf(before, None),
        }
    }

    fn add_leaf(&mut self, before: &Module, name: Option<&syn::Ident>) {
        let name = name.map(syn::Ident::to_string).filter(|name| name != "self");
        let path: Module = before.iter().cloned().chain(name).collect();
        self.found.extend(self.path_from_root(&path));
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_test(&item.attrs) {
            self.add_tree(&mut Vec::new(), &item.tree);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            self.inner.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.inner.pop();
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Module = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.found.extend(self.path_from_root(&segments));
        visit::visit_path(self, path);
    }
}

/// Whether an item is there in tests only.
pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    })
}

/// The largest set of modules each of which leads to all others; empty if none leads back to itself.
fn largest_cycle(graph: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<Module> {
    let reachable = |from: &Module| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = next.pop() {
            for used in graph.get(&module).into_iter().flatten() {
                if seen.insert(used.clone()) {
                    next.push(used.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&Module, BTreeSet<Module>> =
        graph.keys().map(|from| (from, reachable(from))).collect();
    let cycle_of = |module: &Module| -> BTreeSet<Module> {
        reach[module].iter().filter(|other| reach[*other].contains(module)).cloned().collect()
    };
    graph.keys().map(cycle_of).max_by_key(BTreeSet::len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        let tests_from = text.lines().count() + 1;
        SourceFile { path: path.to_owned(), text: text.to_owned(), tests_from }
    }

    fn cycle(files: &[SourceFile]) -> Vec<String> {
        let files: Vec<&SourceFile> = files.iter().collect();
        largest_cycle(&graph(&files)).into_iter().map(|module| module.join("::")).collect()
    }

    #[test]
    fn files_that_use_each_other_over_a_third_are_a_cycle() {
        let files = [
            file("crates/x/src/lib.rs", "mod a; mod b; mod c; pub use a::A;"),
            file("crates/x/src/a.rs", "use crate::b::{B, self as other};"),
            file("crates/x/src/b/mod.rs", "mod deep; fn f() { super::c::f() }"),
            file("crates/x/src/b/deep.rs", "use super::B;"),
            file("crates/x/src/c.rs", "use crate::a; #[cfg(test)] mod tests { use crate::b::deep; }"),
        ];
        assert_eq!(cycle(&files), ["a", "b", "c"]);
        assert_eq!(cycle(&files[..2]), Vec::<String>::new());
    }
}
