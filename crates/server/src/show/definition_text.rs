//! Definitions as SQL: SHOW CREATE TABLE, SHOW CREATE DATABASE.

use std::fmt::Write as _;

use types::collation::{Charset, Collation, convert};
use types::{
    CollationId, ColumnDef, ColumnDefault, IndexDef, IndexKind, SqlType, StorageHint, TableDef, TextEncoder,
    TimeZone, TypeKind, storage,
};

/// CREATE TABLE of `def`; `next_auto_increment` is shown if it is not 1, TIMESTAMP defaults in `zone`.
pub(super) fn create_table(def: &TableDef, next_auto_increment: Option<u64>, zone: &TimeZone) -> String {
    let mut lines: Vec<String> = def.columns.iter().map(|column| column_line(def, column, zone)).collect();
    lines.extend(declared_indexes(def).map(|index| index_line(def, index)));
    let mut text =
        format!("CREATE TABLE {} (\n  {}\n) ENGINE=InnoDB", quoted(&def.name), lines.join(",\n  "));
    if let Some(next) = next_auto_increment.filter(|&next| next > 1) {
        push(&mut text, format_args!(" AUTO_INCREMENT={next}"));
    }
    if let Some(collation) = def.collation.collation() {
        push(&mut text, format_args!(" DEFAULT CHARSET={}", collation.charset.name()));
        if names_collation(collation) {
            push(&mut text, format_args!(" COLLATE={}", collation.name));
        }
    }
    for &(hint, value) in &def.hints {
        push(&mut text, format_args!(" {}={}", hint.name(), hint_value(hint, value, '\'')));
    }
    push_comment(&mut text, " COMMENT=", &def.comment);
    text
}

