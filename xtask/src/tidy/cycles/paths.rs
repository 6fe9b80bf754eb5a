//! The paths that a file writes.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::names::Module;

/// A path as a file writes it.
pub(super) struct Written {
    /// The module that it is written in.
    pub(super) module: Module,
    pub(super) path: Vec<String>,
    /// It imports one name. That of a module is used where a longer path begins with it.
    pub(super) imports_name: bool,
}

/// Collects the paths of a file. A re-export uses nothing.
pub(super) struct Paths {
    /// The module that the visitor is in.
    pub(super) inner: Module,
    pub(super) found: Vec<Written>,
}

impl Paths {
    fn add(&mut self, path: Vec<String>, imports_name: bool) {
        self.found.push(Written { module: self.inner.clone(), path, imports_name });
    }

    /// Paths of two parts and more in a macro's arguments.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is = |at: usize, wanted: char| matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == wanted);
        let mut at = 0;
        while at < tokens.len() {
            let continues = at > 0 && (is(at - 1, '.') || is(at - 1, ':') && at > 1 && is(at - 2, ':'));
            let mut path = Vec::new();
            while let Some(TokenTree::Ident(name)) = tokens.get(at) {
                path.push(name.to_string());
                at += 1;
                if !(is(at, ':') && is(at + 1, ':')) {
                    break;
                }
                at += 2;
            }
            if path.len() > 1 && !continues {
                self.add(path, false);
            } else if path.is_empty() {
                if let TokenTree::Group(group) = &tokens[at] {
                    self.add_tokens(group.stream());
                }
                at += 1;
            }
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            item if is_test_item(item) => {}
            syn::Item::Mod(item) => {
                self.inner.push(item.ident.to_string());
                visit::visit_item_mod(self, item);
                self.inner.pop();
            }
            syn::Item::Use(item) if matches!(item.vis, syn::Visibility::Inherited) => {
                add_uses(&item.tree, &mut |path, name| self.add(path, name.is_some()));
            }
            syn::Item::Use(_) => {}
            item => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        if !matches!(item, syn::ImplItem::Fn(item) if is_test(&item.attrs)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        // A path that begins with `::` leads out of the crate.
        if path.leading_colon.is_none() {
            self.add(path.segments.iter().map(|segment| segment.ident.to_string()).collect(), false);
        }
        visit::visit_path(self, path);
    }

    /// `pub(in ..)` uses nothing.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        self.add_tokens(invoked.tokens.clone());
        visit::visit_macro(self, invoked);
    }
}

/// Calls `add` with each path that a `use` imports and the name that it gets; without one for all names.
pub(super) fn add_uses(tree: &syn::UseTree, add: &mut dyn FnMut(Vec<String>, Option<&str>)) {
    add_tree(&mut Vec::new(), tree, add);
}

fn add_tree(before: &mut Vec<String>, tree: &syn::UseTree, add: &mut dyn FnMut(Vec<String>, Option<&str>)) {
    let mut leaf = |name: &syn::Ident, called: &syn::Ident| {
        // `a::{self}` imports `a`.
        let own = (name != "self").then(|| name.to_string());
        let path: Vec<String> = before.iter().cloned().chain(own).collect();
        let called = if called == "self" { path.last().cloned() } else { Some(called.to_string()) };
        if let Some(called) = called {
            add(path, Some(&called));
        }
    };
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            add_tree(before, &path.tree, add);
            before.pop();
        }
        syn::UseTree::Group(group) => group.items.iter().for_each(|item| add_tree(before, item, add)),
        syn::UseTree::Name(name) => leaf(&name.ident, &name.ident),
        syn::UseTree::Rename(rename) => leaf(&rename.ident, &rename.rename),
        syn::UseTree::Glob(_) => add(before.clone(), None),
    }
}

/// Whether an item is there in tests only.
pub(super) fn is_test_item(item: &syn::Item) -> bool {
    match item {
        syn::Item::Const(syn::ItemConst { attrs, .. })
        | syn::Item::Enum(syn::ItemEnum { attrs, .. })
        | syn::Item::Fn(syn::ItemFn { attrs, .. })
        | syn::Item::Impl(syn::ItemImpl { attrs, .. })
        | syn::Item::Macro(syn::ItemMacro { attrs, .. })
        | syn::Item::Mod(syn::ItemMod { attrs, .. })
        | syn::Item::Static(syn::ItemStatic { attrs, .. })
        | syn::Item::Struct(syn::ItemStruct { attrs, .. })
        | syn::Item::Trait(syn::ItemTrait { attrs, .. })
        | syn::Item::Type(syn::ItemType { attrs, .. })
        | syn::Item::Use(syn::ItemUse { attrs, .. }) => is_test(attrs),
        _ => false,
    }
}

/// Whether attributes let an item be there in tests only.
pub(in crate::tidy) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    })
}
