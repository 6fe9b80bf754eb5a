//! Errors of the lexer and parser, with the position MySQL reports.

use std::fmt;

use crate::ast::TlsPart;

/// Why a statement could not be parsed, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What went wrong.
    pub kind: ParseErrorKind,
    /// Byte offset of the offending token in the text handed to the parser.
    pub offset: usize,
    /// Line of that token, counted from 1.
    pub line: u32,
    /// Up to 80 characters of text from the offending token on; empty at the end of the text.
    pub near: String,
}

/// The kinds of parse error, each one MySQL error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// 1064, `ER_PARSE_ERROR`.
    Syntax,
    /// 1064: a privilege in the place of a role.
    IllegalAuthorization,
    /// 1064: a number with a fraction, or too large an integer.
    OnlyIntegers,
    /// 1327, `ER_SP_UNDECLARED_VAR`: INTO a name, which would be a variable of a stored program.
    UndeclaredVariable,
    /// 1225, `ER_DUP_ARGUMENT`
    OptionTwice(TlsPart),
    /// 1065, `ER_EMPTY_QUERY`: no statement at all.
    Empty,
    /// 1436, `ER_STACK_OVERRUN_NEED_MORE`: nested beyond the parser's bounds.
    TooDeep,
    /// 1473, `ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT`: too many queries within each other.
    TooManySelects,
    /// 1300, `ER_INVALID_CHARACTER_STRING`: a name or option text is not valid UTF-8.
    InvalidUtf8,
    /// 1317, `ER_QUERY_INTERRUPTED`, or 3024: the statement was to end.
    Interrupted,
    /// 1041, `ER_OUT_OF_RESOURCES`, or the error of another limit: the tree has more bytes than it may.
    OutOfMemory,
    /// 1153, `ER_NET_PACKET_TOO_LARGE`: the text is longer than 4 GiB.
    TooLong,
}

impl ParseError {
    /// An error of `kind` at byte `offset` of `sql`, whose blanks and semicolons at its end do not count.
    #[cold]
    #[inline(never)]
    pub fn at(kind: ParseErrorKind, sql: &[u8], offset: usize) -> Self {
        let is_read = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b';';
        let sql = &sql[..sql.iter().rposition(is_read).map_or(0, |last| last + 1)];
        let offset = offset.min(sql.len());
        let line = 1 + memchr::memchr_iter(b'\n', &sql[..offset]).count() as u32;
        let rest = &sql[offset..sql.len().min(offset + 4 * 80)];
        let near = String::from_utf8_lossy(rest).chars().take(80).collect();
        ParseError { kind, offset, line, near }
    }
}

impl fmt::Display for ParseError {
    /// MySQL's wording of the error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ParseErrorKind::Syntax => write!(
                f,
                "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version \
                 for the right syntax to use near '{}' at line {}",
                self.near, self.line
            ),
            ParseErrorKind::IllegalAuthorization => {
                write!(f, "Illegal authorization identifier near '{}' at line {}", self.near, self.line)
            }
            ParseErrorKind::OnlyIntegers => {
                write!(f, "Only integers allowed as number here near '{}' at line {}", self.near, self.line)
            }
            ParseErrorKind::UndeclaredVariable => {
                write!(f, "Undeclared variable: {}", first_name(&self.near))
            }
            ParseErrorKind::OptionTwice(part) => write!(f, "Option '{part}' used twice in statement"),
            ParseErrorKind::Empty => f.write_str("Query was empty"),
            ParseErrorKind::TooDeep => f.write_str(
                "Thread stack overrun:  the statement is nested too deeply.  Use fewer levels of nesting.",
            ),
            ParseErrorKind::TooManySelects => f.write_str("Too high level of nesting for select"),
            ParseErrorKind::InvalidUtf8 => write!(f, "Invalid utf8mb4 character string: '{}'", self.near),
            ParseErrorKind::Interrupted => f.write_str("Query execution was interrupted"),
            ParseErrorKind::OutOfMemory => f.write_str("the statement's syntax tree is too large"),
            ParseErrorKind::TooLong => f.write_str("Got a packet bigger than 'max_allowed_packet' bytes"),
        }
    }
}

/// The name with which `text` begins, without its quotes.
fn first_name(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii();
    match text.strip_prefix(['`', '"']) {
        Some(quoted) => quoted.split(['`', '"']).next().unwrap_or(quoted),
        None => text.split(|c| !is_part(c)).next().unwrap_or(text),
    }
}

impl std::error::Error for ParseError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_semicolons_at_the_end_are_no_part_of_the_text() {
        let at = |sql: &str, offset| {
            let error = ParseError::at(ParseErrorKind::Syntax, sql.as_bytes(), offset);
            (error.near, error.line)
        };
        assert_eq!(at("select 1 from ;\n ; ", 19), (String::new(), 1));
        assert_eq!(at("select 1\nfrom ; select 2 ;;", 14), ("; select 2".into(), 2));
        assert_eq!(at(" ;; ", 1), (String::new(), 1));
    }
}
