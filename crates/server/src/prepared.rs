//! A session's prepared statements.

use std::collections::HashMap;
use std::sync::Arc;

use wire::execute::ParamType;

use crate::plan_cache::EnvironmentId;
use crate::run::Compiled;
use crate::status::Com;

/// The program of a prepared statement, and for what it was made.
#[derive(Clone, Debug)]
pub struct PreparedPlan {
    /// The program.
    pub compiled: Arc<Compiled>,
    /// Types of the parameters.
    pub types: Vec<ParamType>,
    /// What else decides its meaning.
    pub environment: EnvironmentId,
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
    /// Values sent in pieces, by parameter; empty when none were sent.
    pub long_data: Vec<Option<Vec<u8>>>,
}

impl Prepared {
    /// Adds a piece to the value of parameter `param`; false if there is no such parameter.
    pub fn append_long_data(&mut self, param: usize, piece: &[u8]) -> bool {
        if param >= self.params {
            return false;
        }
        self.long_data.resize(self.params, None);
        self.long_data[param].get_or_insert_default().extend_from_slice(piece);
        true
    }

    /// Bytes of values sent in pieces.
    pub fn long_data_bytes(&self) -> usize {
        self.long_data.iter().flatten().map(Vec::len).sum()
    }
}

/// Prepared statements by id.
#[derive(Debug, Default)]
pub struct PreparedStatements {
    last_id: u32,
    by_id: HashMap<u32, Prepared>,
}

impl PreparedStatements {
    /// Keeps a statement under a new id.
    pub fn add(&mut self, statement: Prepared) -> u32 {
        self.last_id = self.last_id.wrapping_add(1).max(1);
        self.by_id.insert(self.last_id, statement);
        self.last_id
    }

    /// The statement `id`.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Prepared> {
        self.by_id.get_mut(&id)
    }

    /// Forgets the statement `id`; false if there is none.
    pub fn remove(&mut self, id: u32) -> bool {
        self.by_id.remove(&id).is_some()
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
}
