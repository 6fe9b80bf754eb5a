//! The names of a crate's modules, and the files that the paths to them lead to.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use super::paths::{Written, add_uses, is_test_item};
use crate::tidy::source::SourceFile;

/// The path of a module within its crate, from the root.
pub(super) type Module = Vec<String>;

/// Most imports that one path is followed through. Imports that name each other would be followed for ever.
const IMPORTS_MAX: usize = 32;

/// `a::b` for `crates/x/src/a/b.rs` and `crates/x/src/a/b/mod.rs`; nothing for a root.
pub(super) fn module_of(path: &str) -> Module {
    let inner = path.split_once("/src/").map_or(path, |(_, inner)| inner).trim_end_matches(".rs");
    let mut parts: Module = inner.split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&&last[..])) {
        parts.pop();
    }
    parts
}

/// What one module names.
#[derive(Default)]
struct Scope {
    /// Its own items, without modules.
    items: BTreeSet<String>,
    /// Its child modules.
    children: BTreeSet<String>,
    /// Imported names.
    imports: BTreeMap<String, Import>,
    /// Imports of all names of a path.
    globs: Vec<Import>,
}

/// What a `use` imports.
struct Import {
    path: Vec<String>,
    /// Modules that are not within this one see it, too.
    is_exported: bool,
}

/// What a path leads to.
enum Target {
    Module(Module),
    /// An item of this module.
    ItemOf(Module),
    /// Something outside the crate.
    Outside,
}

/// The modules of a crate.
#[derive(Default)]
pub(super) struct Names {
    /// Modules that are files of their own.
    files: BTreeSet<Module>,
    scopes: BTreeMap<Module, Scope>,
    /// Modules of tests.
    tests: BTreeSet<Module>,
}

impl Names {
    pub(super) fn add_file(&mut self, file: &SourceFile, syntax: &syn::File) {
        let module = module_of(&file.path);
        self.files.insert(module.clone());
        self.scopes.entry(module.clone()).or_default();
        ScopeReader { names: self, module }.visit_file(syntax);
    }

    /// Whether the module is there in tests only.
    pub(super) fn is_test(&self, module: &Module) -> bool {
        (1..=module.len()).any(|len| self.tests.contains(&module[..len]))
    }

    /// The file that has what `written` leads to; nothing if that is outside the crate, or only imported.
    pub(super) fn holder(&self, written: &Written) -> Option<Module> {
        let module = match self.target(&written.module, &written.path, IMPORTS_MAX)? {
            Target::Outside => return None,
            Target::Module(_) if written.imports_name => return None,
            Target::Module(module) | Target::ItemOf(module) => module,
        };
        (0..=module.len()).rev().map(|len| module[..len].to_vec()).find(|part| self.files.contains(part))
    }

    /// What `path` means in `from`; nothing if its first name is not one of the crate.
    fn target(&self, from: &Module, path: &[String], imports: usize) -> Option<Target> {
        let mut at = from.clone();
        let mut rest = path;
        while let [first, after @ ..] = rest {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                _ => break,
            }
            rest = after;
        }
        while let [name, after @ ..] = rest {
            match self.lookup((from, &at), name, after.is_empty(), imports) {
                Some(Target::Module(module)) => at = module,
                Some(found) => return Some(found),
                None if rest.len() == path.len() => return None,
                // What a macro makes in a module is not known by name.
                None => return Some(Target::ItemOf(at)),
            }
            rest = after;
        }
        Some(Target::Module(at))
    }

    /// What `from` means by `name` in `module`. Of a module and an item, the end of a path means the item.
    fn lookup(
        &self,
        (from, module): (&Module, &Module),
        name: &str,
        is_last: bool,
        imports: usize,
    ) -> Option<Target> {
        let scope = self.scopes.get(module)?;
        let Some(imports) = imports.checked_sub(1) else { return Some(Target::Outside) };
        let is_seen = |import: &&Import| import.is_exported || from.starts_with(module);
        let child = || {
            let path = || module.iter().cloned().chain([name.to_owned()]).collect();
            scope.children.contains(name).then(|| Target::Module(path()))
        };
        let item = || scope.items.contains(name).then(|| Target::ItemOf(module.clone()));
        let imported = || {
            let import = scope.imports.get(name).filter(is_seen)?;
            Some(self.target(module, &import.path, imports).unwrap_or(Target::Outside))
        };
        let named = if is_last {
            item().or_else(imported).or_else(child)
        } else {
            child().or_else(imported).or_else(item)
        };
        let in_glob = |import: &Import| match self.target(module, &import.path, imports)? {
            Target::Module(all) => self.lookup((module, &all), name, is_last, imports),
            Target::ItemOf(_) | Target::Outside => None,
        };
        named.or_else(|| scope.globs.iter().filter(is_seen).find_map(in_glob))
    }
}

/// Reads what a file's modules name.
struct ScopeReader<'a> {
    names: &'a mut Names,
    module: Module,
}

impl ScopeReader<'_> {
    fn scope(&mut self) -> &mut Scope {
        self.names.scopes.entry(self.module.clone()).or_default()
    }

    fn add_mod(&mut self, item: &syn::ItemMod) {
        let name = item.ident.to_string();
        self.scope().children.insert(name.clone());
        self.module.push(name);
        self.scope();
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn add_use(&mut self, item: &syn::ItemUse) {
        let is_exported = !matches!(item.vis, syn::Visibility::Inherited);
        let scope = self.scope();
        add_uses(&item.tree, &mut |path, name| {
            let import = Import { path, is_exported };
            match name {
                Some(name) => drop(scope.imports.insert(name.to_owned(), import)),
                None => scope.globs.push(import),
            }
        });
    }
}

impl<'ast> Visit<'ast> for ScopeReader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_test_item(item) {
            if let syn::Item::Mod(item) = item {
                let module = self.module.iter().cloned().chain([item.ident.to_string()]);
                self.names.tests.insert(module.collect());
            }
            return;
        }
        let name = match item {
            syn::Item::Mod(item) => return self.add_mod(item),
            syn::Item::Use(item) => return self.add_use(item),
            syn::Item::Const(item) => Some(&item.ident),
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Fn(item) => Some(&item.sig.ident),
            syn::Item::Macro(item) => item.ident.as_ref(),
            syn::Item::Static(item) => Some(&item.ident),
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            syn::Item::Union(item) => Some(&item.ident),
            _ => None,
        };
        self.scope().items.extend(name.map(syn::Ident::to_string));
    }
}
