//! Runs: changes of a frame that follow each other and are of one page.

use base::PageNo;
use log::FrameRange;
use page::op::skim_change;

use super::bad_frame;
use crate::error::Result;

/// Splits the changes of a frame into runs. A page may have several.
pub(super) fn for_each_run<'f>(
    changes: &'f [u8],
    range: FrameRange,
    mut take: impl FnMut(PageNo, &'f [u8]),
) -> Result<()> {
    let mut rest = changes;
    let mut run = rest;
    let mut run_page = None;
    while !rest.is_empty() {
        let before = rest;
        let Ok((page, _)) = skim_change(&mut rest) else { return Err(bad_frame(range, PageNo::NONE)) };
        if run_page != Some(page) {
            if let Some(page) = run_page {
                take(page, &run[..run.len() - before.len()]);
            }
            (run, run_page) = (before, Some(page));
        }
    }
    if let Some(page) = run_page {
        take(page, run);
    }
    Ok(())
}
