//! Handing kept rows on.

use crate::error::Result;
use crate::frame::{CurrentRow, Frame};
use crate::kept_rows::KeptRows;
use crate::source::{Flow, Sink};
use crate::statement::Statement;
use crate::temp_row::{Layout, TempRow};

/// Pushes `rows` into `sink`, which may pause after each.
pub(crate) fn give_rows(
    rows: &KeptRows,
    layout: &Layout,
    st: &Statement<'_>,
    parent: Option<&Frame<'_>>,
    sink: &mut dyn Sink,
) -> Result<Flow> {
    for bytes in rows.rows() {
        st.step()?;
        let row = TempRow { layout, bytes, zone: st.zone };
        if sink.row(&Frame { parent, row: CurrentRow::Temp(row) })? == Flow::Enough {
            return Ok(Flow::Enough);
        }
        if sink.wants_pause() {
            sink.pause()?;
            st.fail_if_killed()?;
        }
    }
    Ok(Flow::More)
}
