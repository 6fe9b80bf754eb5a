//! Groups that are found by their values.
//!
//! The values are kept as the start of the row that is handed on, the states beside them.

use base::memory::{ByteStore, ChargedVec, Place, Purpose};
use bumpalo::Bump;
use expr::HashIndex;
use types::key::append_group;

use crate::aggregate::{Group, Groups, values};
use crate::aggregate_ints::IntState;
use crate::error::Result;
use crate::frame::Frame;
use crate::source::{Flow, Sink};
use crate::temp_row::RowWriter;

/// Gathers all groups at once.
pub(crate) struct HashedSink<'x> {
    key: Vec<u8>,
    index: HashIndex,
    /// Each group's values.
    rows: ByteStore,
    places: ChargedVec<Place>,
    states: States,
    arena: Bump,
    groups: Groups<'x>,
}

/// The states of all groups.
enum States {
    /// All aggregates are simple ones of integers; those of a group are next to each other.
    Ints(ChargedVec<IntState>),
    Any(ChargedVec<Group>),
}

impl<'x> HashedSink<'x> {
    pub(crate) fn new(groups: Groups<'x>) -> Self {
        let st = groups.run.st;
        let states = match groups.op.ints {
            Some(_) => States::Ints(ChargedVec::new(st.memory, Purpose::Other)),
            None => States::Any(ChargedVec::new(st.memory, Purpose::Other)),
        };
        HashedSink {
            key: Vec::new(),
            index: HashIndex::new(st.memory),
            rows: st.row_store(),
            places: ChargedVec::new(st.memory, Purpose::Other),
            states,
            arena: Bump::new(),
            groups,
        }
    }

    /// Hands the groups on.
    pub(crate) fn finish(self) -> Result<Flow> {
        let HashedSink { rows, places, mut states, mut arena, mut groups, .. } = self;
        let (run, count) = (groups.run, groups.op.aggs.len());
        for (number, &place) in places.iter().enumerate() {
            run.st.step()?;
            arena.reset();
            groups.row.clear();
            groups.row.extend_from_slice(rows.get(place));
            let flow = match &mut states {
                States::Ints(states) => groups.close_ints(&states[number * count..][..count])?,
                States::Any(states) => groups.close(&mut states[number], &run.ctx(&arena))?,
            };
            if flow == Flow::Enough {
                return Ok(Flow::Enough);
            }
            if groups.sink.wants_pause() {
                groups.sink.pause()?;
            }
        }
        Ok(Flow::More)
    }
}

impl Sink for HashedSink<'_> {
    fn row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        let Groups { op, run, .. } = self.groups;
        let st = run.st;
        self.arena.reset();
        let ctx = run.ctx(&self.arena);
        // Computed once: the values shown are those that distinguish groups, whatever RAND() says next.
        let group = values(op.groups.iter(), frame, &ctx).map_err(|error| st.eval_error(error))?;
        st.check()?;
        self.key.clear();
        for value in &group {
            append_group(value, &mut self.key);
        }
        let (number, is_new) = self.index.insert(&self.key)?;
        if is_new {
            // A key that was cut short is almost always a new one.
            st.fail_if_cut_short(&self.key)?;
            self.rows.begin();
            let mut writer = RowWriter::new(&mut self.rows, op.layout.cells.len());
            group.iter().for_each(|value| writer.put_value(value));
            self.places.push(self.rows.end()?)?;
            match (&mut self.states, &op.ints) {
                (States::Ints(states), ints) => {
                    for spec in ints.iter().flatten() {
                        states.push(IntState::new(*spec))?;
                    }
                }
                (States::Any(states), _) => states.push(Group::new(op, st.memory)?)?,
            }
        }
        drop(group);
        match &mut self.states {
            States::Ints(states) => {
                let count = op.aggs.len();
                states[number * count..][..count].iter_mut().for_each(|state| state.row(frame));
                st.check()?;
            }
            States::Any(states) => self.groups.update(&mut states[number], frame, &mut self.arena)?,
        }
        Ok(Flow::More)
    }
}
