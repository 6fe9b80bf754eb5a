//! Keywords of MySQL 8.4 and their lookup.

macro_rules! keywords {
    (reserved { $($res:ident)* } other { $($non:ident)* }) => {
        /// A keyword, named as it is written. Reserved words come first.
        #[expect(non_camel_case_types, missing_docs, reason = "names are the words")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Kw { $($res,)* $($non,)* }

        /// Every keyword in the order of its number.
        static ALL: &[Kw] = &[$(Kw::$res,)* $(Kw::$non,)*];
        /// Upper-case spelling by number.
        static NAMES: &[&str] = &[$(stringify!($res),)* $(stringify!($non),)*];
        /// Count of reserved words; they have the lowest numbers.
        const RESERVED: usize = [$(stringify!($res)),*].len();
        /// Number of slots in use.
        const COUNT: usize = RESERVED + [$(stringify!($non)),*].len();
        /// The same spellings, for building the hash table at compile time.
        const SPELLINGS: [&str; COUNT] = [$(stringify!($res),)* $(stringify!($non),)*];
    };
}

keywords! {
    reserved {
        ACCESSIBLE ADD ALL ALTER ANALYZE AND AS ASC ASENSITIVE BEFORE BETWEEN BIGINT BINARY BLOB BOTH BY
        CALL CASCADE CASE CHANGE CHAR CHARACTER CHECK COLLATE COLUMN CONDITION CONSTRAINT CONTINUE CONVERT
        CREATE CROSS CUBE CUME_DIST CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR
        DATABASE DATABASES DAY_HOUR DAY_MICROSECOND DAY_MINUTE DAY_SECOND DEC DECIMAL DECLARE DEFAULT
        DELAYED DELETE DENSE_RANK DESC DESCRIBE DETERMINISTIC DISTINCT DISTINCTROW DIV DOUBLE DROP DUAL
        EACH ELSE ELSEIF EMPTY ENCLOSED ESCAPED EXCEPT EXISTS EXIT EXPLAIN FALSE FETCH FIRST_VALUE FLOAT
        FLOAT4 FLOAT8 FOR FORCE FOREIGN FROM FULLTEXT FUNCTION GENERATED GET GRANT GROUP GROUPING GROUPS
        HAVING HIGH_PRIORITY HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND IF IGNORE IN INDEX INFILE INNER INOUT
        INSENSITIVE INSERT INT INT1 INT2 INT3 INT4 INT8 INTEGER INTERSECT INTERVAL INTO IO_AFTER_GTIDS
        IO_BEFORE_GTIDS IS ITERATE JOIN JSON_TABLE KEY KEYS KILL LAG LAST_VALUE LATERAL LEAD LEADING LEAVE
        LEFT LIKE LIMIT LINEAR LINES LOAD LOCALTIME LOCALTIMESTAMP LOCK LONG LONGBLOB LONGTEXT LOOP
        LOW_PRIORITY MANUAL MATCH MAXVALUE MEDIUMBLOB MEDIUMINT MEDIUMTEXT MIDDLEINT MINUTE_MICROSECOND
        MINUTE_SECOND MOD MODIFIES NATURAL NOT NO_WRITE_TO_BINLOG NTH_VALUE NTILE NULL NUMERIC OF ON
        OPTIMIZE OPTIMIZER_COSTS OPTION OPTIONALLY OR ORDER OUT OUTER OUTFILE OVER PARALLEL PARTITION
        PERCENT_RANK PRECISION PRIMARY PROCEDURE PURGE QUALIFY RANGE RANK READ READS READ_WRITE REAL
        RECURSIVE REFERENCES REGEXP RELEASE RENAME REPEAT REPLACE REQUIRE RESIGNAL RESTRICT RETURN REVOKE
        RIGHT RLIKE ROW ROWS ROW_NUMBER SCHEMA SCHEMAS SECOND_MICROSECOND SELECT SENSITIVE SEPARATOR SET
        SHOW SIGNAL SMALLINT SPATIAL SPECIFIC SQL SQLEXCEPTION SQLSTATE SQLWARNING SQL_BIG_RESULT
        SQL_CALC_FOUND_ROWS SQL_SMALL_RESULT SSL STARTING STORED STRAIGHT_JOIN SYSTEM TABLE TABLESAMPLE
        TERMINATED THEN TINYBLOB TINYINT TINYTEXT TO TRAILING TRIGGER TRUE UNDO UNION UNIQUE UNLOCK
        UNSIGNED UPDATE USAGE USE USING UTC_DATE UTC_TIME UTC_TIMESTAMP VALUES VARBINARY VARCHAR
        VARCHARACTER VARYING VIRTUAL WHEN WHERE WHILE WINDOW WITH WRITE XOR YEAR_MONTH ZEROFILL
    }
    other {
        ACCOUNT ACTION ACTIVE ADDDATE ADMIN AFTER AGAINST AGGREGATE ALGORITHM ALWAYS ANY ARRAY ASCII AT
        ATTRIBUTE AUTHENTICATION AUTO AUTOEXTEND_SIZE AUTO_INCREMENT AVG AVG_ROW_LENGTH BACKUP BEGIN
        BERNOULLI BINLOG BIT BIT_AND BIT_OR BIT_XOR BLOCK BOOL BOOLEAN BTREE BUCKETS BULK BYTE CACHE
        CASCADED CAST CATALOG_NAME CHAIN CHALLENGE_RESPONSE CHANGED CHANNEL CHARSET CHECKSUM CIPHER
        CLASS_ORIGIN CLIENT CLONE CLOSE CODE COLLATION COLUMNS COLUMN_FORMAT COLUMN_NAME COMMENT COMMIT
        COMMITTED COMPACT COMPLETION COMPONENT COMPRESSED COMPRESSION CONCURRENT CONNECTION CONSISTENT
        CONSTRAINT_CATALOG CONSTRAINT_NAME CONSTRAINT_SCHEMA CONTAINS CONTEXT COUNT CPU CURDATE CURRENT
        CURSOR_NAME CURTIME DATA DATAFILE DATE DATETIME DATE_ADD DATE_SUB DAY DEALLOCATE DEFAULT_AUTH
        DEFINER DEFINITION DELAY_KEY_WRITE DESCRIPTION DIAGNOSTICS DIRECTORY DISABLE DISCARD DISK DO
        DUMPFILE DUPLICATE DYNAMIC ENABLE ENCRYPTION END ENDS ENFORCED ENGINE ENGINES ENGINE_ATTRIBUTE ENUM
        ERROR ERRORS ESCAPE EVENT EVENTS EVERY EXCHANGE EXCLUDE EXECUTE EXPANSION EXPIRE EXPORT EXTENDED
        EXTENT_SIZE EXTRACT FACTOR FAILED_LOGIN_ATTEMPTS FAST FAULTS FIELDS FILE FILE_BLOCK_SIZE FILTER
        FINISH FIRST FIXED FLUSH FOLLOWING FOLLOWS FORMAT FOUND FULL GENERAL GENERATE GEOMCOLLECTION
        GEOMETRY GEOMETRYCOLLECTION GET_FORMAT GET_SOURCE_PUBLIC_KEY GLOBAL GRANTS GROUP_CONCAT
        GROUP_REPLICATION GTIDS GTID_ONLY HANDLER HASH HELP HISTOGRAM HISTORY HOST HOSTS HOUR IDENTIFIED
        IGNORE_SERVER_IDS IMPORT INACTIVE INDEXES INITIAL INITIAL_SIZE INITIATE INSERT_METHOD INSTALL
        INSTANCE INVISIBLE INVOKER IO IO_THREAD IPC ISOLATION ISSUER JSON JSON_ARRAYAGG JSON_OBJECTAGG
        JSON_VALUE KEYRING KEY_BLOCK_SIZE LANGUAGE LAST LEAVES LESS LEVEL LINESTRING LIST LOCAL LOCKED
        LOCKS LOG LOGFILE LOGS MASTER MAX MAX_CONNECTIONS_PER_HOUR MAX_QUERIES_PER_HOUR MAX_ROWS MAX_SIZE
        MAX_UPDATES_PER_HOUR MAX_USER_CONNECTIONS MEDIUM MEMBER MEMORY MERGE MESSAGE_TEXT MICROSECOND MID
        MIGRATE MIN MINUTE MIN_ROWS MODE MODIFY MONTH MULTILINESTRING MULTIPOINT MULTIPOLYGON MUTEX
        MYSQL_ERRNO NAME NAMES NATIONAL NCHAR NDB NDBCLUSTER NESTED NETWORK_NAMESPACE NEVER NEW NEXT NO
        NODEGROUP NONE NOW NOWAIT NO_WAIT NULLS NUMBER NVARCHAR OFF OFFSET OJ OLD ONE ONLY OPEN OPTIONAL
        OPTIONS ORDINALITY ORGANIZATION OTHERS OWNER PACK_KEYS PAGE PARSER PARTIAL PARTITIONING PARTITIONS
        PASSWORD PASSWORD_LOCK_TIME PATH PERSIST PERSIST_ONLY PHASE PLUGIN PLUGINS PLUGIN_DIR POINT POLYGON
        PORT POSITION PRECEDES PRECEDING PREPARE PRESERVE PREV PRIVILEGES PRIVILEGE_CHECKS_USER PROCESS
        PROCESSLIST PROFILE PROFILES PROXY QUARTER QUERY QUICK RANDOM READ_ONLY REBUILD RECOVER
        REDO_BUFFER_SIZE REDUNDANT REFERENCE REGISTRATION RELAY RELAYLOG RELAY_LOG_FILE RELAY_LOG_POS
        RELAY_THREAD RELOAD REMOVE REORGANIZE REPAIR REPEATABLE REPLICA REPLICAS REPLICATE_DO_DB
        REPLICATE_DO_TABLE REPLICATE_IGNORE_DB REPLICATE_IGNORE_TABLE REPLICATE_REWRITE_DB
        REPLICATE_WILD_DO_TABLE REPLICATE_WILD_IGNORE_TABLE REPLICATION REQUIRE_ROW_FORMAT RESET RESOURCE
        RESPECT RESTART RESTORE RESUME RETAIN RETURNED_SQLSTATE RETURNING RETURNS REUSE REVERSE ROLE
        ROLLBACK ROLLUP ROTATE ROUTINE ROW_COUNT ROW_FORMAT RTREE SAVEPOINT SCHEDULE SCHEMA_NAME SECOND
        SECONDARY SECONDARY_ENGINE SECONDARY_ENGINE_ATTRIBUTE SECONDARY_LOAD SECONDARY_UNLOAD SECURITY
        SERIAL SERIALIZABLE SERVER SESSION SESSION_USER SHARE SHUTDOWN SIGNED SIMPLE SKIP SLAVE SLOW
        SNAPSHOT SOCKET SOME SONAME SOUNDS SOURCE SQL_AFTER_GTIDS SQL_AFTER_MTS_GAPS SQL_BEFORE_GTIDS
        SQL_BUFFER_RESULT SQL_NO_CACHE SQL_THREAD SRID STACKED START STARTS STATS_AUTO_RECALC
        STATS_PERSISTENT STATS_SAMPLE_PAGES STATUS STD STDDEV STDDEV_POP STDDEV_SAMP STOP STORAGE STREAM
        STRING SUBCLASS_ORIGIN SUBDATE SUBJECT SUBPARTITION SUBPARTITIONS SUBSTR SUBSTRING SUM SUPER
        SUSPEND SWAPS SWITCHES SYSDATE SYSTEM_USER TABLES TABLESPACE TABLE_CHECKSUM TABLE_NAME TEMPORARY
        TEMPTABLE TEXT THAN THREAD_PRIORITY TIES TIME TIMESTAMP TIMESTAMPADD TIMESTAMPDIFF TLS TRANSACTION
        TRIGGERS TRIM TRUNCATE TYPE TYPES UNBOUNDED UNCOMMITTED UNDEFINED UNDOFILE UNDO_BUFFER_SIZE UNICODE
        UNINSTALL UNKNOWN UNREGISTER UNTIL UPGRADE URL USER USER_RESOURCES USE_FRM VALIDATION VALUE
        VARIABLES VARIANCE VAR_POP VAR_SAMP VCPU VIEW VISIBLE WAIT WARNINGS WEEK WEIGHT_STRING WITHOUT WORK
        WRAPPER X509 XA XID XML YEAR ZONE
    }
}

