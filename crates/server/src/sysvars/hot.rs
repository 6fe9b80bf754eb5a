//! The variables that statements read, typed.

use sql::LexMode;
use sql::ast::Completion;
use sql::bind::ReadsLock;
use types::collation::{Charset, Collation};
use types::temporal::TimeZone;
use types::{CollationId, Locale, SqlModes};
use wire::{ResultCharset, ServerStatus};

pub use trx::Isolation;

use super::value::VarValue;

/// Typed copies of the values that statements need; kept in step by [`Variables`](super::Variables).
#[derive(Clone, Debug)]
pub struct HotVariables {
    /// `autocommit`.
    pub autocommit: bool,
    /// What `autocommit` and `sql_mode` contribute to the status flags of packets.
    pub status: ServerStatus,
    /// `sql_mode`.
    pub sql_mode: SqlModes,
    /// What of it the lexer obeys.
    pub lex_mode: LexMode,
    /// `character_set_client`.
    pub charset_client: Charset,
    /// What `character_set_results` asks for.
    pub results: ResultCharset,
    /// `collation_connection`.
    pub collation_connection: CollationId,
    /// Its character set.
    pub charset_connection: Charset,
    /// `time_zone`.
    pub time_zone: TimeZone,
    /// `lc_time_names`.
    pub lc_time_names: &'static Locale,
    /// `transaction_isolation`.
    pub isolation: Isolation,
    /// `transaction_read_only`.
    pub transaction_read_only: bool,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// `unique_checks`.
    pub unique_checks: bool,
    /// `sql_auto_is_null`.
    pub sql_auto_is_null: bool,
    /// `completion_type`: what follows COMMIT and ROLLBACK that do not say it.
    pub completion: Completion,
    /// `sql_require_primary_key`.
    pub sql_require_primary_key: bool,
    /// `sql_safe_updates`.
    pub sql_safe_updates: bool,
    /// `sql_select_limit`.
    pub sql_select_limit: u64,
    /// `sql_notes`.
    pub sql_notes: bool,
    /// `max_error_count`.
    pub max_error_count: u64,
    /// `max_execution_time`, ms; 0: none.
    pub max_execution_time: u64,
    /// `max_allowed_packet`, bytes.
    pub max_allowed_packet: u64,
    /// `group_concat_max_len`, bytes.
    pub group_concat_max_len: u64,
    /// `div_precision_increment`.
    pub div_precision_increment: u64,
    /// `range_optimizer_max_mem_size`, bytes; 0: no limit.
    pub range_optimizer_max_mem_size: u64,
    /// `eq_range_index_dive_limit`.
    pub eq_range_index_dive_limit: u64,
    /// `default_week_format`.
    pub default_week_format: u64,
    /// `auto_increment_increment`.
    pub auto_increment_increment: u64,
    /// `auto_increment_offset`.
    pub auto_increment_offset: u64,
    /// `lock_wait_timeout`, s.
    pub lock_wait_timeout: u64,
    /// `long_query_time`, s.
    pub long_query_time: f64,
    /// `innodb_lock_wait_timeout`, s.
    pub innodb_lock_wait_timeout: u64,
    /// `innodb_snapshot_isolation`.
    pub innodb_snapshot_isolation: bool,
    /// `wait_timeout`, s.
    pub wait_timeout: u64,
    /// `net_read_timeout`, s.
    pub net_read_timeout: u64,
    /// `net_write_timeout`, s.
    pub net_write_timeout: u64,
    /// `sort_buffer_size`, bytes.
    pub sort_buffer_size: u64,
    /// `tmp_table_size`, bytes.
    pub tmp_table_size: u64,
}

