//! MySQL's error numbers, SQLSTATEs and texts: the one place that knows them.

use std::fmt::{self, Display, Write as _};

/// An error number with its SQLSTATE and text. The text's placeholders are those of C: `%s`, `%d`, `%-.192s`.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorKind {
    /// MySQL's number.
    pub code: u16,
    /// SQLSTATE.
    pub sqlstate: [u8; 5],
    /// Text with placeholders.
    pub template: &'static str,
}

/// An error as a client sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError {
    /// MySQL's number.
    pub code: u16,
    /// SQLSTATE.
    pub sqlstate: [u8; 5],
    /// Complete text.
    pub message: String,
    /// The warnings that precede the error.
    pub warning: Option<Box<SqlError>>,
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code, String::from_utf8_lossy(&self.sqlstate), self.message)
    }
}

impl std::error::Error for SqlError {}

impl ErrorKind {
    /// The error with `args` in place of the placeholders, in order; a missing argument leaves its place
    /// empty.
    #[cold]
    pub fn with(&self, args: &[&dyn Display]) -> SqlError {
        self.with_message(fill(self.template, args))
    }

    /// The error without arguments.
    #[cold]
    pub fn bare(&self) -> SqlError {
        self.with(&[])
    }

    /// The error's number and SQLSTATE under another text.
    #[cold]
    pub(crate) fn with_message(&self, message: String) -> SqlError {
        SqlError { code: self.code, sqlstate: self.sqlstate, message, warning: None }
    }

    /// The error of this number.
    pub fn find(code: u16) -> Option<&'static ErrorKind> {
        ALL.binary_search_by_key(&code, |kind| kind.code).ok().map(|at| ALL[at])
    }
}

/// Puts `args` in place of the placeholders of `template`, cut to the placeholder's precision.
fn fill(template: &str, args: &[&dyn Display]) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    let mut args = args.iter();
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let spec = &rest[at + 1..];
        let Some(end) = spec.find(|c: char| c.is_ascii_alphabetic() || c == '%') else {
            break;
        };
        if spec.as_bytes()[end] == b'%' {
            out.push('%');
        } else if let Some(arg) = args.next() {
            let precision = spec[..end].split_once('.').and_then(|(_, digits)| digits.parse().ok());
            push_cut(&mut out, arg, precision.unwrap_or(usize::MAX));
        }
        rest = &spec[end + 1..];
    }
    out.push_str(rest);
    out
}

/// Appends at most `precision` characters of `arg`.
fn push_cut(out: &mut String, arg: &dyn Display, precision: usize) {
    let start = out.len();
    // Writing to a string cannot fail unless the argument's own Display does; then its place stays empty.
    let _ = write!(out, "{arg}");
    if let Some((cut, _)) = out[start..].char_indices().nth(precision) {
        out.truncate(start + cut);
    }
}

macro_rules! errors {
    ($($name:ident = $code:literal, $state:literal, $template:literal;)+) => {
        $(
            #[doc = concat!("Error ", $code, ": ", $template)]
            pub static $name: ErrorKind = ErrorKind { code: $code, sqlstate: *$state, template: $template };
        )+

        /// Every error, by number.
        static ALL: &[&ErrorKind] = &[$(&$name),+];
    };
}