impl Kw {
    /// Number of keywords: bound of `kw as usize`.
    pub(crate) const TOTAL: usize = COUNT;

    /// The keyword spelled `word`, in any case.
    ///
    /// Cost: one hash, one or two probes; a comparison byte by byte for keywords beyond 16 bytes.
    pub fn find(word: &[u8]) -> Option<Kw> {
        if word.len() > LEN_MAX {
            return None;
        }
        let found = probe(fingerprint(word))?;
        (word.len() <= 16 || found.as_str().as_bytes().eq_ignore_ascii_case(word)).then_some(found)
    }

    /// The keyword spelled by the lowest `len` < 8 bytes of `low`, in any case. They must be word bytes.
    ///
    /// Cost: one multiplication, one or two probes of two comparisons of 8 bytes.
    #[inline]
    pub(super) fn find_short(low: u64, len: u32) -> Option<Kw> {
        probe([fold(low, len), 0])
    }

    /// The keyword spelled by the 8 bytes of `low` and the lowest `len` < 8 bytes of `high`, likewise.
    #[inline]
    pub(super) fn find_medium(low: u64, high: u64, len: u32) -> Option<Kw> {
        probe([low | FOLD, fold(high, len)])
    }

    /// Whether `/*+ .. */` after this word is a hint.
    #[inline]
    pub(super) fn takes_hints(self) -> bool {
        TAKES_HINTS[self as usize]
    }

