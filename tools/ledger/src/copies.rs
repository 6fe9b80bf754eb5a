//! `memcpy` and `memmove` that count, for `LD_PRELOAD` under the ledger's driver.
//!
//! Counted are the bytes of calls that a dynamic symbol carries out, made by the one thread that asked for
//! it: copies that the compiler expands in place (short ones of constant length) and those inside libc itself
//! are not. Instructions are counted in another pass, without this library.

#![allow(unsafe_code, reason = "this is libc's memcpy")]

use std::arch::asm;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Thread pointer of the thread that is counted; 0: none.
static COUNTED_THREAD: AtomicUsize = AtomicUsize::new(0);
static COPIED_BYTES: AtomicU64 = AtomicU64::new(0);

/// From now on the calling thread is the one that is counted.
#[unsafe(no_mangle)]
pub extern "C" fn ledger_count_this_thread() {
    COUNTED_THREAD.store(thread_pointer(), Ordering::Relaxed);
}

/// Bytes copied so far by the thread that is counted.
#[unsafe(no_mangle)]
pub extern "C" fn ledger_copied_bytes() -> u64 {
    COPIED_BYTES.load(Ordering::Relaxed)
}

/// libc's `memcpy`.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcpy(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void {
    count(n);
    // SAFETY: the caller promises two readable and writable ranges that do not overlap.
    unsafe { copy_up(to, from, n) };
    to
}

/// libc's `memmove`.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memmove(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void {
    count(n);
    let distance = (to as usize).wrapping_sub(from as usize);
    if distance >= n {
        // SAFETY: as the caller promises; going up never overwrites a byte that is still to be read.
        unsafe { copy_up(to, from, n) };
    } else {
        // SAFETY: as the caller promises; the target begins inside the source, so the last bytes go first.
        unsafe { copy_down(to, from, n) };
    }
    to
}

#[inline]
fn count(n: usize) {
    if thread_pointer() == COUNTED_THREAD.load(Ordering::Relaxed) {
        // One thread writes, so load and store lose nothing.
        COPIED_BYTES.store(COPIED_BYTES.load(Ordering::Relaxed) + n as u64, Ordering::Relaxed);
    }
}

/// What distinguishes threads without memory of their own, which may not exist yet when `memcpy` is called.
#[inline]
fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: on x86-64 Linux, fs:0 holds the thread pointer itself from the thread's first instruction on.
    unsafe { asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly)) };
    pointer
}

/// The string instruction, because a loop would be compiled into a call of `memcpy`.
#[inline]
unsafe fn copy_up(to: *mut c_void, from: *const c_void, n: usize) {
    // SAFETY: the caller's ranges; the direction flag is clear by convention.
    unsafe {
        asm!("rep movsb", inout("rcx") n => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
}

#[inline]
unsafe fn copy_down(to: *mut c_void, from: *const c_void, n: usize) {
    if n == 0 {
        return;
    }
    let (last_to, last_from) = (to.wrapping_byte_add(n - 1), from.wrapping_byte_add(n - 1));
    // SAFETY: the caller's ranges, from their last byte down; the direction flag is cleared again.
    unsafe {
        asm!("std", "rep movsb", "cld", inout("rcx") n => _, inout("rdi") last_to => _, inout("rsi") last_from => _,
            options(nostack));
    }
}
