//! Column definitions, keys and constraints.

use bumpalo::collections::Vec as BumpVec;

use super::core::{Parser, Result};
use super::expr::power;
use crate::ast::{
    Check, ColumnAttribute, ColumnDefinition, Constraint, ForeignKey, IndexType, KeyDefinition, KeyKind,
    KeyOptions, KeyPartSpec, Reference, ReferenceAction,
};
use crate::lexer::{Kw, Tok};

impl<'a> Parser<'a, '_> {
    /// `name type attributes`.
    pub(super) fn column_definition(&mut self) -> Result<ColumnDefinition<'a>> {
        let name = self.name()?;
        self.column_definition_of(name)
    }

    /// `type attributes` of column `name`.
    pub(super) fn column_definition_of(&mut self, name: &'a str) -> Result<ColumnDefinition<'a>> {
        let ty = self.type_name()?;
        let mut attributes = BumpVec::new_in(self.arena);
        while let Some(attribute) = self.opt_attribute()? {
            attributes.push(attribute);
        }
        Ok(ColumnDefinition { name, ty, attributes: attributes.into_bump_slice() })
    }

    /// One attribute, if one begins here.
    fn opt_attribute(&mut self) -> Result<Option<ColumnAttribute<'a>>> {
        let Tok::Kw(kw) = self.tok.kind else {
            return Ok(None);
        };
        let attribute = match kw {
            Kw::NULL => self.word_attribute(ColumnAttribute::Null),
            Kw::NOT => return self.not_attribute().map(Some),
            Kw::DEFAULT => self.default_attribute()?,
            Kw::ON => {
                self.bump();
                self.expect_kw(Kw::UPDATE)?;
                ColumnAttribute::OnUpdateNow(self.now_precision()?)
            }
            Kw::AUTO_INCREMENT => self.word_attribute(ColumnAttribute::AutoIncrement),
            Kw::SERIAL => {
                self.bump();
                self.expect_kw(Kw::DEFAULT)?;
                self.expect_kw(Kw::VALUE)?;
                ColumnAttribute::SerialDefault
            }
            Kw::UNIQUE => {
                self.bump();
                self.eat_kw(Kw::KEY);
                ColumnAttribute::Unique
            }
            Kw::PRIMARY => {
                self.bump();
                self.expect_kw(Kw::KEY)?;
                ColumnAttribute::PrimaryKey
            }
            Kw::KEY => self.word_attribute(ColumnAttribute::PrimaryKey),
            Kw::COMMENT => ColumnAttribute::Comment(self.after_word(Self::string)?),
            Kw::COLLATE => ColumnAttribute::Collate(self.after_word(Self::charset_name)?),
            Kw::COLUMN_FORMAT | Kw::STORAGE => {
                self.bump();
                if !self.eat_kw(Kw::DEFAULT) {
                    self.name()?;
                }
                ColumnAttribute::Ignored
            }
            Kw::ENGINE_ATTRIBUTE | Kw::SECONDARY_ENGINE_ATTRIBUTE => {
                self.option_value(Self::string)?;
                ColumnAttribute::Ignored
            }
            Kw::VISIBLE => self.word_attribute(ColumnAttribute::Visible(true)),
            Kw::INVISIBLE => self.word_attribute(ColumnAttribute::Visible(false)),
            Kw::GENERATED | Kw::AS => self.generated()?,
            Kw::CONSTRAINT | Kw::CHECK => ColumnAttribute::Check(self.column_check()?),
            Kw::REFERENCES => ColumnAttribute::References(self.reference()?),
            Kw::SRID => {
                self.bump();
                ColumnAttribute::Srid(self.number_u32()?)
            }
            _ => return Ok(None),
        };
        Ok(Some(attribute))
    }

    fn word_attribute(&mut self, attribute: ColumnAttribute<'a>) -> ColumnAttribute<'a> {
        self.bump();
        attribute
    }

    fn not_attribute(&mut self) -> Result<ColumnAttribute<'a>> {
        self.bump();
        if self.eat_kw(Kw::SECONDARY) {
            return Ok(ColumnAttribute::Ignored);
        }
        self.expect_kw(Kw::NULL)?;
        Ok(ColumnAttribute::NotNull)
    }

    fn default_attribute(&mut self) -> Result<ColumnAttribute<'a>> {
        self.bump();
        self.default_value().map(|(value, parenthesised)| ColumnAttribute::Default { value, parenthesised })
    }

    /// Value after DEFAULT: a literal with its sign, NOW, or an expression in parentheses (flagged).
    pub(super) fn default_value(&mut self) -> Result<(crate::ast::Expr<'a>, bool)> {
        if self.at(Tok::LParen) {
            self.bump();
            let value = self.expr()?;
            self.expect(Tok::RParen)?;
            return Ok((value, true));
        }
        let plain = match self.tok.kind {
            Tok::Kw(kw) => matches!(
                kw,
                Kw::NULL
                    | Kw::TRUE
                    | Kw::FALSE
                    | Kw::CURRENT_TIMESTAMP
                    | Kw::LOCALTIME
                    | Kw::LOCALTIMESTAMP
                    | Kw::NOW
                    | Kw::DATE
                    | Kw::TIME
                    | Kw::TIMESTAMP
            ),
            Tok::Minus | Tok::Plus => true,
            Tok::Int | Tok::Decimal | Tok::Float | Tok::Str(_) | Tok::NationalStr(_) => true,
            Tok::Hex | Tok::Bit | Tok::Introducer(_) => true,
            _ => false,
        };
        if !plain {
            return self.syntax();
        }
        Ok((self.expr_above(power::OPERAND)?, false))
    }

    /// `CURRENT_TIMESTAMP[(n)]` and its synonyms; returns n.
    fn now_precision(&mut self) -> Result<Option<u32>> {
        let Tok::Kw(Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP | Kw::NOW) = self.tok.kind
        else {
            return self.syntax();
        };
        self.bump();
        if self.at(Tok::LParen) && self.peek() == Tok::RParen {
            self.bump();
            self.bump();
            return Ok(None);
        }
        self.opt_length()
    }

    fn generated(&mut self) -> Result<ColumnAttribute<'a>> {
        if self.eat_kw(Kw::GENERATED) {
            self.expect_kw(Kw::ALWAYS)?;
        }
        self.expect_kw(Kw::AS)?;
        self.expect(Tok::LParen)?;
        let expr = self.expr()?;
        self.expect(Tok::RParen)?;
        let stored = self.eat_kw(Kw::STORED);
        if !stored {
            self.eat_kw(Kw::VIRTUAL);
        }
        Ok(ColumnAttribute::Generated { expr, stored })
    }

    fn column_check(&mut self) -> Result<Check<'a>> {
        let name = if self.eat_kw(Kw::CONSTRAINT) {
            if self.at_kw(Kw::CHECK) { None } else { Some(self.name()?) }
        } else {
            None
        };
        self.check(name)
    }

    /// CHECK (condition) [[NOT] ENFORCED], at CHECK.
    fn check(&mut self, name: Option<&'a str>) -> Result<Check<'a>> {
        self.expect_kw(Kw::CHECK)?;
        self.expect(Tok::LParen)?;
        let start = self.tok.start as usize;
        let expr = self.expr()?;
        let text = &self.text[start..self.prev_end as usize];
        self.expect(Tok::RParen)?;
        let enforced = self.opt_enforced().unwrap_or(true);
        Ok(Check { name, expr, enforced, text })
    }

    /// ENFORCED (true) or NOT ENFORCED, if given.
    pub(super) fn opt_enforced(&mut self) -> Option<bool> {
        if self.eat_kw2(Kw::NOT, Kw::ENFORCED) {
            return Some(false);
        }
        self.eat_kw(Kw::ENFORCED).then_some(true)
    }

    // Keys and constraints.

    /// A key or constraint, if one begins here.
    pub(super) fn opt_constraint(&mut self) -> Result<Option<Constraint<'a>>> {
        let Tok::Kw(kw) = self.tok.kind else {
            return Ok(None);
        };
        let begins = matches!(
            kw,
            Kw::CONSTRAINT
                | Kw::PRIMARY
                | Kw::UNIQUE
                | Kw::KEY
                | Kw::INDEX
                | Kw::FULLTEXT
                | Kw::SPATIAL
                | Kw::FOREIGN
                | Kw::CHECK
        );
        if !begins {
            return Ok(None);
        }
        let mut name = None;
        let named = self.eat_kw(Kw::CONSTRAINT);
        if named && self.at_name() {
            name = Some(self.name()?);
        }
        let constraint = match self.tok.kind {
            Tok::Kw(Kw::CHECK) => Constraint::Check(self.check(name)?),
            Tok::Kw(Kw::FOREIGN) => Constraint::ForeignKey(self.foreign_key(name)?),
            Tok::Kw(Kw::PRIMARY) => {
                self.bump();
                self.expect_kw(Kw::KEY)?;
                self.key(KeyKind::Primary, name)?
            }
            Tok::Kw(Kw::UNIQUE) => {
                self.bump();
                let _ = self.eat_kw(Kw::KEY) || self.eat_kw(Kw::INDEX);
                self.key(KeyKind::Unique, name)?
            }
            Tok::Kw(Kw::KEY | Kw::INDEX) if !named => {
                self.bump();
                self.key(KeyKind::Plain, None)?
            }
            Tok::Kw(kw @ (Kw::FULLTEXT | Kw::SPATIAL)) if !named => {
                self.bump();
                let _ = self.eat_kw(Kw::KEY) || self.eat_kw(Kw::INDEX);
                self.key(if kw == Kw::FULLTEXT { KeyKind::FullText } else { KeyKind::Spatial }, None)?
            }
            _ => return self.syntax(),
        };
        Ok(Some(constraint))
    }

    /// `[name] [USING type] (parts) options`.
    fn key(&mut self, kind: KeyKind, constraint: Option<&'a str>) -> Result<Constraint<'a>> {
        let name = if self.at_name() && !self.at_kw(Kw::TYPE) { Some(self.name()?) } else { None };
        let mut options = KeyOptions::default();
        self.opt_index_type(&mut options)?;
        let parts = self.key_parts()?;
        self.key_options(&mut options)?;
        Ok(Constraint::Key(KeyDefinition { kind, constraint, name, parts, options }))
    }

    /// `(part, ..)`.
    pub(super) fn key_parts(&mut self) -> Result<&'a [KeyPartSpec<'a>]> {
        self.paren_list(Self::key_part)
    }

    fn key_part(&mut self) -> Result<KeyPartSpec<'a>> {
        if self.eat(Tok::LParen) {
            let expr = self.expr()?;
            self.expect(Tok::RParen)?;
            return Ok(KeyPartSpec::Expr { expr, descending: self.direction() });
        }
        let name = self.name()?;
        let length = self.opt_length()?;
        Ok(KeyPartSpec::Column { name, length, descending: self.direction() })
    }

    /// ASC or DESC; true for DESC.
    fn direction(&mut self) -> bool {
        let descending = self.eat_kw(Kw::DESC);
        if !descending {
            self.eat_kw(Kw::ASC);
        }
        descending
    }

    /// `USING BTREE`, if given.
    pub(super) fn opt_index_type(&mut self, options: &mut KeyOptions<'a>) -> Result<()> {
        if !self.eat_kw(Kw::USING) && !self.eat_kw(Kw::TYPE) {
            return Ok(());
        }
        options.using = Some(match self.tok.kind {
            Tok::Kw(Kw::BTREE) => IndexType::BTree,
            Tok::Kw(Kw::HASH) => IndexType::Hash,
            Tok::Kw(Kw::RTREE) => IndexType::RTree,
            _ => return self.syntax(),
        });
        self.bump();
        Ok(())
    }

    /// Options after a key's parts.
    pub(super) fn key_options(&mut self, options: &mut KeyOptions<'a>) -> Result<()> {
        loop {
            let Tok::Kw(kw) = self.tok.kind else {
                return Ok(());
            };
            match kw {
                Kw::USING | Kw::TYPE => self.opt_index_type(options)?,
                Kw::KEY_BLOCK_SIZE => options.key_block_size = Some(self.option_value(Self::number)?),
                Kw::COMMENT => options.comment = Some(self.after_word(Self::string)?),
                Kw::VISIBLE => {
                    self.bump();
                    options.invisible = false;
                }
                Kw::INVISIBLE => {
                    self.bump();
                    options.invisible = true;
                }
                Kw::WITH if self.peek() == Tok::Kw(Kw::PARSER) => {
                    self.bump();
                    self.bump();
                    options.parser = Some(self.name()?);
                }
                Kw::ENGINE_ATTRIBUTE | Kw::SECONDARY_ENGINE_ATTRIBUTE => {
                    self.option_value(Self::string)?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn foreign_key(&mut self, constraint: Option<&'a str>) -> Result<ForeignKey<'a>> {
        self.bump();
        self.expect_kw(Kw::KEY)?;
        let name = if self.at_name() { Some(self.name()?) } else { None };
        let columns = self.key_parts()?;
        let reference = self.reference()?;
        Ok(ForeignKey { constraint, name, columns, reference })
    }

    /// REFERENCES clause.
    fn reference(&mut self) -> Result<Reference<'a>> {
        self.expect_kw(Kw::REFERENCES)?;
        let table = self.table_name()?;
        let columns = if self.at(Tok::LParen) { self.key_parts()? } else { &[][..] };
        if self.eat_kw(Kw::MATCH) {
            let _ = self.eat_kw(Kw::FULL) || self.eat_kw(Kw::PARTIAL) || self.eat_kw(Kw::SIMPLE);
        }
        let mut reference = Reference { table, columns, on_delete: None, on_update: None };
        while self.at_kw(Kw::ON) {
            self.bump();
            if self.eat_kw(Kw::DELETE) {
                reference.on_delete = Some(self.reference_action()?);
            } else {
                self.expect_kw(Kw::UPDATE)?;
                reference.on_update = Some(self.reference_action()?);
            }
        }
        Ok(reference)
    }

    fn reference_action(&mut self) -> Result<ReferenceAction> {
        if self.eat_kw2(Kw::SET, Kw::NULL) {
            return Ok(ReferenceAction::SetNull);
        }
        if self.eat_kw2(Kw::SET, Kw::DEFAULT) {
            return Ok(ReferenceAction::SetDefault);
        }
        if self.eat_kw2(Kw::NO, Kw::ACTION) {
            return Ok(ReferenceAction::NoAction);
        }
        if self.eat_kw(Kw::RESTRICT) {
            return Ok(ReferenceAction::Restrict);
        }
        self.expect_kw(Kw::CASCADE)?;
        Ok(ReferenceAction::Cascade)
    }
}
