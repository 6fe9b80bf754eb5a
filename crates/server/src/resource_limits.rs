//! MAX_QUERIES_PER_HOUR, MAX_UPDATES_PER_HOUR, MAX_CONNECTIONS_PER_HOUR and MAX_USER_CONNECTIONS of accounts.

use std::fmt;

use sql::ast;

/// The limits of an account; 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Statements an hour.
    pub queries: u32,
    /// Statements that change data, an hour.
    pub updates: u32,
    /// Logins an hour.
    pub connections: u32,
    /// Connections at the same time.
    pub user_connections: u32,
}

impl ResourceLimits {
    /// The limits as a statement leaves them; those that it does not name stay.
    pub(crate) fn with(self, said: ast::ResourceLimits) -> Self {
        ResourceLimits {
            queries: said.queries.unwrap_or(self.queries),
            updates: said.updates.unwrap_or(self.updates),
            connections: said.connections.unwrap_or(self.connections),
            user_connections: said.user_connections.unwrap_or(self.user_connections),
        }
    }

    /// All of them, in the order of the columns of `mysql.user`.
    pub(crate) fn all(self) -> [u32; 4] {
        [self.queries, self.updates, self.connections, self.user_connections]
    }

    /// Whether there is a limit.
    pub(crate) fn is_set(self) -> bool {
        self != ResourceLimits::default()
    }

    /// Whether statements are counted.
    pub(crate) fn counts_statements(self) -> bool {
        self.queries != 0 || self.updates != 0
    }

    /// The limits as bytes: four little-endian u32.
    pub(crate) fn encode(self) -> Vec<u8> {
        self.all().iter().flat_map(|limit| limit.to_le_bytes()).collect()
    }

    /// What [`ResourceLimits::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        let &[queries, updates, connections, user_connections] = numbers else { return None };
        let [queries, updates, connections, user_connections] =
            [queries, updates, connections, user_connections].map(u32::from_le_bytes);
        rest.is_empty().then_some(ResourceLimits { queries, updates, connections, user_connections })
    }
}

/// The clause of SHOW CREATE USER after a space, if there is a limit.
impl fmt::Display for ResourceLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_set() {
            return Ok(());
        }
        f.write_str(" WITH")?;
        let names = [
            "MAX_QUERIES_PER_HOUR",
            "MAX_UPDATES_PER_HOUR",
            "MAX_CONNECTIONS_PER_HOUR",
            "MAX_USER_CONNECTIONS",
        ];
        for (name, limit) in names.iter().zip(self.all()) {
            if limit != 0 {
                write!(f, " {name} {limit}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_they_were_written() {
        let limits = ResourceLimits { queries: 1, updates: u32::MAX, connections: 0, user_connections: 7 };
        assert_eq!(ResourceLimits::decode(&limits.encode()), Some(limits));
        assert_eq!(ResourceLimits::decode(&limits.encode()[1..]), None);
        assert_eq!(ResourceLimits::decode(&[0; 17]), None);
    }
}
