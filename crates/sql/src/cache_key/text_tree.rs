//! Texts of statements seen before, with holes where their literals are: a radix tree that a text walks
//! down once, instead of being read token by token.
//!
//! ```text
//! "SELECT c FROM t WHERE id" -+- "=" -- (integer) -- ""                       -> value
//!                             \- " " -- "BETWEEN " -- (integer) -- " AND " -- (integer) -- ""  -> value
//! ```
//!
//! Only texts that [`CacheKey::read`] has read to their end are put in, and only if every literal it lists is
//! an integer or a string without escapes. A text found here has the same [`CacheKey`] as the one put in, its
//! literals where the holes are: reading goes from left to right, all bytes outside the holes are the same,
//! and in a hole is what reads as the same kind of token. Digits do, up to a byte that ended digits there
//! before (so it does not make a decimal, a float or a name of them); and so does what is between two quotes,
//! up to the first, if there is no backslash in it (a second quote right after would have been part of the
//! literal before as well).

use super::CacheKey;
use crate::lexer::{digits_at, plain_string_end};
use crate::literal::{Literal, LiteralKind};

/// Longest text worth keeping.
const TEXT_BYTES_MAX: usize = 2 * 1024;
/// When the tree has more nodes or bytes it is emptied: finding the least used text would cost every hit.
const NODES_MAX: usize = 128;
const BYTES_MAX: usize = 16 * 1024;

/// Texts and what belongs to them.
#[derive(Debug)]
pub struct TextTree<T> {
    /// The root is the first.
    nodes: Vec<Node<T>>,
    /// Bytes in all nodes.
    bytes: usize,
}

#[derive(Debug)]
struct Node<T> {
    /// What follows the step that led here.
    text: Box<[u8]>,
    /// The steps from its end, each with the node it leads to.
    steps: Vec<(Step, u32)>,
    /// What belongs to the text that ends here.
    value: Option<T>,
}

/// A byte, or a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step(u16);

impl Step {
    const INT: Step = Step(256);
    const STRING: Step = Step(257);

    #[inline]
    fn byte(byte: u8) -> Self {
        Step(u16::from(byte))
    }

    /// The hole for `literal` of `sql`, if it can be one.
    fn hole(literal: &Literal, sql: &[u8]) -> Option<Self> {
        match literal.kind {
            LiteralKind::Int => Some(Step::INT),
            LiteralKind::String if !literal.escaped && literal.text(sql).first() == Some(&b'\'') => {
                Some(Step::STRING)
            }
            _ => None,
        }
    }
}

impl<T> Node<T> {
    #[inline]
    fn next(&self, step: Step) -> Option<u32> {
        self.steps.iter().find(|(known, _)| *known == step).map(|(_, node)| *node)
    }
}

impl<T> Default for TextTree<T> {
    fn default() -> Self {
        TextTree { nodes: Vec::new(), bytes: 0 }
    }
}

impl<T> TextTree<T> {
    /// What belongs to the text that `sql` is except for its literals, which `key` lists then as
    /// [`CacheKey::read`] would; the rest of `key` is unspecified.
    ///
    /// Cost: about an instruction a byte and 40 for each step; no allocation once the list of literals has
    /// grown.
    #[inline]
    pub fn find(&self, sql: &[u8], key: &mut CacheKey) -> Option<&T> {
        key.literals.clear();
        let mut node = self.nodes.first()?;
        let mut pos = 0;
        loop {
            let rest = sql.get(pos..)?;
            if !starts_with(rest, &node.text) {
                return None;
            }
            pos += node.text.len();
            let Some(&byte) = sql.get(pos) else { return node.value.as_ref() };
            let next = match node.next(Step::byte(byte)) {
                Some(next) => {
                    pos += 1;
                    next
                }
                None => hole(node, sql, &mut pos, byte, key)?,
            };
            node = self.nodes.get(next as usize)?;
        }
    }

