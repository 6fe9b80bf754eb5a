//! SHOW of things that there are none of: triggers, events, routines, logs, replicas, profiles.

use sql::ast::ShowKind;

use crate::answer::{Column, Table};

/// The empty table with MySQL's columns; `None` if `kind` shows something else.
pub(super) fn table(kind: &ShowKind<'_>) -> Option<Table> {
    let columns = match kind {
        ShowKind::Triggers => triggers(),
        ShowKind::Events => events(),
        ShowKind::ProcedureStatus | ShowKind::FunctionStatus => routines(),
        ShowKind::ReplicaStatus => replica_status(),
        ShowKind::Replicas => vec![
            Column::int("Server_Id"),
            Column::text("Host", 255),
            Column::int("Port"),
            Column::int("Source_Id"),
            Column::text("Replica_UUID", 36),
        ],
        ShowKind::BinaryLogStatus => vec![
            Column::text("File", 512),
            Column::bigint_unsigned("Position"),
            Column::text("Binlog_Do_DB", 255),
            Column::text("Binlog_Ignore_DB", 255),
            Column::text("Executed_Gtid_Set", 43),
        ],
        ShowKind::Profiles => {
            vec![Column::int("Query_ID"), Column::double("Duration"), Column::text("Query", 40)]
        }
        ShowKind::Profile => vec![Column::text("Status", 30), Column::double("Duration")],
        _ => return None,
    };
    Some(Table::new(columns))
}

/// Character sets and collation that stored programs keep.
fn program_charsets() -> [Column; 3] {
    ["character_set_client", "collation_connection", "Database Collation"].map(Column::name)
}

fn triggers() -> Vec<Column> {
    let mut columns = vec![
        Column::name("Trigger"),
        Column::word("Event", 6),
        Column::name("Table"),
        Column::long_text("Statement"),
        Column::word("Timing", 6),
        Column::timestamp("Created"),
        Column::word("sql_mode", 546),
        Column::text("Definer", 288),
    ];
    columns.extend(program_charsets());
    columns
}

fn events() -> Vec<Column> {
    let mut columns = vec![
        Column::name("Db"),
        Column::name("Name"),
        Column::text("Definer", 288),
        Column::name("Time zone"),
        Column::text("Type", 9),
        Column::datetime("Execute at"),
        Column::text("Interval value", 256),
        Column::word("Interval field", 18),
        Column::datetime("Starts"),
        Column::datetime("Ends"),
        Column::text("Status", 21),
        Column::int("Originator"),
    ];
    columns.extend(program_charsets());
    columns
}

fn routines() -> Vec<Column> {
    let mut columns = vec![
        Column::name("Db"),
        Column::name("Name"),
        Column::word("Type", 9),
        Column::name("Language"),
        Column::text("Definer", 288),
        Column::timestamp("Modified"),
        Column::timestamp("Created"),
        Column::word("Security_type", 7),
        Column::long_text("Comment"),
    ];
    columns.extend(program_charsets());
    columns
}

/// Columns of SHOW REPLICA STATUS; a `#` marks numbers.
const REPLICA_STATUS: [&str; 60] = [
    "Replica_IO_State",
    "Source_Host",
    "Source_User",
    "#Source_Port",
    "#Connect_Retry",
    "Source_Log_File",
    "#Read_Source_Log_Pos",
    "Relay_Log_File",
    "#Relay_Log_Pos",
    "Relay_Source_Log_File",
    "Replica_IO_Running",
    "Replica_SQL_Running",
    "Replicate_Do_DB",
    "Replicate_Ignore_DB",
    "Replicate_Do_Table",
    "Replicate_Ignore_Table",
    "Replicate_Wild_Do_Table",
    "Replicate_Wild_Ignore_Table",
    "#Last_Errno",
    "Last_Error",
    "#Skip_Counter",
    "#Exec_Source_Log_Pos",
    "#Relay_Log_Space",
    "Until_Condition",
    "Until_Log_File",
    "#Until_Log_Pos",
    "Source_SSL_Allowed",
    "Source_SSL_CA_File",
    "Source_SSL_CA_Path",
    "Source_SSL_Cert",
    "Source_SSL_Cipher",
    "Source_SSL_Key",
    "#Seconds_Behind_Source",
    "Source_SSL_Verify_Server_Cert",
    "#Last_IO_Errno",
    "Last_IO_Error",
    "#Last_SQL_Errno",
    "Last_SQL_Error",
    "Replicate_Ignore_Server_Ids",
    "#Source_Server_Id",
    "Source_UUID",
    "Source_Info_File",
    "#SQL_Delay",
    "#SQL_Remaining_Delay",
    "Replica_SQL_Running_State",
    "#Source_Retry_Count",
    "Source_Bind",
    "Last_IO_Error_Timestamp",
    "Last_SQL_Error_Timestamp",
    "Source_SSL_Crl",
    "Source_SSL_Crlpath",
    "Retrieved_Gtid_Set",
    "Executed_Gtid_Set",
    "#Auto_Position",
    "Replicate_Rewrite_DB",
    "Channel_Name",
    "Source_TLS_Version",
    "Source_public_key_path",
    "#Get_Source_public_key",
    "Network_Namespace",
];

fn replica_status() -> Vec<Column> {
    let column = |name: &'static str| match name.strip_prefix('#') {
        Some(name) => Column::bigint(name),
        None => Column::text(name, 512),
    };
    REPLICA_STATUS.into_iter().map(column).collect()
}
