//! The grants of one account: on everything, on databases, on tables and their columns; and in which
//! databases what is granted on everything does not hold.
//!
//! On disk: u32 global static privileges, u64 dynamic ones, u64 those of them with GRANT OPTION; u32 number
//! of databases, each a name and u32 privileges; u32 number of tables, each a schema, a name and u32
//! privileges. Integers are little-endian; a name is u16 bytes and its text. Two things are kept apart from
//! that: what is granted on columns, as u32 number of columns, each a schema, a table, a name and u32
//! privileges; and restrictions, as u32 number of databases, each a name and u32 privileges.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::dynamic::DynamicSet;
use super::restrictions::Restrictions;
use super::set::Privileges;
use super::table_grants::{TableGrant, TableGrants};
use crate::like::like_exact;

/// Most databases, tables and columns of an account's grants.
const TARGETS_MAX: usize = 10_000;

/// How what is granted on databases names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaNames {
    /// By patterns.
    Patterns,
    /// As they are: with `partial_revokes`.
    Exact,
}

/// Grants of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Static privileges on everything.
    pub(crate) global: Privileges,
    /// Dynamic privileges.
    pub(crate) dynamic: DynamicSet,
    /// Those of them that the account may grant.
    pub(crate) dynamic_grantable: DynamicSet,
    /// Where the static privileges on everything do not hold. Only of privileges that are there.
    pub(crate) restrictions: Restrictions,
    /// Name patterns of databases, the most specific first, and what is granted on them.
    schemas: Vec<(String, Privileges)>,
    tables: TableGrants,
    /// Of several accounts together. Not stored.
    is_merged: bool,
}

impl Grants {
    /// Everything, with GRANT OPTION.
    pub(crate) fn everything() -> Self {
        let global = Privileges::ALL | Privileges::GRANT_OPTION;
        let all = DynamicSet::ALL;
        Grants { global, dynamic: all, dynamic_grantable: all, ..Grants::default() }
    }

    /// What every account could do before there were privileges.
    pub(crate) fn before_privileges() -> Self {
        let global = Privileges::OF_SCHEMA | Privileges::SHOW_DATABASES;
        Grants { global, ..Grants::default() }
    }

