//! What the serving thread allocates and copies.

#![allow(unsafe_code, reason = "a global allocator, and functions of a preloaded library")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator; counts the calls of the serving thread.
pub(crate) struct CountingAllocator;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static IS_SERVING: Cell<bool> = const { Cell::new(false) };
}

fn count() {
    if IS_SERVING.get() {
        // One thread writes, so load and store lose nothing.
        ALLOCATIONS.store(ALLOCATIONS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's layout.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's block and layout.
        unsafe { System.realloc(block, layout, bytes) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's block and layout.
        unsafe { System.dealloc(block, layout) }
    }
}

/// From now on the calling thread is the one that is counted.
pub(crate) fn count_this_thread() {
    IS_SERVING.set(true);
    if let Some(start) = preloaded(c"ledger_count_this_thread") {
        // SAFETY: the library's function takes and returns nothing.
        let start: extern "C" fn() = unsafe { std::mem::transmute(start) };
        start();
    }
}

/// Allocations and reallocations by the serving thread so far.
pub(crate) fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// Bytes that the serving thread has copied so far; `None` without the preloaded library.
pub(crate) fn copied_bytes() -> Option<u64> {
    let read = preloaded(c"ledger_copied_bytes")?;
    // SAFETY: the library's function takes nothing and returns a number.
    let read: extern "C" fn() -> u64 = unsafe { std::mem::transmute(read) };
    Some(read())
}

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
}

/// A function of the library that counts copies, if it was preloaded.
fn preloaded(symbol: &CStr) -> Option<*mut c_void> {
    // SAFETY: the null handle stands for the default search order; the name ends with a zero byte.
    let found = unsafe { dlsym(std::ptr::null_mut(), symbol.as_ptr()) };
    (!found.is_null()).then_some(found)
}