    /// Puts in the text whose whole content `key` was read from, unless it is too long or has other literals
    /// than those that are found.
    pub fn insert(&mut self, sql: &[u8], key: &CacheKey, value: T) {
        let fits = sql.len() <= TEXT_BYTES_MAX && key.params == 0;
        if !fits || key.literals.iter().any(|literal| Step::hole(literal, sql).is_none()) {
            return;
        }
        if self.nodes.len() > NODES_MAX || self.bytes > BYTES_MAX {
            *self = TextTree::default();
        }
        let mut holes = key.literals.iter();
        let mut hole = holes.next();
        let (mut node, mut pos) = (None, 0);
        loop {
            let until = hole.map_or(sql.len(), |hole| hole.offset as usize);
            let at = match node {
                None if self.nodes.is_empty() => self.add(&sql[pos..until]),
                None => 0,
                Some((from, step)) => self.step(from, step, &sql[pos..until]),
            };
            pos += self.part(at, &sql[pos..until]);
            let step = match hole {
                _ if pos < until => {
                    pos += 1;
                    Step::byte(sql[pos - 1])
                }
                Some(literal) => {
                    pos = (literal.offset + literal.len) as usize;
                    hole = holes.next();
                    Step::hole(literal, sql).unwrap_or(Step::INT)
                }
                None => {
                    self.nodes[at].value = Some(value);
                    return;
                }
            };
            node = Some((at, step));
        }
    }

    /// The node that `step` leads to from `from`; a new one has `text`.
    fn step(&mut self, from: usize, step: Step, text: &[u8]) -> usize {
        if let Some(next) = self.nodes[from].next(step) {
            return next as usize;
        }
        let next = self.add(text);
        self.nodes[from].steps.push((step, next as u32));
        next
    }

    fn add(&mut self, text: &[u8]) -> usize {
        self.bytes += text.len();
        self.nodes.push(Node { text: text.into(), steps: Vec::new(), value: None });
        self.nodes.len() - 1
    }

    /// Cuts the node's text where it parts from `text`; how many bytes they share.
    fn part(&mut self, at: usize, text: &[u8]) -> usize {
        let node = &mut self.nodes[at];
        let shared = node.text.iter().zip(text).take_while(|(a, b)| a == b).count();
        if shared < node.text.len() {
            let tail = Node {
                text: node.text[shared + 1..].into(),
                steps: std::mem::take(&mut node.steps),
                value: node.value.take(),
            };
            let step = Step::byte(node.text[shared]);
            node.text = node.text[..shared].into();
            let next = self.nodes.len() as u32;
            self.nodes[at].steps.push((step, next));
            self.nodes.push(tail);
        }
        shared
    }
}

/// Reads the literal at `pos`, which begins with `byte`, if the node has a hole for it; where the hole leads.
#[inline]
fn hole<T>(node: &Node<T>, sql: &[u8], pos: &mut usize, byte: u8, key: &mut CacheKey) -> Option<u32> {
    let start = *pos;
    let (step, kind, end) = match byte {
        b'0'..=b'9' => (Step::INT, LiteralKind::Int, start + digits_at(sql, start)),
        b'\'' => (Step::STRING, LiteralKind::String, plain_string_end(sql, start)?),
        _ => return None,
    };
    let next = node.next(step)?;
    key.push(start as u32, (end - start) as u32, kind, false);
    *pos = end;
    Some(next)
}

/// Whether `text` begins with `start`, eight bytes at a time.
#[inline]
fn starts_with(text: &[u8], start: &[u8]) -> bool {
    let Some(text) = text.get(..start.len()) else { return false };
    let (Some(last), Some(other)) = (text.last_chunk::<8>(), start.last_chunk::<8>()) else {
        return text.iter().zip(start).all(|(a, b)| a == b);
    };
    let (text, start) = (text.as_chunks::<8>().0, start.as_chunks::<8>().0);
    last == other && text.iter().zip(start).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests;
