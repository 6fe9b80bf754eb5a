//! The dictionary: its tree, its definitions, and that their names and ids are each given once.

use std::collections::BTreeSet;

use base::{IndexId, TableId};
use page::{FileHeader, PageRef};
use space::check::{PageSet, Problems};

use super::Finding;
use crate::dictionary::{FIRST_USER_INDEX, Kind, TableRecord, decode_schema, read_table};
use crate::engine::Engine;
use crate::error::Result;

/// Bytes of a key beside the name.
const KEY_OVERHEAD: usize = 7;

/// Tables whose definitions are sound, and what is wrong with the others.
pub(super) struct Definitions {
    pub(super) tables: Vec<TableRecord>,
    pub(super) findings: Vec<Finding>,
}

impl Engine {
    /// Checks the dictionary; `pages` learns of its pages.
    pub(super) fn check_dictionary(
        &self,
        header: &FileHeader,
        pages: &mut PageSet<'_>,
    ) -> Result<Definitions> {
        let tree = self.dictionary.tree().check_with(&self.store, pages, &mut |page, _, problems| {
            check_keys(page, problems);
        });
        let of_tree = tree.problems.into_iter().map(|bad| Finding::of_index("dictionary", bad));
        let mut found = Definitions { tables: Vec::new(), findings: of_tree.collect() };
        if found.findings.is_empty() {
            self.check_definitions(header, &mut found)?;
        }
        Ok(found)
    }

    fn check_definitions(&self, header: &FileHeader, found: &mut Definitions) -> Result<()> {
        let mut schemas = BTreeSet::new();
        for (name, bytes) in self.dictionary.list(&self.store, Kind::Schema)? {
            match decode_schema(&bytes) {
                Ok(schema) if schema.id < header.next_schema => drop(schemas.insert(schema.name)),
                Ok(schema) => {
                    found.add_finding(format!("{} has an id that was not given out yet", schema.name));
                }
                Err(error) => {
                    found.add_finding(format!("schema {}: {error}", String::from_utf8_lossy(&name)));
                }
            }
        }
        if !self.dictionary.list(&self.store, Kind::Change)?.is_empty() {
            found.add_finding("a DDL statement was decided and is not done".to_owned());
        }
        let mut known = Known::default();
        for (name, bytes) in self.dictionary.list(&self.store, Kind::Table)? {
            let record = match read_table(&bytes) {
                Ok(record) => record,
                Err(error) => {
                    found.add_finding(format!("table with id 0x{}: {error}", hex(&name)));
                    continue;
                }
            };
            let table = format!("{}.{}", record.def.schema, record.def.name);
            let wrong = known.check_table(&name, &record, header, &schemas);
            if wrong.is_empty() {
                found.tables.push(record);
            }
            let finding = |what| Finding { table: Some(table.clone().into()), ..Finding::new(what) };
            found.findings.extend(wrong.into_iter().map(finding));
        }
        for (name, _) in self.dictionary.list(&self.store, Kind::Counters)? {
            if !known.tables.iter().any(|id| id.0.to_be_bytes()[..] == name[..]) {
                found.add_finding(format!("counters of table 0x{}, which is not defined", hex(&name)));
            }
        }
        Ok(())
    }
}

impl Definitions {
    fn add_finding(&mut self, what: String) {
        self.findings.push(Finding { index: Some("dictionary".into()), ..Finding::new(what) });
    }
}

/// Names and ids met so far.
#[derive(Default)]
struct Known {
    tables: BTreeSet<TableId>,
    names: BTreeSet<(Box<str>, Box<str>)>,
    indexes: BTreeSet<IndexId>,
}

impl Known {
    /// Problems of a definition, given the earlier ones.
    fn check_table(
        &mut self,
        key: &[u8],
        record: &TableRecord,
        header: &FileHeader,
        schemas: &BTreeSet<Box<str>>,
    ) -> Vec<String> {
        let def = &record.def;
        let mut wrong = Vec::new();
        let mut expect = |holds: bool, what: &str| {
            if !holds {
                wrong.push(what.to_owned());
            }
        };
        expect(key == def.id.0.to_be_bytes(), "is filed under another table's id");
        expect(
            self.tables.insert(def.id) && def.id < header.next_table,
            "has an id twice, or not given out yet",
        );
        expect(self.names.insert((def.schema.clone(), def.name.clone())), "is defined twice");
        expect(schemas.contains(&def.schema), "is in a schema that is not defined");
        expect(!def.indexes.is_empty() && def.indexes.len() == record.roots.len(), "has no clustered index");
        let columns = def.columns.len();
        for index in &def.indexes {
            let is_given = (FIRST_USER_INDEX..header.next_index.0).contains(&index.id.0);
            expect(is_given && self.indexes.insert(index.id), "has an index id twice, or not given out yet");
            let has_columns = index.parts.iter().all(|part| usize::from(part.column) < columns);
            expect(has_columns, "has an index on a column that it does not have");
        }
        wrong
    }
}

/// Keys have a kind, and are as long as their names say.
fn check_keys(page: PageRef<'_>, problems: &mut Problems) {
    for slot in 0..page.count() {
        let key = page.key(slot);
        let name_len = key.get(1..3).map(|len| usize::from(u16::from_be_bytes([len[0], len[1]])));
        let kinds = Kind::Schema as u8..=Kind::Damage as u8;
        if name_len.map(|len| len + KEY_OVERHEAD) != Some(key.len()) || !kinds.contains(&key[0]) {
            problems.add(page.page_no(), "has a key that names nothing");
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