errors! {
    CANT_CREATE_FILE = 1004, b"HY000", "Can't create file '%-.200s' (errno: %d - %s)";
    CANT_CREATE_TABLE = 1005, b"HY000", "Can't create table '%-.200s' (errno: %d - %-.192s)";
    CANT_CREATE_DB = 1006, b"HY000", "Can't create database '%-.192s' (errno: %d - %s)";
    DB_CREATE_EXISTS = 1007, b"HY000", "Can't create database '%-.192s'; database exists";
    DB_DROP_EXISTS = 1008, b"HY000", "Can't drop database '%-.192s'; database doesn't exist";
    DB_DROP_RMDIR = 1010, b"HY000", "Error dropping database (can't rmdir '%-.192s', errno: %d - %s)";
    CANT_OPEN_FILE = 1016, b"HY000", "Can't open file: '%-.200s' (errno: %d - %s)";
    FILE_NOT_FOUND = 1017, b"HY000", "Can't find file: '%-.200s' (errno: %d - %s)";
    CHECKREAD = 1020, b"HY000", "Record has changed since last read in table '%-.192s'";
    DISK_FULL = 1021, b"HY000", "Disk full (%s); waiting for someone to free some space... (errno: %d - %s)";
    DUP_KEY = 1022, b"23000", "Can't write; duplicate key in table '%-.192s'";
    ERROR_ON_READ = 1024, b"HY000", "Error reading file '%-.200s' (errno: %d - %s)";
    ERROR_ON_WRITE = 1026, b"HY000", "Error writing file '%-.200s' (errno: %d - %s)";
    GET_ERRNO = 1030, b"HY000", "Got error %d - '%-.192s' from storage engine";
    ILLEGAL_HA = 1031, b"HY000", "Table storage engine for '%-.192s' doesn't have this option";
    KEY_NOT_FOUND = 1032, b"HY000", "Can't find record in '%-.192s'";
    NOT_KEYFILE = 1034, b"HY000", "Incorrect key file for table '%-.200s'; try to repair it";
    OPEN_AS_READONLY = 1036, b"HY000", "Table '%-.192s' is read only";
    OUTOFMEMORY = 1037, b"HY001", "Out of memory; restart server and try again (needed %d bytes)";
    OUT_OF_SORTMEMORY = 1038, b"HY001", "Out of sort memory, consider increasing server sort buffer size";
    CON_COUNT_ERROR = 1040, b"08004", "Too many connections";
    OUT_OF_RESOURCES = 1041, b"HY000", "Out of memory; check if mysqld or some other process uses all available memory; if not, you may have to use 'ulimit' to allow mysqld to use more memory or you can add more swap space";
    BAD_HOST_ERROR = 1042, b"08S01", "Can't get hostname for your address";
    HANDSHAKE_ERROR = 1043, b"08S01", "Bad handshake";
    DBACCESS_DENIED = 1044, b"42000", "Access denied for user '%-.48s'@'%-.64s' to database '%-.192s'";
    ACCESS_DENIED = 1045, b"28000", "Access denied for user '%-.48s'@'%-.64s' (using password: %s)";
    NO_DB = 1046, b"3D000", "No database selected";
    UNKNOWN_COM = 1047, b"08S01", "Unknown command";
    BAD_NULL = 1048, b"23000", "Column '%-.192s' cannot be null";
    BAD_DB = 1049, b"42000", "Unknown database '%-.192s'";
    TABLE_EXISTS = 1050, b"42S01", "Table '%-.192s' already exists";
    BAD_TABLE = 1051, b"42S02", "Unknown table '%-.129s'";
    NON_UNIQ = 1052, b"23000", "Column '%-.192s' in %-.192s is ambiguous";
    SERVER_SHUTDOWN = 1053, b"08S01", "Server shutdown in progress";
    BAD_FIELD = 1054, b"42S22", "Unknown column '%-.192s' in '%-.192s'";
    WRONG_FIELD_WITH_GROUP = 1055, b"42000", "Expression #%d of %s is not in GROUP BY clause and contains nonaggregated column '%s' which is not functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by";
    WRONG_GROUP_FIELD = 1056, b"42000", "Can't group on '%-.192s'";
    WRONG_VALUE_COUNT = 1058, b"21S01", "Column count doesn't match value count";
    TOO_LONG_IDENT = 1059, b"42000", "Identifier name '%-.100s' is too long";
    DUP_FIELDNAME = 1060, b"42S21", "Duplicate column name '%-.192s'";
    DUP_KEYNAME = 1061, b"42000", "Duplicate key name '%-.192s'";
    DUP_ENTRY = 1062, b"23000", "Duplicate entry '%-.192s' for key '%-.192s'";
    WRONG_FIELD_SPEC = 1063, b"42000", "Incorrect column specifier for column '%-.192s'";
    PARSE = 1064, b"42000", "%s near '%-.80s' at line %d";
    EMPTY_QUERY = 1065, b"42000", "Query was empty";
    NONUNIQ_TABLE = 1066, b"42000", "Not unique table/alias: '%-.192s'";
    INVALID_DEFAULT = 1067, b"42000", "Invalid default value for '%-.192s'";
    MULTIPLE_PRI_KEY = 1068, b"42000", "Multiple primary key defined";
    TOO_MANY_KEYS = 1069, b"42000", "Too many keys specified; max %d keys allowed";
    TOO_MANY_KEY_PARTS = 1070, b"42000", "Too many key parts specified; max %d parts allowed";
    TOO_LONG_KEY = 1071, b"42000", "Specified key was too long; max key length is %d bytes";
    KEY_COLUMN_DOES_NOT_EXIST = 1072, b"42000", "Key column '%-.192s' doesn't exist in table";
    BLOB_USED_AS_KEY = 1073, b"42000", "BLOB column '%-.192s' can't be used in key specification with the used table type";
    TOO_BIG_FIELDLENGTH = 1074, b"42000", "Column length too big for column '%-.192s' (max = %d); use BLOB or TEXT instead";
    WRONG_AUTO_KEY = 1075, b"42000", "Incorrect table definition; there can be only one auto column and it must be defined as a key";
    IPSOCK_ERROR = 1081, b"08S01", "Can't create IP socket";
    NO_SUCH_INDEX = 1082, b"42S12", "Table '%-.192s' has no index like the one used in CREATE INDEX; recreate the table";
    WRONG_FIELD_TERMINATORS = 1083, b"42000", "Field separator argument is not what is expected; check the manual";
    TEXTFILE_NOT_READABLE = 1085, b"HY000", "The file '%-.128s' must be in the database directory or be readable by all";
    FILE_EXISTS = 1086, b"HY000", "File '%-.200s' already exists";
    WRONG_SUB_KEY = 1089, b"HY000", "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, or the storage engine doesn't support unique prefix keys";
    CANT_REMOVE_ALL_FIELDS = 1090, b"42000", "You can't delete all columns with ALTER TABLE; use DROP TABLE instead";
    CANT_DROP_FIELD_OR_KEY = 1091, b"42000", "Can't DROP '%-.192s'; check that column/key exists";
    UPDATE_TABLE_USED = 1093, b"HY000", "You can't specify target table '%-.192s' for update in FROM clause";
    NO_SUCH_THREAD = 1094, b"HY000", "Unknown thread id: %d";
    KILL_DENIED = 1095, b"HY000", "You are not owner of thread %d";
    NO_TABLES_USED = 1096, b"HY000", "No tables used";
    TOO_BIG_SET = 1097, b"HY000", "Too many strings for column %-.192s and SET";
    TABLE_NOT_LOCKED_FOR_WRITE = 1099, b"HY000", "Table '%-.192s' was locked with a READ lock and can't be updated";
    TABLE_NOT_LOCKED = 1100, b"HY000", "Table '%-.192s' was not locked with LOCK TABLES";
    BLOB_CANT_HAVE_DEFAULT = 1101, b"42000", "BLOB, TEXT, GEOMETRY or JSON column '%-.192s' can't have a default value";
    WRONG_DB_NAME = 1102, b"42000", "Incorrect database name '%-.100s'";
    WRONG_TABLE_NAME = 1103, b"42000", "Incorrect table name '%-.100s'";
    TOO_BIG_SELECT = 1104, b"42000", "The SELECT would examine more than MAX_JOIN_SIZE rows; check your WHERE and use SET SQL_BIG_SELECTS=1 or SET MAX_JOIN_SIZE=# if the SELECT is okay";
    UNKNOWN = 1105, b"HY000", "Unknown error";
    UNKNOWN_PROCEDURE = 1106, b"42000", "Unknown procedure '%-.192s'";
    UNKNOWN_TABLE = 1109, b"42S02", "Unknown table '%-.192s' in %-.32s";
    FIELD_SPECIFIED_TWICE = 1110, b"42000", "Column '%-.192s' specified twice";
    INVALID_GROUP_FUNC_USE = 1111, b"HY000", "Invalid use of group function";
    UNSUPPORTED_EXTENSION = 1112, b"42000", "Table '%-.192s' uses an extension that doesn't exist in this MySQL version";
    TABLE_MUST_HAVE_COLUMNS = 1113, b"42000", "A table must have at least 1 column";
    RECORD_FILE_FULL = 1114, b"HY000", "The table '%-.192s' is full";
    UNKNOWN_CHARACTER_SET = 1115, b"42000", "Unknown character set: '%-.64s'";
    TOO_MANY_TABLES = 1116, b"HY000", "Too many tables; MySQL can only use %d tables in a join";
    TOO_MANY_FIELDS = 1117, b"HY000", "Too many columns";
    TOO_BIG_ROWSIZE = 1118, b"42000", "Row size too large. The maximum row size for the used table type, not counting BLOBs, is %d. This includes storage overhead, check the manual. You have to change some columns to TEXT or BLOBs";
    STACK_OVERRUN = 1119, b"HY000", "Thread stack overrun:  Used: %d of a %d stack.  Use 'mysqld --thread_stack=#' to specify a bigger stack if needed";
    NULL_COLUMN_IN_INDEX = 1121, b"42000", "Table handler doesn't support NULL in given index. Please change column '%-.192s' to be NOT NULL or use another handler";
    CANT_OPEN_LIBRARY = 1126, b"HY000", "Can't open shared library '%-.192s' (errno: %d %-.128s)";
    HOST_IS_BLOCKED = 1129, b"HY000", "Host '%-.255s' is blocked because of many connection errors; unblock with 'mysqladmin flush-hosts'";
    HOST_NOT_PRIVILEGED = 1130, b"HY000", "Host '%-.255s' is not allowed to connect to this MySQL server";
    PASSWORD_ANONYMOUS_USER = 1131, b"42000", "You are using MySQL as an anonymous user and anonymous users are not allowed to change passwords";
    PASSWORD_NO_MATCH = 1133, b"42000", "Can't find any matching row in the user table";
    CANT_CREATE_THREAD = 1135, b"HY000", "Can't create a new thread (errno %d); if you are not out of available memory, you can consult the manual for a possible OS-dependent bug";
    WRONG_VALUE_COUNT_ON_ROW = 1136, b"21S01", "Column count doesn't match value count at row %d";
    INVALID_USE_OF_NULL = 1138, b"22004", "Invalid use of NULL value";
    REGEXP = 1139, b"42000", "Got error '%-.64s' from regexp";
    MIX_OF_GROUP_FUNC_AND_FIELDS = 1140, b"42000", "In aggregated query without GROUP BY, expression #%d of %s contains nonaggregated column '%s'; this is incompatible with sql_mode=only_full_group_by";
    NONEXISTING_GRANT = 1141, b"42000", "There is no such grant defined for user '%-.48s' on host '%-.255s'";
    TABLEACCESS_DENIED = 1142, b"42000", "%-.128s command denied to user '%-.48s'@'%-.64s' for table '%-.64s'";
    COLUMNACCESS_DENIED = 1143, b"42000", "%-.16s command denied to user '%-.48s'@'%-.64s' for column '%-.192s' in table '%-.192s'";
    ILLEGAL_GRANT_FOR_TABLE = 1144, b"42000", "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used";
    NO_SUCH_TABLE = 1146, b"42S02", "Table '%-.192s.%-.192s' doesn't exist";
    NONEXISTING_TABLE_GRANT = 1147, b"42000", "There is no such grant defined for user '%-.48s' on host '%-.255s' on table '%-.192s'";
    SYNTAX = 1149, b"42000", "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use";
    ABORTING_CONNECTION = 1152, b"08S01", "Aborted connection %d to db: '%-.192s' user: '%-.48s' (%-.64s)";
    NET_PACKET_TOO_LARGE = 1153, b"08S01", "Got a packet bigger than 'max_allowed_packet' bytes";
    NET_PACKETS_OUT_OF_ORDER = 1156, b"08S01", "Got packets out of order";
    NET_UNCOMPRESS_ERROR = 1157, b"08S01", "Couldn't uncompress communication packet";
    NET_READ_ERROR = 1158, b"08S01", "Got an error reading communication packets";
    NET_READ_INTERRUPTED = 1159, b"08S01", "Got timeout reading communication packets";
    NET_ERROR_ON_WRITE = 1160, b"08S01", "Got an error writing communication packets";
    NET_WRITE_INTERRUPTED = 1161, b"08S01", "Got timeout writing communication packets";
    TOO_LONG_STRING = 1162, b"42000", "Result string is longer than 'max_allowed_packet' bytes";
    TABLE_CANT_HANDLE_BLOB = 1163, b"42000", "The used table type doesn't support BLOB/TEXT columns";
    TABLE_CANT_HANDLE_AUTO_INCREMENT = 1164, b"42000", "The used table type doesn't support AUTO_INCREMENT columns";
    WRONG_COLUMN_NAME = 1166, b"42000", "Incorrect column name '%-.100s'";
    WRONG_KEY_COLUMN = 1167, b"42000", "The used storage engine can't index column '%-.192s'";
    BLOB_KEY_WITHOUT_LENGTH = 1170, b"42000", "BLOB/TEXT column '%-.192s' used in key specification without a key length";
    PRIMARY_CANT_HAVE_NULL = 1171, b"42000", "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead";
    TOO_MANY_ROWS = 1172, b"42000", "Result consisted of more than one row";
    UPDATE_WITHOUT_KEY_IN_SAFE_MODE = 1175, b"HY000", "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column. %s";
    KEY_DOES_NOT_EXIST = 1176, b"42000", "Key '%-.192s' doesn't exist in table '%-.192s'";
    CANT_DO_THIS_DURING_AN_TRANSACTION = 1179, b"25000", "You are not allowed to execute this command in a transaction";
    ERROR_DURING_COMMIT = 1180, b"HY000", "Got error %d - '%-.192s' during COMMIT";
    ERROR_DURING_ROLLBACK = 1181, b"HY000", "Got error %d - '%-.192s' during ROLLBACK";
    NEW_ABORTING_CONNECTION = 1184, b"08S01", "Aborted connection %d to db: '%-.192s' user: '%-.48s' host: '%-.255s' (%-.64s)";
    LOCK_OR_ACTIVE_TRANSACTION = 1192, b"HY000", "Can't execute the given command because you have active locked tables or an active transaction";
    UNKNOWN_SYSTEM_VARIABLE = 1193, b"HY000", "Unknown system variable '%-.64s'";
    TOO_MANY_USER_CONNECTIONS = 1203, b"42000", "User %-.64s already has more than 'max_user_connections' active connections";
    LOCK_WAIT_TIMEOUT = 1205, b"HY000", "Lock wait timeout exceeded; try restarting transaction";
    LOCK_TABLE_FULL = 1206, b"HY000", "The total number of locks exceeds the lock table size";
    READ_ONLY_TRANSACTION = 1207, b"25000", "Update locks cannot be acquired during a READ UNCOMMITTED transaction";
    WRONG_ARGUMENTS = 1210, b"HY000", "Incorrect arguments to %s";
    LOCK_DEADLOCK = 1213, b"40001", "Deadlock found when trying to get lock; try restarting transaction";
    TABLE_CANT_HANDLE_FT = 1214, b"HY000", "The used table type doesn't support FULLTEXT indexes";
    CANNOT_ADD_FOREIGN = 1215, b"HY000", "Cannot add foreign key constraint";
    ROW_IS_REFERENCED = 1217, b"23000", "Cannot delete or update a parent row: a foreign key constraint fails";
    WRONG_USAGE = 1221, b"HY000", "Incorrect usage of %s and %s";
    WRONG_NUMBER_OF_COLUMNS_IN_SELECT = 1222, b"21000", "The used SELECT statements have a different number of columns";
    CANT_UPDATE_WITH_READLOCK = 1223, b"HY000", "Can't execute the query because you have a conflicting read lock";
    DUP_ARGUMENT = 1225, b"HY000", "Option '%s' used twice in statement";
    USER_LIMIT_REACHED = 1226, b"42000", "User '%-.64s' has exceeded the '%s' resource (current value: %d)";
    SPECIFIC_ACCESS_DENIED = 1227, b"42000", "Access denied; you need (at least one of) the %-.128s privilege(s) for this operation";
    LOCAL_VARIABLE = 1228, b"HY000", "Variable '%-.64s' is a SESSION variable and can't be used with SET GLOBAL";
    GLOBAL_VARIABLE = 1229, b"HY000", "Variable '%-.64s' is a GLOBAL variable and should be set with SET GLOBAL";
    NO_DEFAULT = 1230, b"42000", "Variable '%-.64s' doesn't have a default value";
    WRONG_VALUE_FOR_VAR = 1231, b"42000", "Variable '%-.64s' can't be set to the value of '%-.200s'";
    WRONG_TYPE_FOR_VAR = 1232, b"42000", "Incorrect argument type to variable '%-.64s'";
    VAR_CANT_BE_READ = 1233, b"HY000", "Variable '%-.64s' can only be set, not read";
    CANT_USE_OPTION_HERE = 1234, b"42000", "Incorrect usage/placement of '%s'";
    NOT_SUPPORTED_YET = 1235, b"42000", "This version of MySQL doesn't yet support '%s'";
    SLAVE_IGNORED_TABLE = 1237, b"HY000", "Slave SQL thread ignored the query because of replicate-*-table rules";
    INCORRECT_GLOBAL_LOCAL_VAR = 1238, b"HY000", "Variable '%-.192s' is a %s variable";
    WRONG_FK_DEF = 1239, b"42000", "Incorrect foreign key definition for '%-.192s': %s";
    OPERAND_COLUMNS = 1241, b"21000", "Operand should contain %d column(s)";
    SUBQUERY_NO_1_ROW = 1242, b"21000", "Subquery returns more than 1 row";
    UNKNOWN_STMT_HANDLER = 1243, b"HY000", "Unknown prepared statement handler (%s) given to %s";
    AUTO_CONVERT = 1246, b"HY000", "Converting column '%s' from %s to %s";
    ILLEGAL_REFERENCE = 1247, b"42S22", "Reference '%-.64s' not supported (%s)";
    DERIVED_MUST_HAVE_ALIAS = 1248, b"42000", "Every derived table must have its own alias";
    TABLENAME_NOT_ALLOWED_HERE = 1250, b"42000", "Table '%-.192s' from one of the SELECTs cannot be used in %-.32s";
    NOT_SUPPORTED_AUTH_MODE = 1251, b"08004", "Client does not support authentication protocol requested by server; consider upgrading MySQL client";
    COLLATION_CHARSET_MISMATCH = 1253, b"42000", "COLLATION '%s' is not valid for CHARACTER SET '%s'";
    CUT_VALUE_GROUP_CONCAT = 1260, b"HY000", "Row %d was cut by GROUP_CONCAT()";
    WARN_TOO_FEW_RECORDS = 1261, b"01000", "Row %d doesn't contain data for all columns";
    WARN_TOO_MANY_RECORDS = 1262, b"01000", "Row %d was truncated; it contained more data than there were input columns";
    WARN_NULL_TO_NOTNULL = 1263, b"22004", "Column set to default value; NULL supplied to NOT NULL column '%s' at row %d";
    WARN_DATA_OUT_OF_RANGE = 1264, b"22003", "Out of range value for column '%s' at row %d";
    WARN_DATA_TRUNCATED = 1265, b"01000", "Data truncated for column '%s' at row %d";
    WARN_USING_OTHER_HANDLER = 1266, b"HY000", "Using storage engine %s for table '%s'";
    CANT_AGGREGATE_2COLLATIONS = 1267, b"HY000", "Illegal mix of collations (%s,%s) and (%s,%s) for operation '%s'";
    REVOKE_GRANTS = 1269, b"HY000", "Can't revoke all privileges for one or more of the requested users";
    CANT_AGGREGATE_3COLLATIONS = 1270, b"HY000", "Illegal mix of collations (%s,%s), (%s,%s), (%s,%s) for operation '%s'";
    CANT_AGGREGATE_NCOLLATIONS = 1271, b"HY000", "Illegal mix of collations for operation '%s'";
    VARIABLE_IS_NOT_STRUCT = 1272, b"HY000", "Variable '%-.64s' is not a variable component (can't be used as XXXX.variable_name)";
    UNKNOWN_COLLATION = 1273, b"HY000", "Unknown collation: '%-.64s'";
    WRONG_NAME_FOR_INDEX = 1280, b"42000", "Incorrect index name '%-.100s'";
    UNKNOWN_STORAGE_ENGINE = 1286, b"42000", "Unknown storage engine '%s'";
    WARN_DEPRECATED_SYNTAX = 1287, b"HY000", "'%s' is deprecated and will be removed in a future release. Please use %s instead";
    NON_UPDATABLE_TABLE = 1288, b"HY000", "The target table %-.100s of the %s is not updatable";
    FEATURE_DISABLED = 1289, b"HY000", "The '%s' feature is disabled; you need MySQL built with '%s' to have it working";
    OPTION_PREVENTS_STATEMENT = 1290, b"HY000", "The MySQL server is running with the %s option so it cannot execute this statement";
    DUPLICATED_VALUE_IN_TYPE = 1291, b"HY000", "Column '%-.100s' has duplicated value '%-.64s' in %s";
    TRUNCATED_WRONG_VALUE = 1292, b"22007", "Truncated incorrect %-.64s value: '%-.128s'";
    INVALID_ON_UPDATE = 1294, b"HY000", "Invalid ON UPDATE clause for '%-.192s' column";
    UNSUPPORTED_PS = 1295, b"HY000", "This command is not supported in the prepared statement protocol yet";
    UNKNOWN_TIME_ZONE = 1298, b"HY000", "Unknown or incorrect time zone: '%-.64s'";
    WARN_INVALID_TIMESTAMP = 1299, b"HY000", "Invalid TIMESTAMP value in column '%s' at row %d";
    INVALID_CHARACTER_STRING = 1300, b"HY000", "Invalid %s character string: '%.64s'";
    WARN_ALLOWED_PACKET_OVERFLOWED = 1301, b"HY000", "Result of %s() was larger than max_allowed_packet (%d) - truncated";
    CONFLICTING_DECLARATIONS = 1302, b"HY000", "Conflicting declarations: '%s%s' and '%s%s'";
    SP_DOES_NOT_EXIST = 1305, b"42000", "%s %s does not exist";
    QUERY_INTERRUPTED = 1317, b"70100", "Query execution was interrupted";
    SP_WRONG_NO_OF_ARGS = 1318, b"42000", "Incorrect number of arguments for %s %s; expected %d, got %d";
    SP_UNDECLARED_VAR = 1327, b"42000", "Undeclared variable: %s";
    SP_FETCH_NO_DATA = 1329, b"02000", "No data - zero rows fetched, selected, or processed";
    STMT_NOT_ALLOWED_IN_SF_OR_TRG = 1336, b"0A000", "%s is not allowed in stored function or trigger";
    WRONG_OBJECT = 1347, b"HY000", "'%-.192s.%-.192s' is not %s";
    VIEW_SELECT_VARIABLE = 1351, b"HY000", "View's SELECT contains a variable or parameter";
    VIEW_WRONG_LIST = 1353, b"HY000", "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts";
    TRG_DOES_NOT_EXIST = 1360, b"HY000", "Trigger does not exist";
    NO_DEFAULT_FOR_FIELD = 1364, b"HY000", "Field '%-.192s' doesn't have a default value";
    DIVISION_BY_ZERO = 1365, b"22012", "Division by 0";
    TRUNCATED_WRONG_VALUE_FOR_FIELD = 1366, b"HY000", "Incorrect %-.32s value: '%-.128s' for column '%.192s' at row %d";
    ILLEGAL_VALUE_FOR_TYPE = 1367, b"22007", "Illegal %s '%-.192s' value found during parsing";
    PROCACCESS_DENIED = 1370, b"42000", "%-.16s command denied to user '%-.48s'@'%-.64s' for routine '%-.192s'";
    NO_BINARY_LOGGING = 1381, b"HY000", "You are not using binary logging";
    PS_MANY_PARAM = 1390, b"HY000", "Prepared statement contains too many placeholders";
    KEY_PART_0 = 1391, b"HY000", "Key part '%-.192s' length cannot be 0";
    CANNOT_USER = 1396, b"HY000", "Operation %s failed for %.256s";
    XAER_RMFAIL = 1399, b"XAE07", "XAER_RMFAIL: The command cannot be executed when global transaction is in the  %.64s state";
    DATA_TOO_LONG = 1406, b"22001", "Data too long for column '%s' at row %d";
    CANT_CREATE_USER_WITH_GRANT = 1410, b"42000", "You are not allowed to create a user with GRANT";
    WRONG_VALUE_FOR_TYPE = 1411, b"HY000", "Incorrect %-.32s value: '%-.128s' for function %-.32s";
    TABLE_DEF_CHANGED = 1412, b"HY000", "Table definition has changed, please retry transaction";
    SP_NO_RETSET = 1415, b"0A000", "Not allowed to return a result set from a %s";
    STMT_HAS_NO_OPEN_CURSOR = 1421, b"HY000", "The statement (%d) has no open cursor.";
    TOO_BIG_SCALE = 1425, b"42000", "Too big scale %d specified for column '%-.192s'. Maximum is %d.";
    TOO_BIG_PRECISION = 1426, b"42000", "Too-big precision %d specified for '%-.192s'. Maximum is %d.";
    M_BIGGER_THAN_D = 1427, b"42000", "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '%-.192s').";
    STACK_OVERRUN_NEED_MORE = 1436, b"HY000", "Thread stack overrun:  %d bytes used of a %d byte stack, and %d bytes needed.  Use 'mysqld --thread_stack=#' to specify a bigger stack.";
    TOO_BIG_DISPLAYWIDTH = 1439, b"42000", "Display width out of range for column '%-.192s' (max = %d)";
    DATETIME_FUNCTION_OVERFLOW = 1441, b"22008", "Datetime function: %-.32s field overflow";
    ROW_IS_REFERENCED_2 = 1451, b"23000", "Cannot delete or update a parent row: a foreign key constraint fails (%.192s)";
    NO_REFERENCED_ROW_2 = 1452, b"23000", "Cannot add or update a child row: a foreign key constraint fails (%.192s)";
    SP_BAD_VAR_SHADOW = 1453, b"42000", "Variable '%-.64s' must be quoted with `...`, or renamed";
    MAX_PREPARED_STMT_COUNT_REACHED = 1461, b"42000", "Can't create more than max_prepared_stmt_count statements (current value: %d)";
    AUTOINC_READ_FAILED = 1467, b"HY000", "Failed to read auto-increment value from storage engine";
    WRONG_STRING_LENGTH = 1470, b"HY000", "String '%-.70s' is too long for %s (should be no longer than %d)";
    NON_INSERTABLE_TABLE = 1471, b"HY000", "The target table %-.100s of the %s is not insertable-into";
    TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT = 1473, b"HY000", "Too high level of nesting for select";
    ILLEGAL_HA_CREATE_OPTION = 1478, b"HY000", "Table storage engine '%-.64s' does not support the create option '%.64s'";
    PLUGIN_IS_NOT_LOADED = 1524, b"HY000", "Plugin '%-.192s' is not loaded";
    WRONG_VALUE = 1525, b"HY000", "Incorrect %-.32s value: '%-.128s'";
    EVENT_DOES_NOT_EXIST = 1539, b"HY000", "Unknown event '%-.192s'";
    EVENT_OPEN_TABLE_FAILED = 1551, b"HY000", "Failed to open mysql.event";
    CANT_CHANGE_TX_CHARACTERISTICS = 1568, b"25001", "Transaction characteristics can't be changed while a transaction is in progress";
    CANT_LOCK_LOG_TABLE = 1580, b"HY000", "You can't use locks with log tables.";
    WRONG_PARAMCOUNT_TO_NATIVE_FCT = 1582, b"42000", "Incorrect parameter count in the call to native function '%-.192s'";
    WRONG_PARAMETERS_TO_NATIVE_FCT = 1583, b"42000", "Incorrect parameters in the call to native function '%-.192s'";
    NEED_REPREPARE = 1615, b"HY000", "Prepared statement needs to be re-prepared";
    WARN_OPTION_IGNORED = 1618, b"HY000", "<%-.64s> option ignored";
    VARIABLE_IS_READONLY = 1621, b"HY000", "%s variable '%s' is read-only. Use SET %s to assign the value";
    TOO_LONG_TABLE_COMMENT = 1628, b"HY000", "Comment for table '%-.64s' is too long (max = %d)";
    TOO_LONG_FIELD_COMMENT = 1629, b"HY000", "Comment for field '%-.64s' is too long (max = %d)";
    FUNC_INEXISTENT_NAME_COLLISION = 1630, b"42000", "FUNCTION %s does not exist. Check the 'Function Name Parsing and Resolution' section in the Reference Manual";
    DUP_SIGNAL_SET = 1641, b"42000", "Duplicate condition information item '%s'";
    UNKNOWN_LOCALE = 1649, b"HY000", "Unknown locale: '%-.64s'";
    BINLOG_UNSAFE_SYSTEM_FUNCTION = 1674, b"HY000", "Statement is unsafe because it uses a system function that may return a different value on the replica.";
    WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT = 1681, b"HY000", "'%s' is deprecated and will be removed in a future release.";
    TOO_LONG_INDEX_COMMENT = 1688, b"HY000", "Comment for index '%-.64s' is too long (max = %d)";
    DATA_OUT_OF_RANGE = 1690, b"22003", "%s value is out of range in '%s'";
    WRONG_SPVAR_TYPE_IN_LIMIT = 1691, b"HY000", "A variable of a non-integer based type in LIMIT clause";
    ACCESS_DENIED_NO_PASSWORD = 1698, b"28000", "Access denied for user '%-.48s'@'%-.64s'";
    MULTI_UPDATE_KEY_CONFLICT = 1706, b"HY000", "Primary key/partition key update is not allowed since the table is updated both as '%-.192s' and '%-.192s'.";
    INDEX_COLUMN_TOO_LONG = 1709, b"HY000", "Index column size too large. The maximum column size is %d bytes.";
    INDEX_CORRUPT = 1712, b"HY000", "Index %s is corrupted";
    PARTITION_CLAUSE_ON_NONPARTITIONED = 1747, b"HY000", "PARTITION () clause on non partitioned table";
    CANT_EXECUTE_IN_READ_ONLY_TRANSACTION = 1792, b"25006", "Cannot execute statement in a READ ONLY transaction.";
    INNODB_ONLINE_LOG_TOO_BIG = 1799, b"HY000", "Creating index '%-.192s' required more than 'innodb_online_alter_log_max_size' bytes of modification log. Please try again.";
    INTERNAL_ERROR = 1815, b"HY000", "Internal error: %s";
    INVALID_YEAR_COLUMN_LENGTH = 1818, b"HY000", "Invalid display width. Use YEAR instead.";
    NOT_VALID_PASSWORD = 1819, b"HY000", "Your password does not satisfy the current policy requirements";
    MUST_CHANGE_PASSWORD = 1820, b"HY000", "You must reset your password using ALTER USER statement before executing this statement.";
    FK_NO_INDEX_PARENT = 1822, b"HY000", "Failed to add the foreign key constraint. Missing index for constraint '%s' in the referenced table '%s'";
    FK_DUP_NAME = 1826, b"HY000", "Duplicate foreign key constraint name '%s'";
    PASSWORD_FORMAT = 1827, b"HY000", "The password hash doesn't have the expected format.";
    DUP_INDEX = 1831, b"HY000", "Duplicate index '%-.64s' defined on the table '%-.64s.%-.64s'. This is deprecated and will be disallowed in a future release.";
    ALTER_OPERATION_NOT_SUPPORTED = 1845, b"0A000", "%s is not supported for this operation. Try %s.";
    ALTER_OPERATION_NOT_SUPPORTED_REASON = 1846, b"0A000", "%s is not supported. Reason: %s. Try %s.";
    MUST_CHANGE_PASSWORD_LOGIN = 1862, b"HY000", "Your password has expired. To log in you must change it using a client that supports expired passwords.";
    AUTO_INCREMENT_CONFLICT = 1869, b"HY000", "Auto-increment value in UPDATE conflicts with internally generated values";
    DISCARD_FK_CHECKS_RUNNING = 1870, b"HY000", "There is a foreign key check running on table '%-.192s'. Cannot discard the table.";
    SLAVE_RLI_INIT_REPOSITORY = 1872, b"HY000", "Replica failed to initialize relay log info structure from the repository";
    INNODB_READ_ONLY = 1874, b"HY000", "InnoDB is in read only mode.";
    TABLE_CORRUPT = 1877, b"HY000", "Operation cannot be performed. The table '%-.64s.%-.64s' is missing, corrupt or contains bad data.";
    TEMP_FILE_WRITE_FAILURE = 1878, b"HY000", "Temporary file write failure.";
    INNODB_FORCED_RECOVERY = 1881, b"HY000", "Operation not allowed when innodb_force_recovery > 0.";
    AES_INVALID_IV = 1882, b"HY000", "The initialization vector supplied to %s is too short. Must be at least %d bytes long";
    STATEMENT_TIMEOUT = 1969, b"70100", "Query execution was interrupted (max_statement_time exceeded)";
    INVALID_FIELD_SIZE = 3013, b"HY000", "Invalid size for column '%s'.";
    INVALID_ARGUMENT_FOR_LOGARITHM = 3020, b"2201E", "Invalid argument for logarithm";
    QUERY_TIMEOUT = 3024, b"HY000", "Query execution was interrupted, maximum statement execution time exceeded";
    AGGREGATE_ORDER_FOR_UNION = 3028, b"HY000", "Expression #%d of ORDER BY contains aggregate function and applies to a UNION, EXCEPT or INTERSECT";
    AGGREGATE_ORDER_NON_AGG_QUERY = 3029, b"HY000", "Expression #%d of ORDER BY contains aggregate function and applies to the result of a non-aggregated query";
    WRONG_VALUE_IN_LIST = 3055, b"HY000", "Incorrect value in the list: '%-.64s'";
    USER_LOCK_WRONG_NAME = 3057, b"42000", "Incorrect user-level lock name '%-.192s'. The name is empty, NULL, or can not be expressed in the current character-set.";
    USER_LOCK_DEADLOCK = 3058, b"HY000", "Deadlock found when trying to get user-level lock; try rolling back transaction/releasing locks and restarting lock acquisition.";
    ILLEGAL_USER_VAR = 3061, b"42000", "User variable name '%-.96s' is illegal";
    FIELD_IN_ORDER_NOT_SELECT = 3065, b"HY000", "Expression #%d of %s is not in SELECT list, references column '%s' which is not in SELECT list; this is incompatible with %s";
    AGGREGATE_IN_ORDER_NOT_SELECT = 3066, b"HY000", "Expression #%d of %s is not in SELECT list, contains aggregate function; this is incompatible with %s";
    DEPRECATED_SQLMODE = 3090, b"HY000", "Changing sql mode '%s' is deprecated. It will be removed in a future release.";
    ACCOUNT_HAS_BEEN_LOCKED = 3118, b"HY000", "Access denied for user '%-.48s'@'%-.64s'. Account is locked.";
    SQL_MODES_APART = 3135, b"HY000", "'NO_ZERO_DATE', 'NO_ZERO_IN_DATE' and 'ERROR_FOR_DIVISION_BY_ZERO' sql modes should be used with strict mode. They will be merged with strict mode in a future release.";
    INVALID_JSON_TEXT = 3140, b"22032", "Invalid JSON text: \"%s\" at position %d in value for column '%-.200s'.";
    SECURE_TRANSPORT_REQUIRED = 3159, b"HY000", "Connections using insecure transport are prohibited while --require_secure_transport=ON.";
    USER_DOES_NOT_EXIST = 3162, b"HY000", "Authorization ID %s does not exist.";
    USER_ALREADY_EXISTS = 3163, b"HY000", "Authorization ID %s already exists.";
    KILLED_SESSION = 3169, b"HY000", "Session was killed";
    CAPACITY_EXCEEDED = 3170, b"HY000", "Memory capacity of %d bytes for '%s' exceeded. %s";
    UNSUPPORTED_INDEX_ALGORITHM = 3502, b"HY000", "This storage engine does not support the %s index algorithm, storage engine default was used instead.";
    DATABASE_DOES_NOT_EXIST = 3503, b"42Y07", "Database '%-.192s' doesn't exist";
    DD_OBJECT_NOT_UPDATED = 3507, b"HY000", "Failed to update %s dictionary object.";
    INVALID_BITWISE_OPERANDS_SIZE = 3513, b"HY000", "Binary operands of bitwise operators must be of equal length";
    INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE = 3514, b"HY000", "Aggregate bitwise functions cannot accept arguments longer than 511 bytes; consider using the SUBSTRING() function";
    INVISIBLE_PRIMARY_KEY = 3522, b"HY000", "A primary key index cannot be invisible";
    UNKNOWN_AUTHID = 3523, b"HY000", "Unknown authorization ID %s";
    COMPONENTS_NO_SCHEME = 3527, b"HY000", "Cannot find schema in specified URN: '%s'.";
    COMPONENTS_NO_SCHEME_SERVICE = 3528, b"HY000", "Cannot acquire scheme load service implementation for schema '%s' in specified URN: '%s'.";
    COMPONENTS_CANT_LOAD = 3529, b"HY000", "Cannot load component from specified URN: '%s'.";
    ROLE_NOT_GRANTED = 3530, b"HY000", "%s is not granted to %s";
    RENAME_ROLE = 3532, b"HY000", "Renaming of a role identifier is forbidden";
    COMPONENTS_UNLOAD_NOT_LOADED = 3537, b"HY000", "Component specified by URN '%s' to unload has not been loaded before.";
    COMPONENTS_UNLOAD_DUPLICATE = 3545, b"HY000", "The component with specified URN: '%s' was specified in group more than once.";
    NO_SYSTEM_SCHEMA_ACCESS = 3552, b"HY000", "Access to system schema '%s' is rejected.";
    UNRESOLVED_TABLE_LOCK = 3568, b"HY000", "Unresolved table name %s in locking clause.";
    DUPLICATE_TABLE_LOCK = 3569, b"HY000", "Table %s appears in multiple locking clauses.";
    LOCK_NOWAIT = 3572, b"HY000", "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.";
    WINDOW_INVALID_USE = 3593, b"HY000", "You cannot use the window function '%s' in this context.'";
    ILLEGAL_PRIVILEGE_LEVEL = 3619, b"HY000", "Illegal privilege level specified for %s";
    MANDATORY_ROLE = 3628, b"HY000", "The role %s is a mandatory role and can't be revoked or dropped. The restriction can be lifted by excluding the role identifier from the global variable mandatory_roles.";
    CTE_MAX_RECURSION_DEPTH = 3636, b"HY000", "Recursive query aborted after %d iterations. Try increasing @@cte_max_recursion_depth to a larger value.";
    CREDENTIALS_CONTRADICT_TO_HISTORY = 3638, b"HY000", "Cannot use these credentials for '%s' because they contradict the password history policy";
    PASSWORD_EXPIRATION_NOT_SUPPORTED = 3671, b"HY000", "The selected authentication method %s does not support password expiration";
    WRONG_FRAME_SPEC = 3683, b"HY000", "Window '%s': frame specification is not valid.";
    REGEXP_ILLEGAL_ARGUMENT = 3685, b"HY000", "Illegal argument to a regular expression.";
    DEPRECATED_UTF8_ALIAS = 3719, b"HY000", "'utf8' is currently an alias for the character set UTF8MB3, but will be an alias for UTF8MB4 in a future release. Please consider using UTF8MB4 in order to be unambiguous.";
    DEPRECATED_NATIONAL = 3720, b"HY000", "NATIONAL/NCHAR/NVARCHAR implies the character set UTF8MB3, which will be replaced by UTF8MB4 in a future release. Please consider using CHAR(x) CHARACTER SET UTF8MB4 in order to be unambiguous.";
    RESERVED_TABLESPACE = 3723, b"HY000", "The table '%-.192s' may not be created in the reserved tablespace '%-.192s'.";
    FK_CANNOT_DROP_PARENT = 3730, b"HY000", "Cannot drop table '%s' referenced by a foreign key constraint '%s' on table '%s'.";
    TABLE_WITHOUT_PRIMARY_KEY = 3750, b"HY000", "Unable to create or change a table without a primary key, when the system variable 'sql_require_primary_key' is set. Add a primary key to the table or unset this variable to avoid this message. Note that tables without a primary key can cause performance problems in row-based replication, so please consult your DBA before changing this setting.";
    DEPENDENT_BY_DEFAULT = 3766, b"HY000", "Column '%s' of table '%s' has a default value expression dependency and cannot be dropped or renamed.";
    DEFAULT_REF_LATER_COLUMN = 3767, b"HY000", "Default value expression of column '%s' cannot refer to a column defined after it if that column is a generated column or has an expression as default value.";
    DEFAULT_REF_AUTO_INCREMENT = 3768, b"HY000", "Default value expression of column '%s' cannot refer to an auto-increment column.";
    DEFAULT_CONSTRUCT_NOT_ALLOWED = 3769, b"HY000", "Default value expression of column '%s' contains a disallowed function.";
    DEFAULT_FUNCTION_NOT_ALLOWED = 3770, b"HY000", "Default value expression of column '%s' contains a disallowed function: %s.";
    DEFAULT_ROW_VALUE = 3771, b"HY000", "Default value expression of column '%s' cannot refer to a row value.";
    DEFAULT_VARIABLES = 3772, b"HY000", "Default value expression of column '%s' cannot refer user or system variables.";
    DEFAULT_OF_EXPRESSION = 3773, b"HY000", "DEFAULT function cannot be used with default value expressions";
    DEPRECATED_UTF8MB3_COLLATION = 3778, b"HY000", "'%s' is a collation of the deprecated character set UTF8MB3. Please consider using UTF8MB4 with an appropriate collation instead.";
    CHECK_CONSTRAINT_VIOLATED = 3819, b"HY000", "Check constraint '%-.192s' is violated.";
    CANNOT_CONVERT_STRING = 3854, b"HY000", "Cannot convert string '%-.64s' from %s to %s";
    SECOND_PASSWORD_CANNOT_BE_EMPTY = 3878, b"HY000", "Empty password can not be retained as second password for user '%s'@'%s'.";
    DB_ACCESS_DENIED = 3879, b"HY000", "Access denied for AuthId `%.64s`@`%.64s` to database '%-.192s'.";
    AUTHID_IS_SYSTEM_USER = 3880, b"HY000", "Cannot set %s: AuthId %s has '%s' privilege.";
    CONVERTED_KEY_TOO_LONG = 3886, b"HY000", "Could not change column '%s' of table '%s'. The resulting size of index '%s' would exceed the max key length of %d bytes.";
    SSL_LIBRARY_ERROR = 3888, b"HY000", "Failed to set up SSL because of the following SSL library error: %s";
    INCORRECT_CURRENT_PASSWORD = 3891, b"HY000", "Incorrect current password. Specify the correct password which has to be replaced.";
    MISSING_CURRENT_PASSWORD = 3892, b"HY000", "Current password needs to be specified in the REPLACE clause in order to change it.";
    CURRENT_PASSWORD_NOT_REQUIRED = 3893, b"HY000", "Do not specify the current password while changing it for other users.";
    PASSWORD_CANNOT_BE_RETAINED_ON_PLUGIN_CHANGE = 3894, b"HY000", "Current password can not be retained for user '%s'@'%s' because authentication plugin is being changed.";
    CURRENT_PASSWORD_CANNOT_BE_RETAINED = 3895, b"HY000", "Current password can not be retained for user '%s'@'%s' because new password is empty.";
    PARTIAL_REVOKES_EXIST = 3896, b"HY000", "At least one partial revoke exists on a database. The system variable '@@partial_revokes' must be set to ON.";
    CANNOT_GRANT_TO_MANDATORY_ROLE = 3897, b"HY000", "AuthId %s is set as mandatory_roles. Cannot grant the '%s' privilege.";
    WRONG_COMPRESSION_ALGORITHM_CLIENT = 3922, b"HY000", "Invalid compression algorithm '%-.192s'.";
    WRONG_COMPRESSION_LEVEL_CLIENT = 3923, b"HY000", "Invalid zstd compression level for algorithm '%-.192s'.";
    UNREGISTERED_DYNAMIC_PRIVILEGE = 3929, b"HY000", "Dynamic privilege '%s' is not registered with the server.";
    CONSTRAINT_NOT_FOUND = 3940, b"HY000", "Constraint '%s' does not exist.";
    VALUES_WITHOUT_COLUMNS = 3942, b"HY000", "Each row of a VALUES clause must have at least one column, unless when used as source in an INSERT statement.";
    CLIENT_LOCAL_FILES_DISABLED = 3948, b"42000", "Loading local data is disabled; this must be enabled on both the client and server sides";
    MISPLACED_INTO = 3954, b"HY000", "Misplaced INTO clause, INTO is not allowed inside subqueries, and must be placed at end of UNION clauses.";
    BLOCKED_BY_PASSWORD_LOCK = 3955, b"HY000", "Access denied for user '%s'@'%s'. Account is blocked for %s day(s) (%s day(s) remaining) due to %u consecutive failed logins.";
    INVALID_USER_ATTRIBUTE_JSON = 3982, b"HY000", "The user attribute must be a valid JSON object";
    IMPOSSIBLE_STRING_CONVERSION = 3988, b"HY000", "Conversion from collation %s into %s impossible for %s";
    INVALID_ASSIGNMENT_TARGET = 3989, b"HY000", "Invalid target for assignment: %s";
    INVALID_PARAMETER_USE = 3994, b"HY000", "Invalid use of parameters in '%s'";
    ROLE_GRANTED_TO_ITSELF = 4027, b"HY000", "User account %s is directly or indirectly granted to the role %s. The GRANT would create a loop";
    NO_VISIBLE_COLUMN = 4028, b"HY000", "A table must have at least one visible column.";
    CLIENT_INTERACTION_TIMEOUT = 4031, b"HY000", "The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for configuring this behavior.";
    DA_GLOBAL_CONN_LIMIT = 4081, b"HY000", "Connection closed. Global connection memory limit %d bytes exceeded. Consumed %d bytes.";
    DA_CONN_LIMIT = 4082, b"HY000", "Connection closed. Connection memory limit %d bytes exceeded. Consumed %d bytes.";
    DEPRECATED_DATETIME_DELIMITER = 4095, b"HY000", "Delimiter '%s' in position %d in datetime value '%s' at row %d is deprecated. Prefer the standard '%s'.";
    SUPERFLUOUS_DATETIME_DELIMITER = 4096, b"HY000", "Delimiter '%s' in position %d in datetime value '%s' at row %d is superfluous and is deprecated. Please remove.";
    SET_PASSWORD_AUTH_PLUGIN = 4102, b"HY000", "SET PASSWORD has no significance for user '%s'@'%s' as the authentication method used doesn't store authentication data in the MySQL server. Please consider using ALTER USER instead if you want to change authentication parameters.";
    USER_LOCK_OVERLONG_NAME = 4163, b"42000", "User-level lock name '%-.192s' should not exceed %d characters.";
    INSUFFICIENT_CHANGED_CHARACTERS = 4165, b"HY000", "The new password must have at least '%u' characters that are different from the old password. It has only '%u' character(s) different. For this comparison, uppercase letters and lowercase letters are considered to be equal.";
    CTE_EXPANSION_LIMIT = 4169, b"HY000", "Common table expression expansion exceeded an implementation limit. Simplify the query.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_so_that_they_can_be_searched() {
        assert!(ALL.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert!(ALL.iter().all(|kind| ErrorKind::find(kind.code) == Some(kind)));
        assert_eq!(ErrorKind::find(1), None);
    }

    #[test]
    fn placeholders_take_arguments_up_to_their_precision() {
        let error = ACCESS_DENIED.with(&[&"root", &"localhost", &"NO"]);
        assert_eq!(error.message, "Access denied for user 'root'@'localhost' (using password: NO)");
        assert_eq!((error.code, &error.sqlstate), (1045, b"28000"));
        let long = "x".repeat(300);
        assert_eq!(BAD_DB.with(&[&long]).message.len(), "Unknown database ''".len() + 192);
        assert_eq!(NO_SUCH_THREAD.with(&[&7]).message, "Unknown thread id: 7");
    }

    #[test]
    fn sqlstates_are_five_capital_letters_or_digits() {
        for kind in ALL {
            let ok = kind.sqlstate.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
            assert!(ok, "{}", kind.code);
        }
    }
}
