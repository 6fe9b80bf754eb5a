//! Select lists in the key.
//!
//! A select list is its text, because a column without an alias is named by it, and because literals in it
//! decide the types of columns. An item with a subquery and an alias is read token by token instead: literals
//! of the subquery's own clauses are lifted like those of a subquery anywhere else, and all others stay.
//!
//! ```text
//! SELECT a + 1, EXISTS(SELECT 1 FROM t WHERE id = 5) AS found FROM ..
//!       |------|                                                       text
//!              |-----------------------------------|                   tokens, 5 is lifted
//! ```
//!
//! In the first select list of a query, literals of such an item are lifted without an alias too. Its text up
//! to, between and after them stays in the key, so that the name follows from the key and the literals.

use super::{DEPTH_MAX, KEYWORD_BYTES, Reader, mark};
use crate::cache_key::role::Role;
use crate::lexer::{Kw, Lexer, Tok, Token};
use crate::literal::Literal;

/// An item of a select list.
#[derive(Clone, Copy, Debug)]
struct Item {
    start: usize,
    end: usize,
    has_subquery: bool,
    has_alias: bool,
    /// Some of it is in a comment whose text is executed: it cannot be read by itself.
    in_comment: bool,
}

impl Item {
    fn new(start: usize) -> Self {
        Item { start, end: start, has_subquery: false, has_alias: false, in_comment: false }
    }

    /// `names_columns`: the item's text may be the name of a column of the answer, and nothing else.
    fn is_read_by_tokens(&self, names_columns: bool) -> bool {
        self.has_subquery && (self.has_alias || names_columns) && !self.in_comment
    }
}

impl Reader<'_, '_> {
    /// Takes a select list, from after SELECT, and returns the token that ends it: a clause's first word, a
    /// closing parenthesis, or the end. `None`: no key for this statement.
    pub(super) fn select_list(&mut self, start: usize) -> Option<Token> {
        let mut token = self.step();
        let names_columns = self.out.key.len() == KEYWORD_BYTES;
        // What is before this position is in the key.
        let mut taken = start;
        // A hint right after SELECT would read as a comment from there.
        let mut item = Item::new(if token.kind == Tok::Hint { token.end as usize } else { start });
        let mut open = 0u32;
        loop {
            match token.kind {
                Tok::LParen => open += 1,
                Tok::RParen if open == 0 => break,
                Tok::RParen => open -= 1,
                Tok::Eof | Tok::Bad | Tok::Semicolon => break,
                Tok::Kw(kw) if open == 0 && ends_select_list(kw) => break,
                Tok::Kw(Kw::AS) if open == 0 => item.has_alias = true,
                Tok::Kw(Kw::SELECT) => item.has_subquery = true,
                Tok::Comma if open == 0 => {
                    taken = self.end_item(&item, taken, names_columns)?;
                    item = Item::new(token.end as usize);
                }
                Tok::Param => self.out.params += 1,
                _ => {}
            }
            item.in_comment |= self.lexer.in_version_comment();
            item.end = token.end as usize;
            token = self.step();
        }
        let end = item.end;
        taken = self.end_item(&item, taken, names_columns)?;
        self.bytes(mark::SELECT_LIST, taken, end.max(taken));
        self.last = Role::Plain;
        Some(token)
    }

    /// Takes `item`, and the text from `taken` to it, if it is read token by token; returns up to where the
    /// text was taken.
    fn end_item(&mut self, item: &Item, taken: usize, names_columns: bool) -> Option<usize> {
        if !item.is_read_by_tokens(names_columns) || self.depth >= DEPTH_MAX {
            return Some(taken);
        }
        self.bytes(mark::SELECT_LIST, taken, item.start);
        let (key_bytes, literals) = (self.out.key.len(), self.out.literals.len());
        let noted = self.out.tokens.len();
        let after = std::mem::replace(&mut self.lexer, Lexer::new(self.sql, item.start, self.mode));
        // They were counted as the item was looked through.
        let params = self.out.params;
        let is_kept = self.kept & 1 << self.depth != 0;
        self.set_kept(true);
        self.last = Role::Plain;
        self.items += 1;
        let first = self.lexer.step();
        let depth = self.depth;
        let is_read = self.run(first, item.end);
        self.items -= 1;
        if !is_read || self.depth != depth {
            return None;
        }
        self.set_kept(is_kept);
        self.has_lifted_item = true;
        self.out.params = params;
        self.lexer = after;
        self.out.tokens.truncate(noted);
        if !item.has_alias {
            self.out.key.truncate(key_bytes);
            self.text_around(literals, item);
        }
        Some(item.end)
    }

    /// Adds the text of `item` except for its literals, which are listed from position `first` on, and their
    /// kinds.
    fn text_around(&mut self, first: usize, item: &Item) {
        let mut start = item.start;
        for at in first..self.out.literals.len() {
            let Literal { offset, len, kind, .. } = self.out.literals[at];
            self.bytes(mark::SELECT_LIST, start, offset as usize);
            self.out.key.push(kind as u8);
            start = (offset + len) as usize;
        }
        self.bytes(mark::SELECT_LIST, start, item.end);
        self.out.named_literals += self.out.literals.len() - first;
    }

    /// Whether GROUP BY or ORDER BY holds a subquery after literals of the select list were lifted: the
    /// subquery may repeat an item, and would no longer be the same expression.
    pub(super) fn repeats_item(&self) -> bool {
        self.has_lifted_item && self.items == 0 && self.kept & 1 << self.depth != 0
    }
}

/// Words that end a select list at its own level of parentheses.
fn ends_select_list(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::FROM
            | Kw::INTO
            | Kw::WHERE
            | Kw::GROUP
            | Kw::HAVING
            | Kw::ORDER
            | Kw::LIMIT
            | Kw::UNION
            | Kw::EXCEPT
            | Kw::INTERSECT
            | Kw::FOR
            | Kw::LOCK
            | Kw::WINDOW
            | Kw::ON
    )
}
