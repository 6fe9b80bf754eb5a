//! Undo in the log whose bytes were changed and whose frames were stamped again: a start rolls back what was
//! open, or refuses. It never panics, and what it opens can be read.

use std::sync::OnceLock;

use env::SimDisk;
use log::{Part, Parts};
use trx::{BeginOptions, ReadView};

use crate::Bytes;
use crate::log_bytes::{self, FramePlace};
use crate::mounted::Image;
use crate::rows;

/// Rows of the table.
const ROWS: i32 = 40;

/// A directory whose server lost its power while transactions were open, and where before images lie in its
/// log.
struct Interrupted {
    image: Image,
    images: Vec<(FramePlace, std::ops::Range<usize>)>,
}

fn interrupted() -> &'static Interrupted {
    static INTERRUPTED: OnceLock<Interrupted> = OnceLock::new();
    INTERRUPTED.get_or_init(|| {
        let mut image = make_image();
        let log = image.log_mut().expect("a log");
        let mut images = Vec::new();
        for frame in log_bytes::frames(log) {
            let payload = &log[frame.payload()];
            for part in Parts::of(payload) {
                if let Ok(Part::Undo { image, .. }) = part {
                    let from = image.as_ptr().addr() - log.as_ptr().addr();
                    images.push((frame, from..from + image.len()));
                }
            }
        }
        assert!(images.len() > 100, "{} before images", images.len());
        Interrupted { image, images }
    })
}

/// Rows that were inserted, changed and deleted, with values off page: by a transaction that has committed,
/// by one that was undone in part and is open, and by another that is open.
fn make_image() -> Image {
    let disk = SimDisk::new();
    let engine = rows::open(&disk).expect("a new data directory");
    let table = rows::make_table(&engine);
    let mut fill = engine.begin(BeginOptions::default());
    (0..ROWS).for_each(|id| rows::put(&engine, &table, &mut fill, id, 0, 6000 * usize::from(id % 4 == 0)));
    engine.commit(&mut fill).expect("a commit");
    let mut open = Vec::new();
    for part in 0..3 {
        let mut trx = engine.begin(BeginOptions::default());
        let mut mark = trx.mark();
        for id in (0..ROWS).filter(|id| id % 3 == part) {
            rows::put(&engine, &table, &mut trx, id, 1 + part, 9000 * usize::from(id % 5 == 0));
            if id % 7 == 0 {
                table.delete(&engine, &mut trx, &rows::key(id)).expect("a row to delete");
            }
            if id == ROWS / 2 {
                mark = trx.mark();
            }
        }
        rows::put(&engine, &table, &mut trx, ROWS + part, 0, 20);
        match part {
            0 => engine.commit(&mut trx).map(drop).expect("a commit"),
            1 => engine.rollback_statement(&mut trx, mark).expect("a rollback"),
            _ => {}
        }
        open.push(trx);
    }
    engine.store().log().flush().expect("a flush");
    let image = Image::of(&disk);
    open.iter_mut().rev().for_each(|trx| engine.rollback(trx).expect("a rollback"));
    image
}

/// Each four bytes change one of a before image: which, where in it, and how.
pub fn run(input: &[u8]) {
    let Interrupted { image, images } = interrupted();
    let mut image = image.clone();
    let log = image.log_mut().expect("a log");
    let mut input = Bytes::new(input);
    while !input.is_empty() {
        let (frame, place) = images[usize::from(input.u16()) % images.len()].clone();
        let (at, value) = (usize::from(input.u8()), input.u8());
        if let Some(byte) = log[place].get_mut(at) {
            *byte ^= value;
        }
        log_bytes::stamp(log, frame);
    }
    let Ok(engine) = rows::open(&image.disk()) else { return };
    let table = engine.table("f", "t").expect("the table");
    for position in 0..table.indexes.len() {
        // What cannot be read is an answer, too.
        let _ = rows::read_all(&engine, &table, position, ReadView::newest());
    }
}
