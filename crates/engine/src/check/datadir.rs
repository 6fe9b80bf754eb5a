//! A whole data directory that no server uses.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use base::{IndexId, PageNo};
use env::{Disk, ReadOnlyDisk};
use page::FileHeader;
use space::Store;
use space::check::{Inspected, PageSet};

use super::{Depth, Finding};
use crate::datadir::DataDir;
use crate::dictionary::{DICTIONARY_INDEX, FIRST_USER_INDEX};
use crate::engine::Engine;
use crate::error::{DataDirError, Error, Result};
use crate::force_recovery::ForceRecovery;
use crate::spill::Spills;
use crate::startup_log::{NoStartupLog, StartupLog};
use crate::table::Table;

/// Report of the check of a data directory.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// What is wrong; empty for a sound directory.
    pub findings: Vec<Finding>,
    /// What was left out, and why: for people.
    pub notes: Vec<String>,
    /// Tables checked.
    pub tables: u64,
    /// Rows in them.
    pub rows: u64,
    /// Pages in use.
    pub pages: u64,
}

/// How far a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Pages checked.
    pub pages_done: u64,
    /// Pages in use.
    pub pages_total: u64,
}

/// Checks everything in the data directory `path`, which was shut down cleanly, without changing it.
///
/// `pool_bytes`: memory for pages. `progress` is called now and then. Memory beside that: a bit a page of the
/// file, and the definitions.
///
/// # Errors
/// [`Error::DataDir`] for a directory that is in use, is not a data directory, has another format, or must be
/// recovered first; [`Error::Io`]. Damage is a finding, not an error.
pub fn check_datadir(
    disk: Arc<dyn Disk>,
    path: &Path,
    pool_bytes: usize,
    progress: &mut dyn FnMut(Progress),
) -> Result<FileReport> {
    let disk: Arc<dyn Disk> = Arc::new(ReadOnlyDisk::new(disk));
    let datadir = DataDir::look_at(&disk, path)?;
    let mut report = FileReport::default();
    let Inspected { store, problems, is_map_known } =
        match Store::inspect(&disk, &datadir.data_file(), pool_bytes) {
            Ok(inspected) => inspected,
            Err(space::Error::NotClean) => return Err(DataDirError::NotClean(path.to_path_buf()).into()),
            Err(space::Error::Corruption(corruption)) => {
                let what = format!("(file header) {}; nothing else was looked at", corruption.what.words());
                report.findings.push(Finding { page: Some(corruption.page), ..Finding::new(what) });
                return Ok(report);
            }
            Err(error) => return Err(Error::Storage(error)),
        };
    report.findings.extend(problems.into_iter().map(Finding::from));
    let header = store.header()?;
    report.findings.extend(check_header(&header));
    if header.roots[0].is_none() {
        return Ok(report);
    }
    report.pages = store.space_report().pages_used;
    let spills = datadir.spill_folder(&disk, header.identity);
    let startup_log: Arc<dyn StartupLog> = Arc::new(NoStartupLog);
    let (temp_folder, spills) = (datadir.temp_folder(&disk), Spills::new(spills, &startup_log));
    let engine = Engine::assemble(store, datadir, temp_folder, &header, spills, ForceRecovery::default());
    let pages_total = report.pages;
    let mut on_pages = |pages_done| progress(Progress { pages_done, pages_total });
    let mut pages = PageSet::with_progress(engine.store(), &mut on_pages);
    engine.check_everything(&header, is_map_known, &mut pages, &mut report)?;
    Ok(report)
}

/// What cannot be in a file header.
fn check_header(header: &FileHeader) -> Vec<Finding> {
    let wrong = [
        (header.trx_limit.0 == 0, "has no limit of transaction ids"),
        (header.next_index.0 < FIRST_USER_INDEX, "would give out index ids of the dictionary"),
        (header.next_table.0 == 0 || header.next_schema.0 == 0, "would give out the id 0"),
        (header.roots[0].is_none(), "tells of no dictionary"),
        (header.roots[0].0 >= header.high_water.0, "tells of a dictionary beyond the file's end"),
    ];
    let wrong = wrong.into_iter().filter(|(is_wrong, _)| *is_wrong);
    let finding = |what| Finding { page: Some(PageNo(0)), ..Finding::new(format!("(file header) {what}")) };
    wrong.map(|(_, what)| finding(what)).collect()
}

impl Engine {
    /// Dictionary, tables, space.
    fn check_everything(
        &self,
        header: &FileHeader,
        is_map_known: bool,
        pages: &mut PageSet<'_>,
        report: &mut FileReport,
    ) -> Result<()> {
        let definitions = self.check_dictionary(header, pages)?;
        let mut is_whole = is_map_known && definitions.findings.is_empty();
        report.findings.extend(definitions.findings);
        let mut trees = BTreeSet::from([DICTIONARY_INDEX]);
        let mut leftovers = 0;
        for record in definitions.tables {
            let table = Table::open(record);
            trees.extend(table.index_ids());
            let name: Box<str> = format!("{}.{}", table.def.schema, table.def.name).into();
            let checked = table.check_with(self, pages, Depth::Full)?;
            report.tables += 1;
            report.rows += checked.rows;
            leftovers += checked.leftovers;
            is_whole &= !checked.is_partial;
            let named = |finding| Finding { table: Some(name.clone()), ..finding };
            report.findings.extend(checked.problems.into_iter().map(named));
        }
        if leftovers > 0 {
            let kept =
                "delete-marked records and closed entries were never purged; they take space and do no harm";
            report.notes.push(format!("{leftovers} {kept}"));
        }
        if is_whole && self.has_search_note()? {
            let waits = "the next start searches for values that a crash has left without a row";
            report.notes.push(format!("what the space is used for was not compared: {waits}"));
        } else if is_whole {
            let is_tree = |index: IndexId| trees.contains(&index);
            let space = self.store.check_space(pages, is_tree);
            report.findings.extend(space.into_iter().map(Finding::from));
        } else {
            report.notes.push(
                "what the space is used for was not compared: not all of the trees was seen".to_owned(),
            );
        }
        Ok(())
    }
}