/// The options of `def` as SHOW TABLE STATUS lists them.
pub(super) fn create_options(def: &TableDef) -> String {
    use StorageHint as H;
    const ORDER: [StorageHint; 12] = [
        H::MaxRows,
        H::MinRows,
        H::AvgRowLength,
        H::RowFormat,
        H::KeyBlockSize,
        H::StatsSamplePages,
        H::Compression,
        H::StatsAutoRecalc,
        H::StatsPersistent,
        H::PackKeys,
        H::Checksum,
        H::DelayKeyWrite,
    ];
    let given = ORDER.into_iter().filter_map(|hint| def.hints.iter().find(|(known, _)| *known == hint));
    let shown = given.map(|&(hint, value)| {
        let is_loud = matches!(hint, H::KeyBlockSize | H::Compression);
        let name = if is_loud { hint.name().to_owned() } else { hint.name().to_lowercase() };
        format!("{name}={}", hint_value(hint, value, '"'))
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// The row format of `def` as SHOW TABLE STATUS names it.
pub(super) fn row_format(def: &TableDef) -> &'static str {
    let value =
        |wanted: StorageHint| def.hints.iter().find(|(hint, _)| *hint == wanted).map(|(_, value)| *value);
    match value(StorageHint::RowFormat).and_then(|value| StorageHint::RowFormat.word(value)) {
        Some("COMPACT") => "Compact",
        Some("REDUNDANT") => "Redundant",
        _ if value(StorageHint::KeyBlockSize).is_some() => "Compressed",
        _ => "Dynamic",
    }
}

fn hint_value(hint: StorageHint, value: u64, quote: char) -> String {
    match hint.word(value) {
        Some(word) if hint == StorageHint::Compression => format!("{quote}{word}{quote}"),
        Some(word) => word.to_owned(),
        None => value.to_string(),
    }
}

/// CREATE DATABASE of the database `name`.
pub(super) fn create_database(name: &str, collation: CollationId, if_not_exists: bool) -> String {
    let guard = if if_not_exists { "/*!32312 IF NOT EXISTS*/ " } else { "" };
    let mut text = format!("CREATE DATABASE {guard}{}", quoted(name));
    if let Some(collation) = collation.collation() {
        push(&mut text, format_args!(" /*!40100 DEFAULT CHARACTER SET {}", collation.charset.name()));
        if names_collation(collation) {
            push(&mut text, format_args!(" COLLATE {}", collation.name));
        }
        text.push_str(" */");
    }
    text.push_str(" /*!80016 DEFAULT ENCRYPTION='N' */");
    text
}

/// The indexes that were declared, in MySQL's order, which the last change of the definition has given them.
pub(crate) fn declared_indexes(def: &TableDef) -> impl Iterator<Item = &IndexDef> {
    def.indexes.iter().filter(|index| !index.parts.is_empty())
}

/// A column's constant default as text; `None` if it has another or none. BIT and bytes come as literals.
pub(super) fn default_text(column: &ColumnDef, zone: &TimeZone) -> Option<String> {
    let ColumnDefault::Constant(bytes) = &column.default else {
        return None;
    };
    Some(match column.ty.kind {
        TypeKind::Bit => bit_literal(bytes),
        TypeKind::Binary | TypeKind::VarBinary => {
            let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            hex_literal(&bytes[..end])
        }
        _ => constant_text(&column.ty, bytes, zone),
    })
}

/// CURRENT_TIMESTAMP with the digits of `ty`.
pub(super) fn current_timestamp(ty: &SqlType) -> String {
    match ty.decimals {
        0 => "CURRENT_TIMESTAMP".to_owned(),
        digits => format!("CURRENT_TIMESTAMP({digits})"),
    }
}

/// Whether MySQL names this collation where its character set is named: it is not the default one, or the
/// default of utf8mb4, which was another before MySQL 8.
fn names_collation(collation: &Collation) -> bool {
    !collation.is_default || collation.charset == Charset::Utf8mb4
}

fn column_line(table: &TableDef, column: &ColumnDef, zone: &TimeZone) -> String {
    let mut line = format!("{} {}", quoted(&column.name), column.ty);
    push_collation(&mut line, column, table.collation);
    if !column.nullable {
        line.push_str(" NOT NULL");
    } else if column.ty.kind == TypeKind::Timestamp {
        line.push_str(" NULL");
    }
    push_default(&mut line, column, zone);
    if column.on_update_now {
        push(&mut line, format_args!(" ON UPDATE {}", current_timestamp(&column.ty)));
    }
    if column.auto_increment {
        line.push_str(" AUTO_INCREMENT");
    }
    if column.invisible {
        line.push_str(" /*!80023 INVISIBLE */");
    }
    push_comment(&mut line, " COMMENT ", &column.comment);
    line
}

fn push_collation(line: &mut String, column: &ColumnDef, of_table: CollationId) {
    let ty = &column.ty;
    let Some(collation) = ty.collation.collation().filter(|_| ty.has_charset()) else {
        return;
    };
    let is_said = column.names_collation || collation.id != of_table;
    if is_said {
        push(line, format_args!(" CHARACTER SET {}", collation.charset.name()));
    }
    // MySQL's default collation is not that of its older versions.
    let is_newer = collation.id == CollationId::UTF8MB4_0900_AI_CI && collation.id != of_table;
    if column.names_collation || !collation.is_default || is_newer {
        push(line, format_args!(" COLLATE {}", collation.name));
    }
}

fn push_default(line: &mut String, column: &ColumnDef, zone: &TimeZone) {
    let is_lob = matches!(column.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
    match &column.default {
        ColumnDefault::Now => push(line, format_args!(" DEFAULT {}", current_timestamp(&column.ty))),
        ColumnDefault::Expression(text) => push(line, format_args!(" DEFAULT ({text})")),
        ColumnDefault::Dropped => {}
        ColumnDefault::None | ColumnDefault::Null => {
            if column.nullable && !is_lob {
                line.push_str(" DEFAULT NULL");
            }
        }
        ColumnDefault::Constant(bytes) => {
            let is_bytes = matches!(column.ty.kind, TypeKind::Binary | TypeKind::VarBinary);
            let literal = match column.ty.kind {
                TypeKind::Bit => bit_literal(bytes),
                _ if is_bytes && std::str::from_utf8(bytes).is_err() => hex_literal(bytes),
                _ => string_literal(&constant_text(&column.ty, bytes, zone)),
            };
            push(line, format_args!(" DEFAULT {literal}"));
        }
    }
}

fn constant_text(ty: &SqlType, bytes: &[u8], zone: &TimeZone) -> String {
    let mut text = Vec::new();
    if ty.zerofill || matches!(ty.kind, TypeKind::Float | TypeKind::Double) {
        TextEncoder::new(ty).write(bytes, zone, &mut text);
    } else {
        storage::read(ty, bytes, zone).write_text(&mut text);
    }
    let is_text = ty.is_string() || ty.members.is_some();
    let mut utf8 = Vec::new();
    convert(if is_text { ty.charset() } else { Charset::Utf8mb4 }, Charset::Utf8mb4, &text, &mut utf8);
    String::from_utf8_lossy(&utf8).into_owned()
}

/// `b'101'`: the bits of a little-endian number without leading zeros.
fn bit_literal(bytes: &[u8]) -> String {
    let value = bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    format!("b'{value:b}'")
}

fn hex_literal(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02X}"))
}

fn index_line(table: &TableDef, index: &IndexDef) -> String {
    let mut line = match index.kind {
        IndexKind::Primary => "PRIMARY KEY".to_owned(),
        IndexKind::Unique => format!("UNIQUE KEY {}", quoted(&index.name)),
        IndexKind::Secondary => format!("KEY {}", quoted(&index.name)),
    };
    let parts = index.parts.iter().map(|part| {
        let name = quoted(&table.columns[usize::from(part.column)].name);
        let length = part.prefix_len.map_or_else(String::new, |length| format!("({length})"));
        format!("{name}{length}{}", if part.desc { " DESC" } else { "" })
    });
    push(&mut line, format_args!(" ({})", parts.collect::<Vec<_>>().join(",")));
    if index.names_btree {
        line.push_str(" USING BTREE");
    }
    push_comment(&mut line, " COMMENT ", &index.comment);
    if index.invisible {
        line.push_str(" /*!80000 INVISIBLE */");
    }
    line
}

fn push_comment(text: &mut String, word: &str, comment: &str) {
    if !comment.is_empty() {
        push(text, format_args!("{word}{}", string_literal(comment)));
    }
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
}

/// A name in backquotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn string_literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('\'');
    for c in text.chars() {
        match c {
            '\'' => literal.push_str("''"),
            '\\' => literal.push_str("\\\\"),
            '\0' => literal.push_str("\\0"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            c => literal.push(c),
        }
    }
    literal.push('\'');
    literal
}
