//! A session's prepared statements.

use std::rc::Rc;
use std::sync::Arc;

use base::memory::{ConnectionAccount, KeptBytes, LimitExceeded};
use sql::bind::ParamUse;
use types::Value;
use wire::execute::ParamType;

use crate::compiled::Compiled;
use crate::given_type::GivenType;
use crate::plan_cache::EnvironmentId;
use crate::status::Com;

/// The program of a prepared statement, and for what it was made.
#[derive(Debug)]
pub struct PreparedPlan {
    /// The program, which other sessions may have too.
    pub compiled: Arc<Compiled>,
    /// Types that were bound when it was chosen.
    pub types: Vec<ParamType>,
    /// Types that it is planned for.
    pub planned_types: Vec<Option<GivenType>>,
    /// The settings that also decide its meaning.
    pub environment: EnvironmentId,
    /// Values of the types bound last are used as they are, except for negative numbers of rows.
    pub is_direct: bool,
    /// Parameters that are numbers of rows.
    pub row_counts: Box<[usize]>,
}

impl PreparedPlan {
    /// Whether it runs with `params` as they are. Cost: two loads, unless there is a LIMIT.
    #[inline]
    pub fn takes(&self, params: &[Value<'_>]) -> bool {
        self.is_direct && self.row_counts.iter().all(|&n| !matches!(params[n], Value::Int(..0)))
    }
}

/// The types of a statement's parameters, and the settings under which they were derived.
#[derive(Debug)]
pub struct ParamTypes {
    /// The uses of its parameters.
    pub uses: Box<[ParamUse]>,
    /// Types given by values that did not fit; the text implies the others.
    pub given: Vec<Option<GivenType>>,
    /// Texts may be read once for each row.
    pub reads_late: bool,
    /// Values that lose something are refused.
    pub refuses_loss: bool,
    /// What decides the meaning of the text.
    pub environment: EnvironmentId,
    /// Version of the catalog.
    pub version: u64,
}

/// A prepared statement.
#[derive(Debug, Default)]
pub struct Prepared {
    /// Its text.
    pub text: Box<[u8]>,
    /// Number of parameters.
    pub params: usize,
    /// Types bound by the last execution.
    pub types: Vec<ParamType>,
    /// Kind, if statements of its kind are planned.
    pub planned: Option<Com>,
    /// Program of the last execution.
    pub plan: Option<PreparedPlan>,
    /// Types of the parameters, once they are known.
    pub param_types: Option<ParamTypes>,
    /// Charge for text and program.
    pub kept: Option<KeptBytes>,
    /// Charge for values sent in pieces.
    pub long_kept: Option<KeptBytes>,
    /// The limit that an omitted piece would have exceeded; the execution fails.
    pub refused: Option<LimitExceeded>,
    /// Values sent in pieces, by parameter; empty when none were sent.
    pub long_data: Vec<Option<Vec<u8>>>,
}

impl Prepared {
    /// Adds a piece to the value of parameter `param`; false if there is no such parameter.
    pub(crate) fn append_long_data(&mut self, param: usize, piece: &[u8]) -> bool {
        if param >= self.params {
            return false;
        }
        self.long_data.resize(self.params, None);
        self.long_data[param].get_or_insert_default().extend_from_slice(piece);
        true
    }

    /// Charges `account` for a piece of `bytes` bytes; false if it has to be left out.
    pub(crate) fn charge_long_data(&mut self, account: &Rc<ConnectionAccount>, bytes: usize) -> bool {
        // A value's buffer doubles.
        let bytes = 2 * bytes as u64;
        let charged = match &mut self.long_kept {
            Some(kept) => kept.add(bytes),
            none => KeptBytes::new(account, bytes).map(|kept| *none = Some(kept)),
        };
        self.refused = charged.err().or(self.refused);
        self.refused.is_none()
    }

    /// Forgets the values sent in pieces.
    pub(crate) fn forget_long_data(&mut self) {
        self.long_data.clear();
        self.long_kept = None;
        self.refused = None;
    }

