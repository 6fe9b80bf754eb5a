//! PASSWORD HISTORY, PASSWORD REUSE INTERVAL, PASSWORD REQUIRE CURRENT.

use super::core::{Parser, Result};
use crate::ast::{PasswordRules, Rule};
use crate::lexer::Kw;

impl Parser<'_, '_> {
    /// One rule, after PASSWORD.
    pub(super) fn password_rule(&mut self, rules: &mut PasswordRules) -> Result<()> {
        if self.eat_kw(Kw::HISTORY) {
            rules.history = self.default_or(Self::integer)?;
        } else if self.eat_kw2(Kw::REUSE, Kw::INTERVAL) {
            rules.reuse_days = self.default_or(Self::days)?;
        } else {
            self.expect_kw(Kw::REQUIRE)?;
            self.expect_kw(Kw::CURRENT)?;
            rules.requires_current = self.default_or(|p| Ok(!p.eat_kw(Kw::OPTIONAL)))?;
        }
        Ok(())
    }

    fn default_or<T>(&mut self, own: impl FnOnce(&mut Self) -> Result<T>) -> Result<Rule<T>> {
        if self.eat_kw(Kw::DEFAULT) { Ok(Rule::Default) } else { Ok(Rule::Own(own(self)?)) }
    }
}
