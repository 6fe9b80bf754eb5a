//! A data directory whose bytes were changed, on request with the checksums of its pages, or of frames of its
//! log, stamped again. It opens, or is refused, or loses a table. It never panics, and where only tree pages
//! changed, without a new checksum, it never answers with a row that was not stored.

use std::sync::OnceLock;

use base::checksum::crc32;
use env::SimDisk;
use page::{PAGE_SIZE, PageBytes, PageRef, PageType, stamp_checksum};

use crate::Bytes;
use crate::client::{Answer, Script};
use crate::log_bytes;
use crate::mounted::{Image, Mounted};

/// Makes the tables. Each row stores the sum of its other columns, so that a damaged row can be recognised.
const TABLES: [&str; 2] = [
    "CREATE DATABASE f",
    "CREATE TABLE f.r (id INT PRIMARY KEY, k INT, s VARCHAR(60), big TEXT, total BIGINT, KEY k (k), KEY s (s))",
];
/// What happens to the rows of [`rows`].
const CHANGES: [&str; 9] = [
    "UPDATE f.r SET big = REPEAT('off the page ', 2000) WHERE id IN (5, 300)",
    "UPDATE f.r SET total = id * 1000003 + k * 31 + CRC32(s)",
    "DELETE FROM f.r WHERE id % 11 = 0",
    "CREATE TABLE f.small (id VARCHAR(9) PRIMARY KEY, v DECIMAL(9,2))",
    "INSERT INTO f.small VALUES ('one', 1.5), ('two', NULL)",
    "CREATE TABLE f.types (a INT, vc VARCHAR(30) COLLATE utf8mb4_bin, da DATE, dt DATETIME(3), ti TIME(6), ts TIMESTAMP(6) NULL, \
     de DECIMAL(30,10), d9 DECIMAL(9,2), bi BIT(13), y YEAR, en ENUM('x','y','z') NOT NULL, st SET('p','q','r'), f FLOAT, \
     ch CHAR(20) CHARACTER SET latin1, vb VARBINARY(30), tx TEXT, PRIMARY KEY (vc, a DESC), KEY da (da, de), KEY en (en, dt), \
     KEY tx (tx(9)), KEY y (y DESC, st))",
    "INSERT INTO f.types SELECT id, CONCAT('k', id MOD 9), '2024-02-29' + INTERVAL id DAY, '2001-01-01 23:59:59.999', \
     SEC_TO_TIME(id * 1000), '2030-12-31 00:00:01.5', id * 1e9, id, id, 1970 + id MOD 99, 1 + id MOD 3, id MOD 8, id / 3, \
     REPEAT('ä', id MOD 20), REPEAT('v', id MOD 30), REPEAT('tex', id MOD 50) FROM f.r WHERE id <= 150",
    "UPDATE f.types SET da = NULL, de = NULL, tx = NULL WHERE a MOD 7 = 0",
    "DELETE FROM f.types WHERE a MOD 13 = 0",
];

/// Read each table by each index, and check it. The first four show rows that were not stored. Nothing is
/// changed.
const READS: [&str; 13] = [
    "SELECT id FROM f.r WHERE total <> id * 1000003 + k * 31 + CRC32(s)",
    "SELECT id FROM f.r FORCE INDEX (k) WHERE k >= 0 AND total <> id * 1000003 + k * 31 + CRC32(s)",
    "SELECT id FROM f.r WHERE id BETWEEN 3 AND 9 AND total <> id * 1000003 + k * 31 + CRC32(s)",
    "SELECT id FROM f.r WHERE id = 5 AND total <> id * 1000003 + k * 31 + CRC32(s)",
    "SELECT s FROM f.r FORCE INDEX (s) WHERE s LIKE 'text 1%' ORDER BY s DESC",
    "SELECT LENGTH(big), k FROM f.r WHERE id IN (5, 300)",
    "SELECT * FROM f.small; SHOW CREATE TABLE f.r",
    "SELECT * FROM f.types",
    "SELECT MAX(da), SUM(de), MIN(ti), COUNT(DISTINCT st) FROM f.types FORCE INDEX (da) WHERE da > '2024-03-01'",
    "SELECT en + 0, en, dt + INTERVAL 1 DAY FROM f.types FORCE INDEX (en) WHERE en >= 'y' ORDER BY en DESC, dt DESC",
    "SELECT UPPER(tx), ch LIKE '%ä', y, st FROM f.types FORCE INDEX (y) WHERE y < 2040 GROUP BY tx, ch, y, st ORDER BY tx, ti",
    "SELECT t.vc, r.s FROM f.types t JOIN f.r r ON r.id = t.a WHERE t.vc IN ('k1', 'k5') ORDER BY t.vc DESC, t.a",
    "CHECK TABLE f.r, f.small, f.types",
];
/// Reads whose rows are wrong rows.
const ORACLES: usize = 4;

/// What a closed directory holds, and what one holds whose server lost its power.
fn images() -> &'static [Image; 2] {
    static IMAGES: OnceLock<[Image; 2]> = OnceLock::new();
    IMAGES.get_or_init(|| {
        let disk = SimDisk::new();
        let mounted = Mounted::open(disk.clone()).expect("a new data directory");
        let statements = TABLES.map(str::to_owned).into_iter().chain([rows()]);
        for statement in statements.chain(CHANGES.map(str::to_owned)) {
            let answer = mounted.prepare(&statement);
            assert!(!answer.has_error(), "{statement} fails");
        }
        let lost = Image::of(&disk);
        mounted.close().expect("a clean end");
        [Image::of(&disk), lost]
    })
}