    /// Bytes of values sent in pieces.
    pub(crate) fn long_data_bytes(&self) -> usize {
        self.long_data.iter().flatten().map(Vec::len).sum()
    }
}

/// Prepared statements by id.
#[derive(Debug, Default)]
pub struct PreparedStatements {
    last_id: u32,
    /// By id, ascending. `None` while the statement runs.
    by_id: Vec<(u32, Option<Box<Prepared>>)>,
    /// Where the statement was that was searched for last.
    latest: usize,
}

impl PreparedStatements {
    /// Keeps a statement under a new id.
    pub fn add(&mut self, statement: Prepared) -> u32 {
        let (id, at) = loop {
            self.last_id = self.last_id.wrapping_add(1).max(1);
            match self.search(self.last_id) {
                Ok(_) => {}
                Err(at) => break (self.last_id, at),
            }
        };
        self.by_id.insert(at, (id, Some(Box::new(statement))));
        id
    }

    /// Where `id` is or would be.
    fn search(&self, id: u32) -> Result<usize, usize> {
        match self.by_id.last() {
            Some(&(greatest, _)) if greatest >= id => self.by_id.binary_search_by_key(&id, |&(id, _)| id),
            _ => Err(self.by_id.len()),
        }
    }

    /// Where `id` is.
    #[inline]
    fn find(&mut self, id: u32) -> Option<usize> {
        if self.by_id.get(self.latest).is_none_or(|&(found, _)| found != id) {
            self.latest = self.search(id).ok()?;
        }
        Some(self.latest)
    }

    /// The statement `id`.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Prepared> {
        let at = self.find(id)?;
        self.by_id[at].1.as_deref_mut()
    }

    /// Takes the statement `id` out to run it; [`PreparedStatements::give_back`] brings it back.
    #[inline]
    pub(crate) fn lend(&mut self, id: u32) -> Option<Box<Prepared>> {
        let at = self.find(id)?;
        self.by_id[at].1.take()
    }

    /// Brings back what [`PreparedStatements::lend`] has taken out, unless it was removed in between.
    #[inline(always)]
    pub fn give_back(&mut self, id: u32, statement: Box<Prepared>) {
        if let Some(at) = self.find(id) {
            self.by_id[at].1 = Some(statement);
        }
    }

    /// Whether a statement is running. Cost: a check of each statement.
    pub(crate) fn is_lending(&self) -> bool {
        self.by_id.iter().any(|(_, statement)| statement.is_none())
    }

    /// Forgets the statement `id`; false if there is none.
    pub fn remove(&mut self, id: u32) -> bool {
        let found = self.search(id);
        if let Ok(at) = found {
            self.by_id.remove(at);
        }
        found.is_ok()
    }

    /// Forgets all statements; how many there were.
    pub fn clear(&mut self) -> usize {
        let n = self.by_id.len();
        self.by_id.clear();
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_parameter_add_up() {
        let mut all = PreparedStatements::default();
        let id = all.add(Prepared { params: 2, ..Prepared::default() });
        let statement = all.get_mut(id).unwrap();
        assert!(statement.append_long_data(1, b"ab") && statement.append_long_data(1, b"c"));
        assert!(!statement.append_long_data(2, b"x"));
        assert_eq!(statement.long_data, [None, Some(b"abc".to_vec())]);
        assert_eq!(statement.long_data_bytes(), 3);
        assert!(all.remove(id) && !all.remove(id));
        assert_eq!(all.clear(), 0);
    }

    #[test]
    fn statements_are_found_by_id_whatever_came_and_went() {
        let mut all = PreparedStatements { last_id: u32::MAX - 3, ..PreparedStatements::default() };
        let ids: Vec<u32> =
            (0..8).map(|params| all.add(Prepared { params, ..Prepared::default() })).collect();
        assert_eq!(ids, [u32::MAX - 2, u32::MAX - 1, u32::MAX, 1, 2, 3, 4, 5]);
        assert!(all.remove(ids[1]) && all.remove(ids[4]));
        let mut found = |at: usize| all.get_mut(ids[at]).map(|statement| statement.params);
        assert_eq!([0, 1, 2, 3, 4, 7].map(&mut found), [Some(0), None, Some(2), Some(3), None, Some(7)]);
        assert_eq!(all.clear(), 6);
    }

    #[test]
    fn a_statement_that_runs_comes_back_unless_it_was_removed() {
        let mut all = PreparedStatements::default();
        let (one, other) = (all.add(Prepared::default()), all.add(Prepared::default()));
        let statement = all.lend(one).unwrap();
        assert!(all.lend(one).is_none());
        all.give_back(one, statement);
        let statement = all.lend(one).unwrap();
        assert!(all.remove(one) && all.lend(other).is_some());
        all.give_back(one, statement);
        assert!(all.get_mut(one).is_none());
    }
}
