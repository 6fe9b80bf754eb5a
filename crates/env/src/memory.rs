//! Large memory regions straight from the kernel.

use std::path::Path;
use std::ptr::NonNull;

use rustix::io::Errno;

use crate::error::{IoError, IoOp, Result};

const HUGE_PAGE: usize = 2 << 20;

/// A private region of zeroed memory, aligned to 2 MiB. Memory is taken from the machine on first touch only.
///
/// The region never moves; its owner decides which thread may access which part when, hence only a raw
/// pointer.
#[derive(Debug)]
pub struct Mapping {
    mapped: NonNull<u8>,
    mapped_bytes: usize,
    base: NonNull<u8>,
    bytes: usize,
}

#[expect(unsafe_code, reason = "a mapping is plain memory")]
// SAFETY: the struct only carries the address of memory that belongs to the whole process until `drop`.
unsafe impl Send for Mapping {}
#[expect(unsafe_code, reason = "a mapping is plain memory")]
// SAFETY: as above; no method accesses the memory.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes` (above 0) of zeros and asks for huge pages.
    #[expect(unsafe_code, reason = "address arithmetic inside the mapping")]
    pub fn zeroed(bytes: usize) -> Result<Mapping> {
        let refused = |errno| IoError::from_errno(IoOp::Map, Path::new("anonymous region"), errno);
        let mapped_bytes = bytes
            .max(1)
            .checked_next_multiple_of(HUGE_PAGE)
            .and_then(|whole| whole.checked_add(HUGE_PAGE))
            .ok_or(refused(Errno::NOMEM))?;
        let mapped = kernel::map(mapped_bytes).map_err(refused)?;
        let skip = mapped.as_ptr().align_offset(HUGE_PAGE);
        // SAFETY: `skip` < 2 MiB and the mapping is at least 2 MiB longer than `bytes`.
        let base = unsafe { mapped.add(skip) };
        Ok(Mapping { mapped, mapped_bytes, base, bytes })
    }

    /// The first byte, aligned to 2 MiB.
    #[inline]
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Usable length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    #[expect(unsafe_code, reason = "unmapping is an unsafe call")]
    fn drop(&mut self) {
        // SAFETY: exactly the range that `zeroed` mapped; pointers into it are bound to this object by its
        // owner.
        unsafe { kernel::unmap(self.mapped, self.mapped_bytes) };
    }
}

/// The kernel's part.
#[cfg(not(miri))]
mod kernel {
    use std::ptr::NonNull;

    use rustix::io::Errno;
    use rustix::mm::{self, Advice, MapFlags, ProtFlags};

    /// Returns `bytes` fresh bytes of zeros.
    #[expect(unsafe_code, reason = "mmap and madvise are unsafe calls")]
    pub(super) fn map(bytes: usize) -> Result<NonNull<u8>, Errno> {
        let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice replaces nothing.
        let start = unsafe { mm::mmap_anonymous(std::ptr::null_mut(), bytes, prot, flags) }?;
        // Refused where huge pages are switched off; small ones do.
        // SAFETY: the range is the mapping made above; the advice does not change its contents.
        let _ = unsafe { mm::madvise(start, bytes, Advice::LinuxHugepage) };
        Ok(NonNull::new(start.cast()).expect("mmap never returns null"))
    }

    /// # Safety
    /// [`map`] returned `start` for as many bytes, and nobody uses them any more.
    #[expect(unsafe_code, reason = "munmap is an unsafe call")]
    pub(super) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise.
        let unmapped = unsafe { mm::munmap(start.as_ptr().cast(), bytes) };
        debug_assert!(unmapped.is_ok(), "a whole mapping can be unmapped");
    }
}

/// The same from the allocator, for Miri, which has no kernel.
#[cfg(miri)]
#[expect(unsafe_code, reason = "the allocator's calls are unsafe")]
mod kernel {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr::NonNull;

    use rustix::io::Errno;

    pub(super) fn map(bytes: usize) -> Result<NonNull<u8>, Errno> {
        // SAFETY: the caller asks for more than 0 bytes.
        NonNull::new(unsafe { alloc_zeroed(layout(bytes)?) }).ok_or(Errno::NOMEM)
    }

    pub(super) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise: `map` returned `start` for this layout.
        unsafe { dealloc(start.as_ptr(), layout(bytes).expect("was good enough for `map`")) };
    }

    fn layout(bytes: usize) -> Result<Layout, Errno> {
        Layout::from_size_align(bytes, 4096).map_err(|_| Errno::NOMEM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_aligned_and_far_larger_than_what_it_touches() {
        // Miri takes the memory at once.
        let bytes = if cfg!(miri) { 1 << 22 } else { 1 << 36 };
        let region = Mapping::zeroed(bytes).unwrap();
        assert_eq!(region.base().as_ptr().addr() % HUGE_PAGE, 0);
        assert_eq!(region.bytes(), bytes);
    }

    #[test]
    fn a_size_that_overflows_is_an_error() {
        assert_eq!(Mapping::zeroed(usize::MAX).unwrap_err().op, IoOp::Map);
    }

    #[test]
    #[expect(unsafe_code, reason = "reads and writes the region it owns")]
    fn the_memory_is_zeroed_and_writable_to_its_last_byte() {
        let region = Mapping::zeroed(3 << 20).unwrap();
        // SAFETY: offset below the region's length.
        let last = unsafe { region.base().add((3 << 20) - 1) };
        // SAFETY: mapped readable; no other code has the region's address.
        assert_eq!(unsafe { last.read() }, 0);
        // SAFETY: as above, mapped writable.
        unsafe { last.write(7) };
    }
}
