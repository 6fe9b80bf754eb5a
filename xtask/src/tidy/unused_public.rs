//! Public items that no other crate uses.
//!
//! Goes by names: an item is unused if its name occurs nowhere in the sources of other crates, of the crate's
//! own programs and of its tests in folders of their own. A type that a public signature names is left out.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{ImplItem, Item, Visibility};

use super::cycles::is_test;
use super::source::{SourceFile, at};

/// Public items of the libraries that only their own crate names.
pub(crate) fn findings(files: &[SourceFile]) -> Vec<String> {
    let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut crates: BTreeMap<&str, Items> = BTreeMap::new();
    for file in files {
        let Ok(tokens) = file.text.parse::<TokenStream>() else { continue };
        let unit = unit_of(file);
        let mut names = BTreeSet::new();
        add_names(tokens, &mut names);
        for name in names {
            users.entry(name).or_default().insert(unit.clone());
        }
        if file.path.starts_with("crates/") && unit == file.crate_name() && !file.is_test_file() {
            crates.entry(file.crate_name()).or_default().read(file);
        }
    }
    let mut found = Vec::new();
    for (name, items) in &crates {
        let is_used = |item: &str| users[item].iter().any(|unit| unit != name);
        let unused = items
            .public
            .iter()
            .filter(|item| !is_used(&item.name) && (item.is_value || !items.exposed.contains(&item.name)));
        found.extend(
            unused.map(|item| at(item.file, item.line, &format!("{}: no other crate uses it", item.name))),
        );
    }
    found
}

/// What counts as one user: a library, its programs, or its tests.
fn unit_of(file: &SourceFile) -> String {
    let name = file.crate_name();
    match () {
        () if !file.path.contains("/src/") => format!("{name}, tests"),
        () if file.path.ends_with("/src/main.rs") || file.path.contains("/src/bin/") => {
            format!("{name}, program")
        }
        () => name.to_owned(),
    }
}

fn add_names(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => drop(names.insert(name.to_string())),
            TokenTree::Group(group) => add_names(group.stream(), names),
            // Names in the arguments of formats.
            TokenTree::Literal(text) => {
                let text = text.to_string();
                let held = text.split('{').skip(1).filter_map(|rest| rest.split(['}', ':']).next());
                names.extend(held.map(str::to_owned));
            }
            TokenTree::Punct(_) => {}
        }
    }
}

/// A public item.
struct PublicItem<'a> {
    file: &'a SourceFile,
    line: usize,
    name: String,
    /// A function, a constant or a static.
    is_value: bool,
}

/// The items of a crate.
#[derive(Default)]
struct Items<'a> {
    public: Vec<PublicItem<'a>>,
    /// Names in public signatures.
    exposed: BTreeSet<String>,
}

impl<'a> Items<'a> {
    fn read(&mut self, file: &'a SourceFile) {
        if let Ok(syntax) = syn::parse_file(&file.text) {
            Reader { file, items: self }.visit_file(&syntax);
        }
    }
}

struct Reader<'a, 'i> {
    file: &'a SourceFile,
    items: &'i mut Items<'a>,
}

impl Reader<'_, '_> {
    fn add(&mut self, vis: &Visibility, name: &syn::Ident, is_value: bool, signature: &dyn ToTokens) {
        if !matches!(vis, Visibility::Public(_)) {
            return;
        }
        let (name, line) = (name.to_string(), name.span().start().line);
        let mut names = BTreeSet::new();
        add_names(signature.to_token_stream(), &mut names);
        names.remove(&name);
        self.items.exposed.extend(names);
        self.items.public.push(PublicItem { file: self.file, line, name, is_value });
    }

    /// What a struct shows: the types of its public fields.
    fn add_struct(&mut self, item: &syn::ItemStruct) {
        let mut shown = item.generics.to_token_stream();
        let fields = item.fields.iter().filter(|field| matches!(field.vis, Visibility::Public(_)));
        fields.for_each(|field| field.ty.to_tokens(&mut shown));
        self.add(&item.vis, &item.ident, false, &shown);
    }

    fn add_impl(&mut self, item: &syn::ItemImpl) {
        if item.trait_.is_some() {
            let types = item.items.iter().filter(|item| matches!(item, ImplItem::Type(_)));
            let mut names = BTreeSet::new();
            types.for_each(|ty| add_names(ty.to_token_stream(), &mut names));
            self.items.exposed.extend(names);
        }
        for item in &item.items {
            match item {
                ImplItem::Fn(item) => self.add(&item.vis, &item.sig.ident, true, &item.sig),
                ImplItem::Const(item) => self.add(&item.vis, &item.ident, true, &item.ty),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_, '_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Fn(item) => self.add(&item.vis, &item.sig.ident, true, &item.sig),
            Item::Const(item) => self.add(&item.vis, &item.ident, true, &item.ty),
            Item::Static(item) => self.add(&item.vis, &item.ident, true, &item.ty),
            Item::Struct(item) => self.add_struct(item),
            Item::Enum(item) => self.add(&item.vis, &item.ident, false, &item.variants),
            Item::Trait(item) => self.add(&item.vis, &item.ident, false, item),
            Item::Type(item) => self.add(&item.vis, &item.ident, false, &item.ty),
            Item::Impl(item) => self.add_impl(item),
            Item::Mod(item) if !is_test(&item.attrs) => visit::visit_item_mod(self, item),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        let tests_from = text.lines().count() + 1;
        SourceFile { path: path.to_owned(), text: text.to_owned(), tests_from }
    }

    #[test]
    fn what_only_its_own_crate_names_is_found() {
        let files = [
            file(
                "crates/a/src/lib.rs",
                "pub fn used() -> Shown { alone() } pub fn alone() {} pub struct Shown; pub struct Hidden;\n\
                 impl Shown { pub fn method(&self) {} pub(crate) fn own() {} }\n\
                 pub fn in_tests() {} #[cfg(test)] mod tests { pub fn helper() {} }",
            ),
            file("crates/a/tests/t.rs", "fn t() { a::in_tests(); }"),
            file("crates/b/src/lib.rs", "fn f() { a::used(); }"),
        ];
        let found = findings(&files);
        let names: Vec<&str> = found.iter().map(|line| line.split(": ").nth(1).unwrap()).collect();
        assert_eq!(names, ["alone", "Hidden", "method"]);
    }
}
