//! Counting the system calls of one thread, from inside: a filter stops each of them until another thread of
//! this process, which counts, lets it continue. Calls that the vDSO answers (the clock) are none.
//!
//! # Source
//! seccomp_unotify(2) of the Linux manual pages; numbers and layouts from linux/seccomp.h and linux/filter.h.

#![allow(unsafe_code, reason = "system calls that no library here wraps")]

use std::ffi::{c_int, c_long, c_ulong};
use std::io::Error;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::thread;

const SYS_SECCOMP: c_long = 317;
const PR_SET_NO_NEW_PRIVS: c_int = 38;
const SECCOMP_SET_MODE_FILTER: c_long = 1;
const SECCOMP_FILTER_FLAG_NEW_LISTENER: c_long = 1 << 3;
const SECCOMP_RET_USER_NOTIF: u32 = 0x7fc0_0000;
const BPF_RET_K: u16 = 0x06;
const SECCOMP_IOCTL_NOTIF_RECV: c_ulong = 0xc050_2100;
const SECCOMP_IOCTL_NOTIF_SEND: c_ulong = 0xc018_2101;
const SECCOMP_USER_NOTIF_FLAG_CONTINUE: u32 = 1;

/// An instruction of the filter.
#[repr(C)]
struct Instruction {
    code: u16,
    jump_true: u8,
    jump_false: u8,
    value: u32,
}

#[repr(C)]
struct Program {
    length: u16,
    instructions: *const Instruction,
}

/// What the kernel says of a stopped call; only its id is of use here.
#[repr(C)]
struct Notice {
    id: u64,
    rest: [u64; 9],
}

#[repr(C)]
struct Response {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

const _: () =
    assert!(size_of::<Notice>() == 0x50 && size_of::<Response>() == 0x18, "sizes stand in the ioctl numbers");

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn prctl(option: c_int, ...) -> c_int;
    fn ioctl(fd: c_int, request: c_ulong, ...) -> c_int;
}

/// Listener of the filter; 0: none yet.
static LISTENER: AtomicI32 = AtomicI32::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);

/// Starts the thread that counts. It ends with the process.
pub(crate) fn start_counter() -> std::io::Result<()> {
    thread::Builder::new().name("count-syscalls".to_owned()).spawn(count_and_release).map(drop)
}

/// From now on every system call of the calling thread is counted, and waits for the thread that counts.
pub(crate) fn count_this_thread() -> std::io::Result<()> {
    let filter =
        [Instruction { code: BPF_RET_K, jump_true: 0, jump_false: 0, value: SECCOMP_RET_USER_NOTIF }];
    let program = Program { length: 1, instructions: filter.as_ptr() };
    // SAFETY: takes numbers only.
    if unsafe { prctl(PR_SET_NO_NEW_PRIVS, 1 as c_ulong, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong) } != 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: `program` and its one instruction live until the call returns; the kernel copies them.
    let listener = unsafe {
        syscall(SYS_SECCOMP, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &raw const program)
    };
    if listener < 0 {
        return Err(Error::last_os_error());
    }
    LISTENER.store(listener as i32, Ordering::Release);
    Ok(())
}

/// System calls of the thread so far; `None` if none is counted.
pub(crate) fn counted() -> Option<u64> {
    (LISTENER.load(Ordering::Relaxed) > 0).then(|| CALLS.load(Ordering::Relaxed))
}

fn count_and_release() {
    let listener = loop {
        // Acquire pairs with the release in `count_this_thread`.
        match LISTENER.load(Ordering::Acquire) {
            0 => thread::yield_now(),
            listener => break listener,
        }
    };
    loop {
        let mut notice = Notice { id: 0, rest: [0; 9] };
        // SAFETY: the kernel fills `notice`, which is zero and of the size that the request's number states.
        if unsafe { ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &raw mut notice) } != 0 {
            continue;
        }
        CALLS.fetch_add(1, Ordering::Relaxed);
        let response =
            Response { id: notice.id, value: 0, error: 0, flags: SECCOMP_USER_NOTIF_FLAG_CONTINUE };
        // A call that a signal has interrupted meanwhile is made again, and noticed again.
        // SAFETY: the kernel reads `response`, of the size that the request's number states.
        unsafe { ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &raw const response) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_the_thread_are_counted_and_still_work() {
        start_counter().unwrap();
        let size = thread::spawn(|| {
            count_this_thread().unwrap();
            let before = counted().unwrap();
            let size = std::fs::metadata("/proc/self/exe").unwrap().len();
            assert_eq!(counted().unwrap() - before, 1);
            size
        });
        assert!(size.join().unwrap() > 0);
    }
}
