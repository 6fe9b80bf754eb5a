//! CHARACTER SET and COLLATE clauses.

use types::CollationId;
use types::collation::{Charset, Collation};

use crate::diagnostics::Severity;
use crate::error_map::{self, SqlError};
use crate::session::Session;

/// The warning that MySQL has for the character set that is written as `name`.
pub(crate) fn charset_warning(name: &str) -> Option<SqlError> {
    if name.eq_ignore_ascii_case("utf8") {
        return Some(error_map::DEPRECATED_UTF8_ALIAS.bare());
    }
    let is_old = name.eq_ignore_ascii_case("utf8mb3");
    is_old.then(|| error_map::WARN_DEPRECATED_SYNTAX.with(&[&"utf8mb3", &"utf8mb4"]))
}

/// The warning that MySQL has for the collation that is written as `name`.
pub(crate) fn collation_warning(name: &str) -> Option<SqlError> {
    let found = Collation::find(name).filter(|collation| collation.charset == Charset::Utf8mb3)?;
    Some(error_map::DEPRECATED_UTF8MB3_COLLATION.with(&[&found.name]))
}

fn warn(session: &mut Session, warning: Option<SqlError>) {
    if let Some(warning) = warning {
        session.warn(Severity::Warning, warning);
    }
}

/// What clauses have said of character set and collation so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CollationClauses {
    charset: Option<Charset>,
    collation: Option<&'static Collation>,
}

impl CollationClauses {
    /// As [`CollationClauses::add_charset`], with MySQL's warning for names that are going away.
    pub(super) fn take_charset(&mut self, session: &mut Session, name: &str) -> Result<(), SqlError> {
        if Charset::find(name).is_some() {
            warn(session, charset_warning(name));
        }
        self.add_charset(name)
    }

    /// As [`CollationClauses::take_charset`], for a table or a schema: a collation before it has named a
    /// character set.
    pub(super) fn take_default_charset(&mut self, session: &mut Session, name: &str) -> Result<(), SqlError> {
        self.charset = self.charset.or(self.collation.map(|collation| collation.charset));
        self.take_charset(session, name)
    }

    /// As [`CollationClauses::add_collation`], with MySQL's warning for names that are going away.
    pub(super) fn take_collation(&mut self, session: &mut Session, name: &str) -> Result<(), SqlError> {
        warn(session, collation_warning(name));
        self.add_collation(name)
    }

    /// CHARACTER SET `name`; DEFAULT says nothing.
    ///
    /// # Errors
    /// 1115; 1302 after another character set; 1253 after a collation of another.
    pub(super) fn add_charset(&mut self, name: &str) -> Result<(), SqlError> {
        if name.eq_ignore_ascii_case("DEFAULT") {
            return Ok(());
        }
        let charset = Charset::find(name).ok_or_else(|| error_map::UNKNOWN_CHARACTER_SET.with(&[&name]))?;
        if let Some(before) = self.charset.filter(|before| *before != charset) {
            let words = "CHARACTER SET ";
            let (first, second) = (before.name(), charset.name());
            return Err(error_map::CONFLICTING_DECLARATIONS.with(&[&words, &first, &words, &second]));
        }
        self.charset = Some(charset);
        self.agree()
    }

    /// COLLATE `name`; the last one counts.
    ///
    /// # Errors
    /// 1273; 1253 if it is of another character set.
    pub(super) fn add_collation(&mut self, name: &str) -> Result<(), SqlError> {
        let found = Collation::find(name);
        self.collation = Some(found.ok_or_else(|| error_map::UNKNOWN_COLLATION.with(&[&name]))?);
        self.agree()
    }

    /// Whether there was COLLATE.
    pub(super) fn is_collation_named(&self) -> bool {
        self.collation.is_some()
    }

    fn agree(&self) -> Result<(), SqlError> {
        match (self.charset, self.collation) {
            (Some(charset), Some(collation)) if collation.charset != charset => {
                Err(error_map::COLLATION_CHARSET_MISMATCH.with(&[&collation.name, &charset.name()]))
            }
            _ => Ok(()),
        }
    }

    /// The collation that the clauses mean, `default` if there were none.
    pub(super) fn resolve(&self, default: CollationId) -> CollationId {
        match (self.charset, self.collation) {
            (_, Some(collation)) => collation.id,
            (Some(charset), None) => charset.default_collation(),
            (None, None) => default,
        }
    }

    /// As [`CollationClauses::resolve`], with the attribute BINARY: code points decide.
    pub(super) fn resolve_binary(&self, default: CollationId) -> CollationId {
        let resolved = self.resolve(default);
        resolved.collation().map_or(resolved, |collation| collation.charset.binary_collation())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clauses(charset: Option<&str>, collation: Option<&str>) -> Result<CollationId, u16> {
        let mut clauses = CollationClauses::default();
        let added = charset.map_or(Ok(()), |name| clauses.add_charset(name));
        let added = added.and_then(|()| collation.map_or(Ok(()), |name| clauses.add_collation(name)));
        added.map(|()| clauses.resolve(CollationId::ASCII_BIN)).map_err(|error| error.code)
    }

    #[test]
    fn clauses_mean_one_collation() {
        assert_eq!(clauses(None, None), Ok(CollationId::ASCII_BIN));
        assert_eq!(clauses(Some("default"), None), Ok(CollationId::ASCII_BIN));
        assert_eq!(clauses(Some("latin1"), None), Ok(CollationId::LATIN1_SWEDISH_CI));
        assert_eq!(clauses(None, Some("latin1_bin")), Ok(CollationId::LATIN1_BIN));
        assert_eq!(clauses(Some("latin1"), Some("utf8mb4_bin")), Err(1253));
        assert_eq!(clauses(Some("klingon"), None), Err(1115));
        assert_eq!(clauses(None, Some("klingon_ci")), Err(1273));
    }

    #[test]
    fn character_sets_may_not_contradict_each_other() {
        let mut clauses = CollationClauses::default();
        assert!(clauses.add_charset("latin1").is_ok() && clauses.add_charset("LATIN1").is_ok());
        let error = clauses.add_charset("ascii").expect_err("another one");
        assert_eq!(
            error.message,
            "Conflicting declarations: 'CHARACTER SET latin1' and 'CHARACTER SET ascii'"
        );
        assert_eq!(clauses.resolve_binary(CollationId::BINARY), CollationId::LATIN1_BIN);
    }
}