    /// Whether the word cannot be a name without quotes.
    #[inline]
    pub(crate) fn is_reserved(self) -> bool {
        (self as usize) < RESERVED
    }

    /// The word in upper case.
    pub fn as_str(self) -> &'static str {
        NAMES[self as usize]
    }
}

/// Slots of the open-addressing table: less than a quarter full, so that probes end at once.
const SLOTS: usize = 4096;
/// Length of the shortest keyword.
const MIN_LEN: usize = 2;
/// Length of the longest keyword.
const LEN_MAX: usize = 27;

/// Keywords by hash slot.
static TABLE: [Option<Kw>; SLOTS] = build_table();
/// Fingerprints by keyword number.
static FINGERPRINTS: [Fingerprint; COUNT] = build_fingerprints();
/// Words after which `/*+` begins a hint, by keyword number.
static TAKES_HINTS: [bool; COUNT] = build_takes_hints();

/// What stands for a word in comparisons: its bytes in lower case, zero-filled to 16. A longer word has its
/// bytes 4 to 11, a zero and its last 7 bytes, which no shorter word has, and which must be followed by a
/// full comparison.
type Fingerprint = [u64; 2];

/// Sets bit 5 of every byte: folds the case of letters, and no two other word bytes meet by it.
const FOLD: u64 = 0x2020_2020_2020_2020;