impl HotVariables {
    /// Values before the defaults have been applied.
    pub(super) fn empty() -> Self {
        HotVariables {
            autocommit: true,
            status: ServerStatus::AUTOCOMMIT,
            sql_mode: SqlModes::default(),
            lex_mode: LexMode::NONE,
            charset_client: Charset::Utf8mb4,
            results: ResultCharset::UTF8MB4,
            collation_connection: CollationId::UTF8MB4_0900_AI_CI,
            charset_connection: Charset::Utf8mb4,
            time_zone: TimeZone::utc(),
            lc_time_names: Locale::english(),
            isolation: Isolation::RepeatableRead,
            transaction_read_only: false,
            foreign_key_checks: true,
            unique_checks: true,
            sql_auto_is_null: false,
            completion: Completion::default(),
            sql_require_primary_key: false,
            sql_safe_updates: false,
            sql_select_limit: u64::MAX,
            sql_notes: true,
            max_error_count: 0,
            max_execution_time: 0,
            max_allowed_packet: 0,
            group_concat_max_len: 0,
            div_precision_increment: 0,
            range_optimizer_max_mem_size: 0,
            eq_range_index_dive_limit: 0,
            default_week_format: 0,
            auto_increment_increment: 1,
            auto_increment_offset: 1,
            lock_wait_timeout: 0,
            long_query_time: 0.0,
            innodb_lock_wait_timeout: 0,
            innodb_snapshot_isolation: false,
            wait_timeout: 0,
            net_read_timeout: 0,
            net_write_timeout: 0,
            sort_buffer_size: 0,
            tmp_table_size: 0,
        }
    }

    /// Where rows are locked that are only read. A transaction with a level of its own is planned like the
    /// others of its session.
    pub(crate) fn reads_lock(&self) -> ReadsLock {
        match self.isolation {
            Isolation::ReadUncommitted | Isolation::ReadCommitted => ReadsLock::Never,
            Isolation::RepeatableRead => ReadsLock::InChanges,
            Isolation::Serializable => ReadsLock::Always,
        }
    }

    /// Takes over the new value of variable `name`, if it is among these.
    pub(super) fn apply(&mut self, name: &str, value: &VarValue) {
        match name {
            "autocommit" => {
                self.autocommit = value.as_bool();
                self.status = self.status.with(ServerStatus::AUTOCOMMIT, self.autocommit);
            }
            "sql_mode" => {
                self.sql_mode = SqlModes::parse(value.as_text()).unwrap_or_default();
                self.lex_mode = lex_mode(self.sql_mode, self.charset_client);
                let no_escapes = self.sql_mode.has(SqlModes::NO_BACKSLASH_ESCAPES);
                self.status = self.status.with(ServerStatus::NO_BACKSLASH_ESCAPES, no_escapes);
            }
            "character_set_client" => {
                self.charset_client = charset(value).unwrap_or(Charset::Utf8mb4);
                self.lex_mode = lex_mode(self.sql_mode, self.charset_client);
            }
            "character_set_results" => self.results = result_charset(charset(value)),
            "collation_connection" => {
                let found = Collation::find(value.as_text());
                self.collation_connection = found.map_or(CollationId::UTF8MB4_0900_AI_CI, |found| found.id);
                self.charset_connection = found.map_or(Charset::Utf8mb4, |found| found.charset);
            }
            "time_zone" => {
                self.time_zone = parse_time_zone(value.as_text()).unwrap_or_else(TimeZone::system);
            }
            "lc_time_names" => {
                self.lc_time_names = Locale::find(value.as_text()).unwrap_or_else(Locale::english);
            }
            "transaction_isolation" => self.isolation = isolation(value.as_text()),
            "transaction_read_only" => self.transaction_read_only = value.as_bool(),
            "innodb_snapshot_isolation" => self.innodb_snapshot_isolation = value.as_bool(),
            "foreign_key_checks" => self.foreign_key_checks = value.as_bool(),
            "unique_checks" => self.unique_checks = value.as_bool(),
            "sql_auto_is_null" => self.sql_auto_is_null = value.as_bool(),
            "completion_type" => self.completion = completion(value.as_text()),
            "sql_require_primary_key" => self.sql_require_primary_key = value.as_bool(),
            "sql_safe_updates" => self.sql_safe_updates = value.as_bool(),
            "long_query_time" => self.long_query_time = value.as_f64(),
            "sql_notes" => self.sql_notes = value.as_bool(),
            _ => self.apply_number(name, value.as_u64()),
        }
    }