/// Enough rows for a few leaves in each index.
fn rows() -> String {
    let rows = (1..=700).map(|id: usize| {
        let text = "x".repeat(id % 40);
        format!("({id}, {}, 'text {id}{text}', NULL, 0)", id % 50)
    });
    format!("INSERT INTO f.r VALUES {}", rows.collect::<Vec<_>>().join(", "))
}

fn ask(mounted: &Mounted, statement: &str) -> Answer {
    let mut script = Script::logged_in_without_database();
    script.query(statement.as_bytes());
    mounted.converse(&script)
}

/// The first byte selects the directory; each four that follow change one byte.
pub fn run(input: &[u8]) {
    let mut input = Bytes::new(input);
    let image = &images()[usize::from(input.u8() & 1)];
    let mut image = image.clone();
    let mut rows_are_right = true;
    while !input.is_empty() {
        rows_are_right &= change(&mut image, input.array());
    }
    let Ok(mounted) = Mounted::open(image.disk()) else { return };
    for (number, statement) in READS.iter().enumerate() {
        let answer = ask(&mounted, statement);
        let wrong = number < ORACLES && !answer.has_error() && answer.row_count() > 0;
        assert!(!(wrong && rows_are_right), "a row that was not stored: {statement}");
    }
    // What cannot be written is an answer, too.
    let _ = mounted.close();
}

/// Selectors from here on change frames of the log, and those below other files as they are.
const FRAMES: u8 = 0xf0;
const FILES: u8 = 0xe0;

/// Changes one byte, and perhaps stamps its page or frame; whether rows must be right.
fn change(image: &mut Image, [selector, page, at, value]: [u8; 4]) -> bool {
    if selector >= FRAMES {
        if let Some(log) = image.log_mut() {
            change_frame(log, u16::from_be_bytes([selector & 0xf, page]), at, value);
        }
        return false;
    }
    if selector >= FILES {
        let files = image.files.len();
        let (path, bytes) = &mut image.files[usize::from(page) % files];
        if path.parent().is_some_and(|folder| folder.ends_with("doublewrite")) {
            change_copy(bytes, selector & 0xf, at, value);
        } else {
            let place = (usize::from(at) | usize::from(selector & 0xf) << 8) % bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= value;
            }
        }
        return false;
    }
    let Some(data) = image.file_mut("data.pages") else { return false };
    let pages = data.len() / PAGE_SIZE;
    let used: Vec<usize> =
        (0..pages).filter(|&n| data[n * PAGE_SIZE..][..PAGE_SIZE] != [0; PAGE_SIZE]).collect();
    let number = used[usize::from(page) % used.len()];
    let bytes: &mut PageBytes = data[number * PAGE_SIZE..].first_chunk_mut().expect("a whole page");
    // What a tree page holds is known to its table alone: one that was changed and stamped may hold other
    // rows.
    let keeps_checksum = selector & 0x40 == 0 && PageRef::new(bytes).page_type() == PageType::BTree;
    bytes[(usize::from(selector & 0x3f) << 8 | usize::from(at)) % PAGE_SIZE] ^= value;
    if !keeps_checksum {
        stamp_checksum(bytes);
    }
    keeps_checksum
}

/// Changes a byte of the payload of frame number `frame` of a log file, and stamps the frame.
fn change_frame(log: &mut [u8], frame: u16, at: u8, value: u8) {
    let frames = log_bytes::frames(log);
    let Some(&frame) = frames.get(usize::from(frame) % frames.len().max(1)) else { return };
    log[frame.payload()][usize::from(at) % frame.len] ^= value;
    log_bytes::stamp(log, frame);
}

/// Bytes of a doublewrite file before its pages, and where among them the pages are listed:
/// docs/file_format.md, section 6.
const DIRECTORY_BYTES: usize = 4096;
const LISTED_PAGES: usize = 32;
/// Bytes between two places of a page that can be changed.
const STEP: usize = 61;

/// Changes a byte of a doublewrite file: of its list of pages, or of a page, whose checksum is stamped and
/// listed again; then the list's checksum.
fn change_copy(bytes: &mut [u8], place: u8, at: u8, value: u8) {
    if bytes.len() < DIRECTORY_BYTES {
        return;
    }
    let (directory, pages) = bytes.split_at_mut(DIRECTORY_BYTES);
    let number = usize::from(place & 7);
    if place & 8 == 0 {
        directory[number << 8 | usize::from(at)] ^= value;
    } else if let Some(page) = pages.as_chunks_mut::<PAGE_SIZE>().0.get_mut(number) {
        page[usize::from(at) * STEP] ^= value;
        stamp_checksum(page);
        let listed = LISTED_PAGES + 8 * number + 4;
        directory[listed..listed + 4].copy_from_slice(&page[..4]);
    }
    let sum = crc32(&directory[4..]);
    directory[..4].copy_from_slice(&sum.to_le_bytes());
}