    /// All of these together: what an account may do with active roles.
    pub(crate) fn merged<'g>(all: impl IntoIterator<Item = &'g Grants>) -> Self {
        let mut merged = Grants { is_merged: true, ..Grants::default() };
        let mut schemas = BTreeMap::new();
        for grants in all {
            let (held, more) = (merged.global, grants.global);
            merged.restrictions = merged.restrictions.joined(held, &grants.restrictions, more);
            merged.global = held | more;
            merged.dynamic = merged.dynamic.with(grants.dynamic);
            merged.dynamic_grantable = merged.dynamic_grantable.with(grants.dynamic_grantable);
            for (pattern, set) in &grants.schemas {
                let known: &mut Privileges = schemas.entry(pattern).or_default();
                *known = *known | *set;
            }
            grants.tables.list().iter().for_each(|table| merged.tables.merge(table));
        }
        merged.schemas = schemas.into_iter().map(|(pattern, set)| (pattern.clone(), set)).collect();
        merged.sort_schemas();
        merged.lift_what_is_granted();
        merged
    }

    /// What one account is granted on a database lifts what another is restricted there, and is used up.
    fn lift_what_is_granted(&mut self) {
        self.restrictions.lift_by(&mut self.schemas);
        self.schemas.retain(|(_, granted)| !granted.is_empty());
    }

    /// Privileges on the databases that the pattern fits which fits `schema` most closely. Where the
    /// patterns are those of several accounts, all that fit count, unless one is the name itself: then it
    /// counts alone.
    pub(crate) fn on_schema(&self, schema: &str, names: SchemaNames) -> Privileges {
        if names == SchemaNames::Exact {
            return self.of_pattern(schema).unwrap_or_default();
        }
        if self.is_merged {
            return self.of_pattern(schema).unwrap_or_else(|| {
                let fits = self.schemas.iter().filter(|(pattern, _)| like_exact(pattern, schema));
                fits.fold(Privileges::NONE, |all, (_, set)| all | *set)
            });
        }
        let found = self.schemas.iter().find(|(pattern, _)| like_exact(pattern, schema));
        found.map_or(Privileges::NONE, |&(_, set)| set)
    }

    /// Privileges on this very table.
    pub(crate) fn on_table(&self, schema: &str, table: &str) -> Privileges {
        self.tables.find(schema, table).map_or(Privileges::NONE, |grant| grant.set)
    }

    /// Everything that is granted on some column of this very table.
    pub(crate) fn on_any_column(&self, schema: &str, table: &str) -> Privileges {
        self.tables.find(schema, table).map_or(Privileges::NONE, TableGrant::on_any_column)
    }

    /// Privileges on this very column.
    pub(crate) fn on_column(&self, schema: &str, table: &str, column: &str) -> Privileges {
        self.tables.find(schema, table).map_or(Privileges::NONE, |grant| grant.on_column(column))
    }

    /// Whether something is granted on columns.
    pub(crate) fn has_columns(&self) -> bool {
        self.tables.has_columns()
    }

    /// Whether something is granted on a table of `schema`.
    pub(crate) fn has_table_in(&self, schema: &str) -> bool {
        self.tables.list().iter().any(|grant| grant.schema == schema)
    }

    /// Whether an account may be granted this that was granted `before`: what is there already may stay.
    pub(crate) fn is_within_limit(&self, before: &Grants) -> bool {
        self.targets() <= TARGETS_MAX.max(before.targets())
    }

    fn targets(&self) -> usize {
        self.schemas.len() + self.restrictions.len() + self.tables.len()
    }

    /// Privileges granted with this very pattern.
    pub(crate) fn of_pattern(&self, pattern: &str) -> Option<Privileges> {
        self.schemas.iter().find(|(known, _)| known == pattern).map(|&(_, set)| set)
    }

    /// All patterns of databases, the most specific first.
    pub(crate) fn schemas(&self) -> &[(String, Privileges)] {
        &self.schemas
    }

    /// All tables, in order of their names.
    pub(crate) fn tables(&self) -> &[TableGrant] {
        self.tables.list()
    }

    /// Sets the privileges of a pattern; without any it is forgotten.
    pub(crate) fn set_schema(&mut self, pattern: &str, set: Privileges) {
        self.schemas.retain(|(known, _)| known != pattern);
        if !set.is_empty() {
            self.schemas.push((pattern.to_owned(), set));
            self.sort_schemas();
        }
    }

    fn sort_schemas(&mut self) {
        self.schemas.sort_by_cached_key(|(pattern, _)| {
            let first_wildcard = pattern.find(['%', '_']).unwrap_or(usize::MAX);
            (Reverse(first_wildcard), pattern.matches('%').count(), pattern.clone())
        });
    }

    /// Sets the privileges of a table, those on its columns aside.
    pub(crate) fn set_table(&mut self, schema: &str, table: &str, set: Privileges) {
        self.tables.set(schema, table, set);
    }

    /// Sets the privileges of a column of `(schema, table)`; without any it is forgotten.
    pub(crate) fn set_column(&mut self, table: (&str, &str), column: &str, set: Privileges) {
        self.tables.set_column(table, column, set);
    }

    /// Takes `taken` from a table and from each of its columns.
    pub(crate) fn take_from_table(&mut self, schema: &str, table: &str, taken: Privileges) {
        self.tables.take(schema, table, taken);
    }

    /// Adds privileges on everything; `by`: the restrictions of the grantor.
    pub(crate) fn add_global(&mut self, added: Privileges, by: &Restrictions) {
        let mut by = by.clone();
        by.keep(added);
        self.restrictions = self.restrictions.joined(self.global, &by, added);
        self.global = self.global | added;
    }

    /// Takes privileges on everything.
    pub(crate) fn take_global(&mut self, taken: Privileges) {
        self.global = self.global - taken;
        self.restrictions.keep(self.global);
    }

    /// Restricts privileges on everything in a database, those that there are.
    pub(crate) fn restrict(&mut self, schema: &str, set: Privileges) {
        let known = self.restrictions.on(schema);
        self.restrictions.set(schema, known | set & self.global);
    }

    /// Grants `set` on a database: where that lifts restrictions, it does no more.
    pub(crate) fn lift(&mut self, schema: &str, set: Privileges) -> Privileges {
        let known = self.restrictions.on(schema);
        self.restrictions.set(schema, known - set);
        set - known
    }

    /// The restrictions.
    pub(crate) fn encode_restrictions(&self) -> Vec<u8> {
        let mut bytes = (self.restrictions.len() as u32).to_le_bytes().to_vec();
        for (schema, set) in self.restrictions.list() {
            put_name(&mut bytes, schema);
            bytes.extend(set.to_bits().to_le_bytes());
        }
        bytes
    }

    /// Adds the restrictions. `None` if the bytes are not what [`Grants::encode_restrictions`] makes.
    pub(crate) fn decode_restrictions(&mut self, bytes: &[u8]) -> Option<()> {
        let mut rest = bytes;
        for _ in 0..u32::from_le_bytes(take(&mut rest)?) {
            let (schema, set) = (take_name(&mut rest)?, take_set(&mut rest)?);
            self.restrict(&schema, set);
        }
        rest.is_empty().then_some(())
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.global.to_bits().to_le_bytes());
        bytes.extend(self.dynamic.to_bits().to_le_bytes());
        bytes.extend(self.dynamic_grantable.to_bits().to_le_bytes());
        bytes.extend((self.schemas.len() as u32).to_le_bytes());
        for (pattern, set) in &self.schemas {
            put_name(&mut bytes, pattern);
            bytes.extend(set.to_bits().to_le_bytes());
        }
        let tables = || self.tables.list().iter().filter(|grant| !grant.set.is_empty());
        bytes.extend((tables().count() as u32).to_le_bytes());
        for grant in tables() {
            put_name(&mut bytes, &grant.schema);
            put_name(&mut bytes, &grant.table);
            bytes.extend(grant.set.to_bits().to_le_bytes());
        }
        bytes
    }

    /// The privileges on columns.
    pub(crate) fn encode_columns(&self) -> Vec<u8> {
        let mut count = 0_u32;
        let mut bytes = count.to_le_bytes().to_vec();
        for grant in self.tables.list() {
            for (column, set) in grant.columns() {
                put_name(&mut bytes, &grant.schema);
                put_name(&mut bytes, &grant.table);
                put_name(&mut bytes, column);
                bytes.extend(set.to_bits().to_le_bytes());
                count += 1;
            }
        }
        bytes[..size_of::<u32>()].copy_from_slice(&count.to_le_bytes());
        bytes
    }

    /// Adds what is granted on columns. `None` if the bytes are not what [`Grants::encode_columns`] makes.
    pub(crate) fn decode_columns(&mut self, bytes: &[u8]) -> Option<()> {
        let mut rest = bytes;
        for _ in 0..u32::from_le_bytes(take(&mut rest)?) {
            let (schema, table) = (take_name(&mut rest)?, take_name(&mut rest)?);
            let (column, set) = (take_name(&mut rest)?, take_set(&mut rest)?);
            if !Privileges::OF_COLUMN.has(set) {
                return None;
            }
            self.set_column((&schema, &table), &column, set);
        }
        rest.is_empty().then_some(())
    }

    /// `None` if the bytes are not what [`Grants::encode`] makes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let global = take_set(&mut rest)?;
        let dynamic = DynamicSet::from_bits(u64::from_le_bytes(take(&mut rest)?))?;
        let dynamic_grantable = DynamicSet::from_bits(u64::from_le_bytes(take(&mut rest)?))?;
        let mut grants = Grants { global, dynamic, dynamic_grantable, ..Grants::default() };
        for _ in 0..u32::from_le_bytes(take(&mut rest)?) {
            grants.schemas.push((take_name(&mut rest)?, take_set(&mut rest)?));
        }
        for _ in 0..u32::from_le_bytes(take(&mut rest)?) {
            let (schema, table) = (take_name(&mut rest)?, take_name(&mut rest)?);
            grants.set_table(&schema, &table, take_set(&mut rest)?);
        }
        rest.is_empty().then_some(grants)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