/// The lowest `len` < 8 bytes of `bytes` in lower case.
#[inline]
const fn fold(bytes: u64, len: u32) -> u64 {
    (bytes | FOLD) & !(u64::MAX << (8 * len))
}

/// Fingerprint of a word of any length.
const fn fingerprint(word: &[u8]) -> Fingerprint {
    let len = word.len();
    match len {
        0..8 => [fold(pack(word, 0, len), len as u32), 0],
        8..16 => [pack(word, 0, 8) | FOLD, fold(pack(word, 8, len), len as u32 - 8)],
        16 => [pack(word, 0, 8) | FOLD, pack(word, 8, 16) | FOLD],
        _ => [pack(word, 4, 12) | FOLD, (pack(word, len - 7, len) << 8 | FOLD) & !0xff],
    }
}

/// Bytes `from..to` of `word`, the first one lowest.
const fn pack(word: &[u8], from: usize, to: usize) -> u64 {
    let mut packed = 0;
    let mut i = from;
    while i < to {
        packed |= (word[i] as u64) << (8 * (i - from));
        i += 1;
    }
    packed
}

/// Home slot of a fingerprint.
#[inline]
const fn slot_of(word: Fingerprint) -> usize {
    let mixed = word[0].wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word[1].wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed >> 52) as usize
}

