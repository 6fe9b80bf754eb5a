//! Undo in files of its own: the spill file of a long transaction, and the file that undo is swapped to.
//! Bytes that were changed are found by a checksum; spilled parts whose checksum was stamped again are read
//! as those of the log are.

use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use base::codec::get_u64;
use base::{Lsn, TrxId, UndoPtr};
use engine::{Engine, Table};
use env::{Disk, OpenOptions, SimDisk};
use log::{FrameRange, Part, SpillFile, SpillReader};
use trx::{BeginOptions, ReadView, Trx, UndoKind, UndoRecord};

use crate::log_bytes::{FRAME_HEADER_BYTES, frame_sum};
use crate::{Bytes, rows};

/// The transaction whose undo is spilled, and its directory.
const TRX: TrxId = TrxId(300);
const IDENTITY: [u8; 16] = [7; 16];
/// Bytes of a spill file before its entries, and of an entry's position.
const HEAD_BYTES: usize = 32;
const LSN_BYTES: usize = 8;

/// The first byte selects the file. Each three that follow change one byte.
pub fn run(input: &[u8]) {
    let mut input = Bytes::new(input);
    match input.u8() % 3 {
        0 => read_spilled(input, false),
        1 => read_spilled(input, true),
        _ => read_swapped(input),
    }
}

/// A spill file of parts of every kind that it may have.
fn sound_file() -> &'static Vec<u8> {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let (disk, path) = (SimDisk::new(), Path::new("s"));
        let mut file = SpillFile::create(&disk, path, IDENTITY, TRX).expect("a new file");
        for n in 1..=20u64 {
            let mut parts = Vec::new();
            let image = image(n);
            Part::Undo { trx: TRX, undo: UndoPtr(n), previous: UndoPtr(n - 1), image: &image }
                .encode(&mut parts);
            match n % 5 {
                0 => Part::Compensation { trx: TRX, undone: UndoPtr(n), next: UndoPtr(n - 1) }
                    .encode(&mut parts),
                1 => Part::SavepointRollbackDone { trx: TRX, reached: UndoPtr(n - 1) }.encode(&mut parts),
                _ => {}
            }
            let start = Lsn(8192 + 100 * n);
            file.push(FrameRange { start, end: Lsn(start.0 + 60) }, &parts).expect("a write");
        }
        file.write().expect("a write");
        let file = disk.open(path, OpenOptions::default()).expect("the file");
        let mut bytes = vec![0; file.len().expect("its length") as usize];
        file.read_exact_at(&mut bytes, 0).expect("its bytes");
        bytes
    })
}

/// A before image of a kind that depends on `n`.
fn image(n: u64) -> Vec<u8> {
    let mut image = vec![1 + (n % 9) as u8, (n % 2) as u8, 0, 0, 64 + n as u8, 4];
    image.extend_from_slice(&(n as u32).to_be_bytes());
    image.extend_from_slice(&[n as u8; 40]);
    debug_assert!(UndoKind::of_image(&image).is_some(), "a kind");
    image
}

/// Reads the changed file: whole, or up to an error. Without a new checksum nothing changed is read.
fn read_spilled(mut input: Bytes<'_>, stamped: bool) {
    let mut bytes = sound_file().clone();
    while !input.is_empty() {
        let at = usize::from(input.u16()) % bytes.len();
        bytes[at] ^= input.u8();
    }
    let is_changed = bytes != *sound_file();
    if stamped {
        stamp(&mut bytes);
    }
    let disk = SimDisk::new();
    let path = Path::new("s");
    let file = disk.create(path, OpenOptions::default()).expect("a new file");
    file.write_at(&bytes, 0).expect("a write to memory");
    let read = read_file(&disk, path, bytes.len() as u64);
    assert!(stamped || read.is_ok() != is_changed, "changed bytes that count are found: {read:?}");
}

