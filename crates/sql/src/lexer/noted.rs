//! Tokens that one pass over a text notes for the next: the cache key is made of a text just before it is
//! parsed.

use super::{Context, Lexer, Token};

/// Most tokens that are noted: statements with more are loads of rows, or take far longer than their text.
const NOTED_MAX: usize = 256;

/// A token, and what is around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    /// Position of the lexer before it.
    from: u32,
    /// The token; the lexer is at its end after it.
    token: Token,
    /// What it says about the next one.
    context: Context,
}

/// The first tokens of a text, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct NotedTokens {
    list: Vec<Noted>,
}

impl NotedTokens {
    /// Forgets all tokens after the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.list.truncate(count);
    }

    /// Number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Bytes of the list.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.list.capacity() * size_of::<Noted>()
    }

    /// The tokens.
    pub(crate) fn as_slice(&self) -> &[Noted] {
        &self.list
    }
}

#[cfg(test)]
thread_local! {
    /// How many noted tokens were taken.
    pub(crate) static TAKEN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl Lexer<'_> {
    /// [`Lexer::step`], noted in `tokens` if it `is_noted`: not within a comment whose text is executed, as
    /// that is more than a token's context.
    #[inline(always)]
    pub(crate) fn step_noted(&mut self, tokens: &mut NotedTokens, is_noted: bool) -> Token {
        let (from, was_in_comment) = (self.pos as u32, self.in_version_comment);
        let token = self.step();
        let in_comment = was_in_comment | self.in_version_comment;
        if is_noted && tokens.list.len() < NOTED_MAX && !in_comment {
            tokens.list.push(Noted { from, token, context: self.context });
        }
        token
    }

    /// The next token, from `noted` if it is there: tokens that another pass over the text noted, of which
    /// those before the position are dropped.
    #[inline]
    pub(crate) fn next_of(&mut self, noted: &mut &[Noted]) -> Token {
        while let [next, rest @ ..] = *noted {
            if next.from as usize > self.pos {
                break;
            }
            *noted = rest;
            if next.from as usize == self.pos {
                self.pos = next.token.end as usize;
                self.context = next.context;
                #[cfg(test)]
                TAKEN.set(TAKEN.get() + 1);
                return next.token;
            }
        }
        self.next()
    }
}