fn put_name(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn take_set(rest: &mut &[u8]) -> Option<Privileges> {
    Privileges::from_bits(u32::from_le_bytes(take(rest)?))
}

fn take_name(rest: &mut &[u8]) -> Option<String> {
    let length = usize::from(u16::from_le_bytes(take(rest)?));
    let (name, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    String::from_utf8(name.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_survive_being_stored() {
        let mut grants = Grants::everything();
        grants.set_schema("app\\_%", Privileges::SELECT);
        grants.set_schema("app", Privileges::OF_SCHEMA | Privileges::GRANT_OPTION);
        grants.set_table("b", "u", Privileges::INSERT);
        grants.set_table("b", "t", Privileges::SELECT | Privileges::UPDATE);
        let bytes = grants.encode();
        assert_eq!(Grants::decode(&bytes), Some(grants));
        for cut in 0..bytes.len() {
            assert_eq!(Grants::decode(&bytes[..cut]), None, "cut at {cut}");
        }
    }

    #[test]
    fn grants_on_columns_survive_being_stored() {
        let mut grants = Grants::default();
        grants.set_table("d", "t", Privileges::INSERT);
        let whole = grants.clone();
        grants.set_column(("d", "t"), "b", Privileges::SELECT | Privileges::UPDATE);
        grants.set_column(("d", "u"), "A", Privileges::REFERENCES);
        assert_eq!(Grants::decode(&grants.encode()), Some(whole.clone()));
        let bytes = grants.encode_columns();
        let mut read = whole.clone();
        assert_eq!(read.decode_columns(&bytes), Some(()));
        assert_eq!(read, grants);
        for cut in 0..bytes.len() {
            assert_eq!(whole.clone().decode_columns(&bytes[..cut]), None, "cut at {cut}");
        }
    }

    #[test]
    fn the_most_specific_pattern_counts_alone() {
        let mut grants = Grants::default();
        grants.set_schema("%", Privileges::DROP);
        grants.set_schema("a%", Privileges::SELECT);
        grants.set_schema("a\\_b", Privileges::INSERT);
        grants.set_schema("a_c", Privileges::UPDATE);
        assert_eq!(grants.on_schema("a_b", SchemaNames::Patterns), Privileges::INSERT);
        assert_eq!(grants.on_schema("axb", SchemaNames::Patterns), Privileges::SELECT);
        assert_eq!(grants.on_schema("axc", SchemaNames::Patterns), Privileges::UPDATE);
        assert_eq!(
            grants.on_schema("A_b", SchemaNames::Patterns),
            Privileges::DROP,
            "names of databases differ by case"
        );
        grants.set_schema("%", Privileges::NONE);
        assert_eq!(grants.on_schema("b", SchemaNames::Patterns), Privileges::NONE);
    }

    #[test]
    fn a_table_without_privileges_is_forgotten() {
        let mut grants = Grants::default();
        grants.set_table("d", "t", Privileges::SELECT);
        assert!(grants.has_table_in("d") && !grants.has_table_in("e"));
        grants.set_table("d", "t", Privileges::NONE);
        assert_eq!(grants, Grants::default());
    }

    #[test]
    fn the_number_of_databases_tables_and_columns_is_bounded() {
        let mut grants = Grants::default();
        for n in 2..TARGETS_MAX {
            grants.set_table("d", &format!("t{n:05}"), Privileges::SELECT);
        }
        grants.set_column(("d", "t00002"), "c", Privileges::SELECT);
        grants.set_schema("d", Privileges::SELECT);
        let before = grants.clone();
        assert!(grants.is_within_limit(&Grants::default()));
        grants.set_schema("e", Privileges::SELECT);
        assert!(!grants.is_within_limit(&before));
        assert!(grants.is_within_limit(&grants), "it grows no more");
    }
}
