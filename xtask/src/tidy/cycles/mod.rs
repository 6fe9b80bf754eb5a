//! Import cycles: files of a crate that, over one another, use each other.
//!
//! A file uses another if a path or `use` of it leads there: to an item of that file, from the crate's root,
//! from a parent or child, or by the name under which a third file exports it ([`names`]). A re-export uses
//! nothing, and neither does the import of a module: the paths that begin with it do. Methods have no paths.
//! Test code is left out.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::Visit;

use names::{Module, Names, module_of};
use paths::Paths;

use super::source::SourceFile;

mod names;
mod paths;

pub(super) use paths::is_test;

/// Most files in one cycle.
const CYCLE_FILES_MAX: usize = 6;

/// Crates with a cycle of too many files.
pub(crate) fn findings(files: &[SourceFile]) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<&SourceFile>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.is_test_file() && file.path.contains("/src/")) {
        crates.entry(file.crate_name()).or_default().push(file);
    }
    crates.into_iter().filter_map(|(name, files)| finding(name, &largest_cycle(&graph(&files)))).collect()
}

/// What is wrong with the largest cycle of a crate.
fn finding(name: &str, cycle: &BTreeSet<Module>) -> Option<String> {
    let count = cycle.len();
    (count > CYCLE_FILES_MAX).then(|| {
        let names: Vec<String> = cycle.iter().map(|module| module.join("::")).collect();
        format!("crate {name}: {count} files use each other, at most {CYCLE_FILES_MAX}: {}", names.join(", "))
    })
}

/// The modules that each file uses.
fn graph(files: &[&SourceFile]) -> BTreeMap<Module, BTreeSet<Module>> {
    let parsed: Vec<(&SourceFile, syn::File)> =
        files.iter().filter_map(|file| Some((*file, syn::parse_file(&file.text).ok()?))).collect();
    let mut names = Names::default();
    for (file, syntax) in &parsed {
        names.add_file(file, syntax);
    }
    let mut graph: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (file, syntax) in &parsed {
        let own = module_of(&file.path);
        if names.is_test(&own) {
            continue;
        }
        let mut paths = Paths { inner: own.clone(), found: Vec::new() };
        paths.visit_file(syntax);
        let mut used = BTreeSet::new();
        for written in &paths.found {
            used.extend(names.holder(written).filter(|holder| *holder != own));
        }
        graph.entry(own).or_default().extend(used);
    }
    graph
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
            file("crates/x/src/a.rs", "use crate::b::{B, self as other}; pub struct A;"),
            file("crates/x/src/b/mod.rs", "mod deep; pub struct B; fn f() { super::c::f() }"),
            file("crates/x/src/b/deep.rs", "use super::B;"),
            file("crates/x/src/c.rs", "use crate::a::A; #[cfg(test)] mod tests { use crate::b::deep; }"),
        ];
        assert_eq!(cycle(&files), ["a", "b", "c"]);
        assert_eq!(cycle(&files[..2]), Vec::<String>::new());
    }

    #[test]
    fn a_parent_uses_a_child_by_a_relative_path() {
        let child = |text| file("crates/x/src/a/deep.rs", text);
        let root = || file("crates/x/src/lib.rs", "mod a;");
        for text in [
            "mod deep; struct A; fn f() { deep::g() }",
            "mod deep; use deep::G; struct A;",
            "mod deep; struct A; fn f() { debug_assert!(deep::g()) }",
            "mod deep; pub use deep::G; struct A { g: G }",
        ] {
            let parent = file("crates/x/src/a/mod.rs", text);
            let cycle = cycle(&[root(), parent, child("use super::A; pub struct G;")]);
            assert_eq!(cycle, ["a", "a::deep"], "{text}");
        }
        for text in [
            "mod deep; struct A;",
            "mod deep; pub use deep::G; struct A;",
            "mod deep; use std::deep; struct A;",
        ] {
            let parent = file("crates/x/src/a/mod.rs", text);
            let cycle = cycle(&[root(), parent, child("pub(super) struct G; use super::A;")]);
            assert_eq!(cycle, Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_name_leads_to_the_file_that_has_it() {
        let roots = [
            "mod a; mod b; pub use a::A; pub use b::B;",
            "mod a; mod b; pub use a::*; pub use b::{B as Other, *};",
            "mod a; mod b; use a::A; use b::B;",
            "mod a; mod b; pub use a::{A as B0, A}; mod inner { pub use crate::b::B; } pub use inner::B;",
        ];
        let users = [
            ("use crate::B; pub struct A;", "use crate::A; pub struct B;"),
            ("pub struct A { b: crate::B }", "pub struct B { a: crate::A }"),
            ("pub struct A; use super::B;", "pub struct B; impl B { fn a() -> super::A { super::A } }"),
        ];
        for root in roots {
            for (a, b) in users {
                let files = [
                    file("crates/x/src/lib.rs", root),
                    file("crates/x/src/a.rs", a),
                    file("crates/x/src/b.rs", b),
                ];
                assert_eq!(cycle(&files), ["a", "b"], "{root} {a}");
            }
        }
    }

    #[test]
    fn names_that_macros_make_are_of_their_module() {
        let files = [
            file("crates/x/src/lib.rs", "mod a; mod b;"),
            file("crates/x/src/a.rs", "use crate::b; make!(f); fn g() { b::made() }"),
            file("crates/x/src/b.rs", "make!(made); fn g() { crate::a::f() }"),
        ];
        assert_eq!(cycle(&files), ["a", "b"]);
    }

    #[test]
    fn a_cycle_of_too_many_files_is_a_finding() {
        let of = |count: usize| (0..count).map(|at| vec![at.to_string()]).collect();
        assert_eq!(finding("x", &of(CYCLE_FILES_MAX)), None);
        assert!(finding("x", &of(CYCLE_FILES_MAX + 1)).is_some_and(|says| says.contains("at most")));
    }
}
