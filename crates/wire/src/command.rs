//! Command packets: the first byte says what the client wants.

/// A command byte that this server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    /// Close the connection; no answer.
    Quit = 0x01,
    /// Change the default database.
    InitDb = 0x02,
    /// A statement as text.
    Query = 0x03,
    /// Columns of a table.
    FieldList = 0x04,
    /// One line of server statistics.
    Statistics = 0x09,
    /// List of connections, the old way.
    ProcessInfo = 0x0a,
    /// Kill a connection, the old way.
    ProcessKill = 0x0c,
    /// Write debug information to the log.
    Debug = 0x0d,
    /// Is the server alive.
    Ping = 0x0e,
    /// Authenticate again.
    ChangeUser = 0x11,
    /// Prepare a statement.
    StmtPrepare = 0x16,
    /// Execute a prepared statement.
    StmtExecute = 0x17,
    /// A piece of a parameter; no answer.
    StmtSendLongData = 0x18,
    /// Forget a prepared statement; no answer.
    StmtClose = 0x19,
    /// Forget long data and cursor of a prepared statement.
    StmtReset = 0x1a,
    /// Multi-statements on or off.
    SetOption = 0x1b,
    /// Rows of a cursor.
    StmtFetch = 0x1c,
    /// Session state back to that of a new connection.
    ResetConnection = 0x1f,
}

impl Command {
    /// The command of `packet` and its arguments; `None` for an empty packet or an unknown command.
    #[inline]
    pub fn parse(packet: &[u8]) -> Option<(Command, &[u8])> {
        let (&code, rest) = packet.split_first()?;
        let command = match code {
            0x01 => Command::Quit,
            0x02 => Command::InitDb,
            0x03 => Command::Query,
            0x04 => Command::FieldList,
            0x09 => Command::Statistics,
            0x0a => Command::ProcessInfo,
            0x0c => Command::ProcessKill,
            0x0d => Command::Debug,
            0x0e => Command::Ping,
            0x11 => Command::ChangeUser,
            0x16 => Command::StmtPrepare,
            0x17 => Command::StmtExecute,
            0x18 => Command::StmtSendLongData,
            0x19 => Command::StmtClose,
            0x1a => Command::StmtReset,
            0x1b => Command::SetOption,
            0x1c => Command::StmtFetch,
            0x1f => Command::ResetConnection,
            _ => return None,
        };
        Some((command, rest))
    }

    /// The name that SHOW PROCESSLIST shows.
    pub fn name(self) -> &'static str {
        match self {
            Command::Quit => "Quit",
            Command::InitDb => "Init DB",
            Command::Query => "Query",
            Command::FieldList => "Field List",
            Command::Statistics => "Statistics",
            Command::ProcessInfo => "Processlist",
            Command::ProcessKill => "Kill",
            Command::Debug => "Debug",
            Command::Ping => "Ping",
            Command::ChangeUser => "Change user",
            Command::StmtPrepare => "Prepare",
            Command::StmtExecute => "Execute",
            Command::StmtSendLongData => "Long Data",
            Command::StmtClose => "Close stmt",
            Command::StmtReset => "Reset stmt",
            Command::SetOption => "Set option",
            Command::StmtFetch => "Fetch",
            Command::ResetConnection => "Reset Connection",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_code_parses_to_itself() {
        let known = (0..=255u8).filter_map(|code| {
            let packet = [code, 7];
            Command::parse(&packet).map(|(command, rest)| {
                assert_eq!((command as u8, rest), (code, &[7u8][..]));
            })
        });
        assert_eq!(known.count(), 18);
        assert_eq!(Command::parse(&[]), None);
    }
}