#[inline]
fn probe(word: Fingerprint) -> Option<Kw> {
    let mut slot = slot_of(word);
    loop {
        let kw = TABLE[slot]?;
        if FINGERPRINTS[kw as usize] == word {
            return Some(kw);
        }
        slot = (slot + 1) % SLOTS;
    }
}

const fn build_fingerprints() -> [Fingerprint; COUNT] {
    let mut table = [[0; 2]; COUNT];
    let mut i = 0;
    while i < COUNT {
        let word = SPELLINGS[i].as_bytes();
        assert!(word.len() >= MIN_LEN && word.len() <= LEN_MAX, "keyword length out of bounds");
        table[i] = fingerprint(word);
        i += 1;
    }
    table
}

const fn build_table() -> [Option<Kw>; SLOTS] {
    let mut table = [None; SLOTS];
    let mut i = 0;
    while i < COUNT {
        let mut slot = slot_of(fingerprint(SPELLINGS[i].as_bytes()));
        while table[slot].is_some() {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = Some(ALL[i]);
        i += 1;
    }
    table
}

const fn build_takes_hints() -> [bool; COUNT] {
    let mut table = [false; COUNT];
    let words = [Kw::SELECT, Kw::INSERT, Kw::UPDATE, Kw::DELETE, Kw::REPLACE];
    let mut i = 0;
    while i < words.len() {
        table[words[i] as usize] = true;
        i += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_in_any_case() {
        for &kw in ALL {
            assert_eq!(Kw::find(kw.as_str().as_bytes()), Some(kw));
            assert_eq!(Kw::find(kw.as_str().to_lowercase().as_bytes()), Some(kw));
        }
        assert_eq!(Kw::find(b"sbtest1"), None);
        assert_eq!(Kw::find(b"x"), None);
        assert_eq!(Kw::find(b""), None);
        assert_eq!(Kw::find(b"SECONDARY_ENGINE_ATTRIBUTF"), None);
        assert_eq!(Kw::find(b"XECONDARY_ENGINE_ATTRIBUTE"), None);
    }

    #[test]
    fn fingerprints_are_unique() {
        let mut seen: Vec<Fingerprint> = FINGERPRINTS.to_vec();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), COUNT, "long keywords must differ where they are looked at");
    }

    #[test]
    fn probes_are_short() {
        let far = ALL.iter().filter(|kw| {
            let home = slot_of(fingerprint(kw.as_str().as_bytes()));
            let at = (0..SLOTS).position(|i| TABLE[(home + i) % SLOTS] == Some(**kw));
            at.unwrap() > 2
        });
        assert!(far.count() < 10);
    }

    #[test]
    fn reserved_words_are_told_apart() {
        assert!(Kw::SELECT.is_reserved() && Kw::ZEROFILL.is_reserved());
        assert!(!Kw::ACCOUNT.is_reserved() && !Kw::COUNT.is_reserved() && !Kw::STATUS.is_reserved());
    }
}