    fn apply_number(&mut self, name: &str, value: u64) {
        let place = match name {
            "sql_select_limit" => &mut self.sql_select_limit,
            "max_error_count" => &mut self.max_error_count,
            "max_execution_time" => &mut self.max_execution_time,
            "max_allowed_packet" => &mut self.max_allowed_packet,
            "group_concat_max_len" => &mut self.group_concat_max_len,
            "div_precision_increment" => &mut self.div_precision_increment,
            "range_optimizer_max_mem_size" => &mut self.range_optimizer_max_mem_size,
            "eq_range_index_dive_limit" => &mut self.eq_range_index_dive_limit,
            "default_week_format" => &mut self.default_week_format,
            "auto_increment_increment" => &mut self.auto_increment_increment,
            "auto_increment_offset" => &mut self.auto_increment_offset,
            "lock_wait_timeout" => &mut self.lock_wait_timeout,
            "innodb_lock_wait_timeout" => &mut self.innodb_lock_wait_timeout,
            "wait_timeout" => &mut self.wait_timeout,
            "net_read_timeout" => &mut self.net_read_timeout,
            "net_write_timeout" => &mut self.net_write_timeout,
            "sort_buffer_size" => &mut self.sort_buffer_size,
            "tmp_table_size" => &mut self.tmp_table_size,
            _ => return,
        };
        *place = value;
    }
}

/// The zone that SET time_zone takes by this name.
pub(super) fn parse_time_zone(name: &str) -> Option<TimeZone> {
    TimeZone::from_name(name)
}

/// What of `sql_mode` and the client's character set the lexer obeys.
fn lex_mode(mode: SqlModes, client: Charset) -> LexMode {
    let pairs = [
        (SqlModes::ANSI_QUOTES, LexMode::ANSI_QUOTES),
        (SqlModes::NO_BACKSLASH_ESCAPES, LexMode::NO_BACKSLASH_ESCAPES),
        (SqlModes::PIPES_AS_CONCAT, LexMode::PIPES_AS_CONCAT),
        (SqlModes::HIGH_NOT_PRECEDENCE, LexMode::HIGH_NOT_PRECEDENCE),
        (SqlModes::IGNORE_SPACE, LexMode::IGNORE_SPACE),
        (SqlModes::REAL_AS_FLOAT, LexMode::REAL_AS_FLOAT),
    ];
    let charset = if client == Charset::Latin1 { LexMode::LATIN1 } else { LexMode::NONE };
    pairs.into_iter().filter(|&(flag, _)| mode.has(flag)).fold(charset, |all, (_, bit)| all.with(bit))
}

/// Without a character set, text is sent as it is stored.
fn result_charset(charset: Option<Charset>) -> ResultCharset {
    match charset {
        Some(charset) => ResultCharset {
            collation: Some(charset.default_collation().0),
            max_bytes: charset.max_char_bytes() as u8,
        },
        None => ResultCharset { collation: None, max_bytes: 4 },
    }
}

fn charset(value: &VarValue) -> Option<Charset> {
    Charset::find(value.as_text())
}

fn completion(name: &str) -> Completion {
    Completion { chain: Some(name == "CHAIN"), release: Some(name == "RELEASE") }
}

fn isolation(name: &str) -> Isolation {
    match name {
        "READ-UNCOMMITTED" => Isolation::ReadUncommitted,
        "READ-COMMITTED" => Isolation::ReadCommitted,
        "SERIALIZABLE" => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    }
}
