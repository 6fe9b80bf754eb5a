//! Functions that MySQL's grammar knows: another number of arguments is an error of syntax.

use super::core::{Parser, Result};
use crate::ast::Expr;
use crate::lexer::Tok;

/// Functions with the least and largest number of their arguments.
const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("ascii", 1, 1),
    ("charset", 1, 1),
    ("coalesce", 1, usize::MAX),
    ("collation", 1, 1),
    ("curdate", 0, 0),
    ("current_date", 0, 0),
    ("current_time", 0, 1),
    ("current_timestamp", 0, 1),
    ("current_user", 0, 0),
    ("curtime", 0, 1),
    ("database", 0, 0),
    ("date", 1, 1),
    ("day", 1, 1),
    ("format", 2, 3),
    ("hour", 1, 1),
    ("if", 3, 3),
    ("insert", 4, 4),
    ("left", 2, 2),
    ("localtime", 0, 1),
    ("localtimestamp", 0, 1),
    ("log", 1, 2),
    ("microsecond", 1, 1),
    ("minute", 1, 1),
    ("mod", 2, 2),
    ("month", 1, 1),
    ("now", 0, 1),
    ("quarter", 1, 1),
    ("repeat", 2, 2),
    ("replace", 3, 3),
    ("reverse", 1, 1),
    ("right", 2, 2),
    ("row_count", 0, 0),
    ("schema", 0, 0),
    ("second", 1, 1),
    ("session_user", 0, 0),
    ("sysdate", 0, 1),
    ("system_user", 0, 0),
    ("time", 1, 1),
    ("timestamp", 1, 2),
    ("truncate", 2, 2),
    ("user", 0, 0),
    ("utc_date", 0, 0),
    ("utc_time", 0, 1),
    ("utc_timestamp", 0, 1),
    ("week", 1, 2),
    ("year", 1, 1),
];

/// The least and largest number of arguments of a function of the grammar.
pub(super) fn counts(name: &str) -> Option<(usize, usize)> {
    let found = FUNCTIONS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))?;
    Some((found.1, found.2))
}

/// Whether the function's argument, if it has one, is the number of fraction digits: a plain integer.
fn takes_precision(name: &str) -> bool {
    const CLOCKS: [&str; 9] = [
        "current_time",
        "current_timestamp",
        "curtime",
        "localtime",
        "localtimestamp",
        "now",
        "sysdate",
        "utc_time",
        "utc_timestamp",
    ];
    CLOCKS.iter().any(|clock| clock.eq_ignore_ascii_case(name))
}

impl<'a> Parser<'a, '_> {
    /// The arguments of the function `name`, up to the parenthesis.
    pub(super) fn fixed_args(&mut self, name: &str, (least, most): (usize, usize)) -> Result<&'a [Expr<'a>]> {
        let mut args = self.vec();
        if self.at(Tok::RParen) {
            return if least == 0 { Ok(args.into_bump_slice()) } else { self.syntax() };
        }
        if most == 0 || (takes_precision(name) && !self.at_precision()) {
            return self.syntax();
        }
        loop {
            args.push(self.expr()?);
            if args.len() == most || !self.at(Tok::Comma) {
                break;
            }
            self.bump();
        }
        if args.len() < least { self.syntax() } else { Ok(args.into_bump_slice()) }
    }

    /// Whether the token is an integer of 31 bits, alone before the parenthesis.
    fn at_precision(&mut self) -> bool {
        let text = &self.text[self.tok.start as usize..self.tok.end as usize];
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u32>().ok());
        self.tok.kind == Tok::Int && number.is_some_and(|n| i32::try_from(n).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_grammar_are_found_in_any_case() {
        assert_eq!(counts("WEEK"), Some((1, 2)));
        assert_eq!(counts("now"), Some((0, 1)));
        assert_eq!(counts("length"), None);
        assert!(takes_precision("Utc_Time") && !takes_precision("curdate"));
        assert!(FUNCTIONS.iter().all(|(_, least, most)| least <= most));
    }
}
