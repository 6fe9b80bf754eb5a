//! File and function length, and the width of comments (that of code is rustfmt's).

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::source::{SourceFile, at};

/// Most lines of a file outside its tests.
const FILE_LINES_MAX: usize = 700;
/// Most lines of a function, unless its body is one flat `match`.
const FUNCTION_LINES_MAX: usize = 60;

/// A line of a comment may have this many characters, except for tables, and drawings in fences.
const COMMENT_WIDTH_MAX: usize = 110;

/// Files, functions and comments over their budget.
pub(crate) fn findings(file: &SourceFile) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let lines = file.production_lines().count();
    if lines > FILE_LINES_MAX {
        found.push(at(file, 1, &format!("{lines} lines, at most {FILE_LINES_MAX} outside tests")));
    }
    found.extend(wide_comments(file));
    if file.is_test_file() {
        return Ok(found);
    }
    let syntax = syn::parse_file(&file.text).map_err(|e| format!("{}: {e}", file.path))?;
    let mut visitor = Functions { file, found };
    visitor.visit_file(&syntax);
    Ok(visitor.found)
}

fn wide_comments(file: &SourceFile) -> Vec<String> {
    let mut is_fenced = false;
    let mut found = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            is_fenced = false;
            continue;
        };
        let text = comment.trim_start_matches(['/', '!']).trim_start();
        is_fenced ^= text.starts_with("```");
        let width = line.chars().count();
        if width > COMMENT_WIDTH_MAX && !is_fenced && !text.starts_with('|') {
            let what = format!("a comment of {width} characters, at most {COMMENT_WIDTH_MAX}");
            found.push(at(file, number + 1, &what));
        }
    }
    found
}

struct Functions<'a> {
    file: &'a SourceFile,
    found: Vec<String>,
}

impl Functions<'_> {
    fn measure(&mut self, name: &syn::Ident, block: &syn::Block) {
        let (first, last) = (block.span().start().line, block.span().end().line);
        let lines = last - first + 1;
        if lines > FUNCTION_LINES_MAX && first < self.file.tests_from && !is_flat_match(block) {
            let what = format!("function {name} has {lines} lines, at most {FUNCTION_LINES_MAX}");
            self.found.push(at(self.file, first, &what));
        }
    }
}

/// A dispatch: the body ends in a `match` whose arms are one short expression each, with at most a few lines
/// before it.
fn is_flat_match(block: &syn::Block) -> bool {
    let Some(syn::Stmt::Expr(syn::Expr::Match(found), _)) = block.stmts.last() else { return false };
    let lead = found.span().start().line - block.span().start().line;
    lead <= 12 && found.arms.iter().all(|arm| arm.body.span().end().line - arm.body.span().start().line <= 6)
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.measure(&item.sig.ident, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.measure(&item.sig.ident, &item.block);
        visit::visit_impl_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_with(body: &str) -> SourceFile {
        let text = format!("fn long() {{\n{body}\n}}\n");
        let tests_from = text.lines().count() + 1;
        SourceFile { path: "crates/x/src/a.rs".into(), text, tests_from }
    }

    #[test]
    fn a_long_function_is_found_and_a_flat_dispatch_is_not() {
        let long = file_with(&"let _ = 1;\n".repeat(80));
        assert_eq!(findings(&long).unwrap().len(), 1);
        let arms = "1 => f(1),\n".repeat(90);
        let flat = file_with(&format!("match x {{\n{arms}_ => 0,\n}}"));
        assert_eq!(findings(&flat).unwrap(), Vec::<String>::new());
    }
}
