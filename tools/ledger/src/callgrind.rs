//! Requests to callgrind, when the process runs under it; natively they do nothing.

#![allow(unsafe_code, reason = "Valgrind's client requests are instruction sequences")]

use std::ffi::CString;
use std::ptr;

/// Callgrind's requests are numbered from the letters C and T on.
const TOOL_BASE: usize = (b'C' as usize) << 24 | (b'T' as usize) << 16;
const ZERO_STATS: usize = TOOL_BASE + 1;
const TOGGLE_COLLECT: usize = TOOL_BASE + 2;
const DUMP_STATS_AT: usize = TOOL_BASE + 3;
const START_INSTRUMENTATION: usize = TOOL_BASE + 4;
const RUNNING_ON_VALGRIND: usize = 0x1001;

/// Whether the process runs under Valgrind.
pub(crate) fn is_running() -> bool {
    request(RUNNING_ON_VALGRIND, ptr::null()) != 0
}

/// Starts counting the calling thread, where `--collect-atstart=no` counts no thread; a second call stops it.
/// A new thread is counted if the last one to run was.
pub(crate) fn toggle_this_thread() {
    request(TOGGLE_COLLECT, ptr::null());
}

/// Begins to count. What is translated before this runs several times faster.
pub(crate) fn start_instrumentation() {
    request(START_INSTRUMENTATION, ptr::null());
}

/// Sets the counters to zero.
pub(crate) fn zero() {
    request(ZERO_STATS, ptr::null());
}

/// Writes the counters to a file that carries `name`, and sets them to zero.
pub(crate) fn dump(name: &str) {
    let name = CString::new(name).expect("operation names hold no zero byte");
    request(DUMP_STATS_AT, name.as_ptr().cast());
}

/// # Source
/// Valgrind manual, "The client request mechanism"; the sequence for x86-64 is in its valgrind.h.
#[cfg(target_arch = "x86_64")]
fn request(code: usize, argument: *const u8) -> usize {
    let arguments = [code, argument as usize, 0, 0, 0, 0];
    let mut answer = 0usize;
    // SAFETY: natively four rotations that cancel out and an exchange of a register with itself; under
    // Valgrind the request reads `arguments` and, for a dump, a string that outlives the call.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") answer,
            in("rdi") 0usize,
            options(nostack),
        );
    }
    answer
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_code: usize, _argument: *const u8) -> usize {
    0
}

#[cfg(test)]
mod tests {
    #[test]
    fn requests_do_nothing_natively() {
        super::zero();
        super::dump("nothing");
        assert!(!super::is_running());
    }
}
