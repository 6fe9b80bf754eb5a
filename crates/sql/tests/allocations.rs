//! The text path of short statements takes nothing from the heap once its buffers have grown.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bumpalo::Bump;
use sql::{CacheKey, LexMode, parse, parse_numbered};

thread_local! {
    /// Allocations of this thread.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting.
struct Counting;

// SAFETY: every call is passed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promises are the callee's demands.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations that `work` makes.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

const STATEMENTS: [&str; 6] = [
    "SELECT c FROM sbtest1 WHERE id=12345",
    "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 12345 AND 12444 ORDER BY c",
    "UPDATE sbtest1 SET k=k+1 WHERE id=12345",
    "DELETE FROM `sbtest1` WHERE `id` = 12345",
    "INSERT INTO sbtest1 (id, k, c, pad) VALUES (1, 2, 'abc', 'def'), (3, 4, 'ghi', 'jkl')",
    "SELECT a.x, b.y FROM a JOIN b ON a.id = b.id WHERE a.s = 'open' AND b.r IN (1, 2) LIMIT 20",
];

#[test]
fn short_statements_leave_the_heap_alone() {
    let mut arena = Bump::with_capacity(16 * 1024);
    let mut key = CacheKey::new();
    for text in STATEMENTS {
        assert!(key.read(text.as_bytes(), 0, LexMode::NONE), "{text}");
    }
    for text in STATEMENTS {
        let sql = text.as_bytes();
        assert_eq!(allocations(|| assert!(key.read(sql, 0, LexMode::NONE))), 0, "{text}");
        arena.reset();
        assert_eq!(allocations(|| assert!(parse(sql, 0, LexMode::NONE, &arena).is_ok())), 0, "{text}");
        arena.reset();
        let numbered = allocations(|| {
            let parsed = parse_numbered(sql, 0, LexMode::NONE, &arena, key.literals(), usize::MAX);
            assert!(parsed.is_ok_and(|parsed| parsed.numbered));
        });
        assert_eq!(numbered, 0, "{text}");
    }
}