fn read_file(disk: &SimDisk, path: &Path, len: u64) -> log::Result<usize> {
    let mut reader = SpillReader::open(disk, path, IDENTITY, TRX, len)?;
    let (mut parts, mut record) = (0, UndoRecord::default());
    while reader.next_entry(|_, part| {
        parts += 1;
        if let Part::Undo { image, .. } = part
            && record.decode_image(image)
        {
            record.is_complete();
        }
        Ok::<(), log::Error>(())
    })? {}
    Ok(parts)
}

/// Stamps the entries' checksums again, as far as their lengths go.
fn stamp(bytes: &mut [u8]) {
    let mut from = HEAD_BYTES;
    while let Some(head) = bytes.get(from..from + LSN_BYTES + FRAME_HEADER_BYTES) {
        let (lsn, len) = (get_u64(head, 0), base::codec::get_u32(head, LSN_BYTES) as usize);
        let payload = from + LSN_BYTES + FRAME_HEADER_BYTES;
        let Some(sum) = bytes.get(payload..payload.saturating_add(len)).map(|bytes| frame_sum(lsn, bytes))
        else {
            return;
        };
        bytes[payload - 4..payload].copy_from_slice(&sum.to_le_bytes());
        from = payload + len;
    }
}

/// A server whose undo lies in the swap file for the most part, and a view that needs it.
struct Swapped {
    engine: std::sync::Arc<Engine>,
    table: std::sync::Arc<Table>,
    disk: SimDisk,
    view: ReadView,
    expected: (usize, u64),
    _reader: Trx,
}

impl Swapped {
    fn make() -> Swapped {
        const ROWS: i32 = 30;
        let disk = SimDisk::new();
        let engine = rows::open(&disk).expect("a new data directory");
        engine.set_undo_memory(128 << 10);
        let table = rows::make_table(&engine);
        let mut trx = engine.begin(BeginOptions::default());
        (0..ROWS).for_each(|id| rows::put(&engine, &table, &mut trx, id, 0, 2000));
        engine.commit(&mut trx).expect("a commit");
        let mut reader = engine.begin(BeginOptions::default());
        let view = reader.view();
        let expected = rows::read_all(&engine, &table, 0, view).expect("all rows");
        // More chunks than are cached once they were read back.
        for version in 1..=60 {
            trx.restart(BeginOptions::default());
            (0..ROWS).for_each(|id| rows::put(&engine, &table, &mut trx, id, version, 2000));
            engine.commit(&mut trx).expect("a commit");
            engine.checkpoint().expect("a checkpoint");
        }
        let swapped = engine.trx_system().undo().memory_and_swapped().1;
        assert!(swapped > 3 << 20, "{swapped} bytes are swapped");
        drop(trx);
        Swapped { engine, table, disk, view, expected, _reader: reader }
    }
}

/// Reads by the view with changed bytes in the swap file: the rows that it saw before, or an error.
fn read_swapped(mut input: Bytes<'_>) {
    static SWAPPED: Mutex<Option<Swapped>> = Mutex::new(None);
    let mut swapped = SWAPPED.lock().unwrap_or_else(PoisonError::into_inner);
    let Swapped { engine, table, disk, view, expected, .. } = swapped.get_or_insert_with(Swapped::make);
    let file = disk.open(&rows::path("undo/swap.undo"), OpenOptions::default()).expect("the swap file");
    let len = file.len().expect("its length") as usize;
    let mut sound = vec![0; len];
    file.read_exact_at(&mut sound, 0).expect("its bytes");
    let mut bytes = sound.clone();
    while !input.is_empty() {
        // Everywhere in the file, in steps that meet words of every kind.
        let at = usize::from(input.u16()) * 97 % len;
        bytes[at] ^= input.u8();
    }
    file.write_at(&bytes, 0).expect("a write to memory");
    let read = rows::read_all(engine, table, 0, *view);
    file.write_at(&sound, 0).expect("a write to memory");
    assert!(
        read.as_ref().is_ok_and(|found| found == expected) || read.is_err(),
        "rows of another version: {read:?}"
    );
}
