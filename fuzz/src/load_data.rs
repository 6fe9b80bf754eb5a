//! LOAD DATA LOCAL: any bytes as a file, under any FIELDS and LINES options.

use crate::Bytes;
use crate::client::Script;
use crate::mounted::with_tables;

/// Targets of the load.
const INTO: [&str; 6] = [
    "TABLE t",
    "TABLE u",
    "TABLE e",
    "TABLE w",
    "TABLE t (a, @x, c)",
    "TABLE w (a, vc, @skip, da, de, bl, en, st)",
];
/// What happens to duplicates.
const DUPLICATES: [&str; 3] = ["", "REPLACE ", "IGNORE "];
/// Character sets of the file.
const CHARSETS: [&str; 4] = ["", " CHARACTER SET latin1", " CHARACTER SET utf8mb4", " CHARACTER SET binary"];

/// Options first, each string ended by a NUL byte; the rest is the file, which the client sends in pieces.
pub fn run(input: &[u8]) {
    let mut input = Bytes::new(input);
    let (into, duplicates, charset) = (input.u8(), input.u8(), input.u8());
    let (clauses, ignored, piece) = (input.u8(), input.u8() % 4, usize::from(input.u8()) * 16 + 1);
    let mut sql = format!(
        "LOAD DATA LOCAL INFILE 'x' {}INTO {}{}",
        pick(&DUPLICATES, duplicates),
        first_word_pair(pick(&INTO, into)),
        pick(&CHARSETS, charset),
    )
    .into_bytes();
    let options = ["TERMINATED BY", "ENCLOSED BY", "ESCAPED BY", "STARTING BY", "TERMINATED BY"];
    for (bit, option) in options.iter().enumerate() {
        if clauses >> bit & 1 == 0 {
            continue;
        }
        // The first option of a clause follows its keyword.
        let keyword = match bit {
            0..=2 if clauses & ((1 << bit) - 1) == 0 => "FIELDS ",
            3 => "LINES ",
            4 if clauses & 8 == 0 => "LINES ",
            _ => "",
        };
        sql.extend_from_slice(format!(" {keyword}{option} x'").as_bytes());
        sql.extend(input.until(0).iter().take(8).flat_map(|byte| format!("{byte:02x}").into_bytes()));
        sql.push(b'\'');
    }
    if ignored != 0 {
        sql.extend_from_slice(format!(" IGNORE {ignored} LINES").as_bytes());
    }
    sql.extend_from_slice(columns(pick(&INTO, into)).as_bytes());
    let mut script = Script::logged_in();
    script.query(&sql);
    // The request for the file is packet 1 of the answer.
    let mut sequence = 2u8;
    while !input.is_empty() {
        script.packet(sequence, input.take(piece));
        sequence = sequence.wrapping_add(1);
    }
    script.packet(sequence, b"");
    script.query(b"SELECT * FROM t");
    with_tables(&script, false);
}

fn pick<'a>(list: &[&'a str], at: u8) -> &'a str {
    list[usize::from(at) % list.len()]
}

/// `TABLE name` without the list of columns.
fn first_word_pair(into: &str) -> &str {
    into.split(" (").next().unwrap_or(into)
}

/// The list of columns, with a blank before it.
fn columns(into: &str) -> &str {
    into.find(" (").map_or("", |at| &into[at..])
}
