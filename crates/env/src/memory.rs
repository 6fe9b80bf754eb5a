//! Large memory regions straight from the kernel.

use std::path::Path;
use std::ptr::NonNull;

use rustix::mm::{self, Advice, MapFlags, ProtFlags};

use crate::error::{IoError, IoOp, Result};

const HUGE_PAGE: usize = 2 << 20;

/// A private region of zeroed memory, aligned to 2 MiB. Memory is taken from the machine on first touch only.
///
/// The region never moves; who may access which part when is its owner's business, hence only a raw pointer.
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
    #[expect(unsafe_code, reason = "mmap and madvise are unsafe calls")]
    pub fn zeroed(bytes: usize) -> Result<Mapping> {
        let refused = |errno| IoError::from_errno(IoOp::Map, Path::new("anonymous region"), errno);
        let mapped_bytes = bytes
            .max(1)
            .checked_next_multiple_of(HUGE_PAGE)
            .and_then(|whole| whole.checked_add(HUGE_PAGE))
            .ok_or(refused(rustix::io::Errno::NOMEM))?;
        let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice replaces nothing.
        let start = unsafe { mm::mmap_anonymous(std::ptr::null_mut(), mapped_bytes, prot, flags) };
        let mapped = NonNull::new(start.map_err(refused)?.cast::<u8>()).expect("mmap never returns null");
        let skip = mapped.as_ptr().align_offset(HUGE_PAGE);
        // SAFETY: `skip` < 2 MiB and the mapping is at least 2 MiB longer than `bytes`.
        let base = unsafe { mapped.add(skip) };
        // Refused where huge pages are switched off; small ones do.
        // SAFETY: the range lies inside the mapping made above; the advice does not change its contents.
        let _ = unsafe { mm::madvise(base.as_ptr().cast(), mapped_bytes - HUGE_PAGE, Advice::LinuxHugepage) };
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
    #[expect(unsafe_code, reason = "munmap is an unsafe call")]
    fn drop(&mut self) {
        // SAFETY: exactly the range that `zeroed` mapped; pointers into it are bound to this object by its owner.
        let unmapped = unsafe { mm::munmap(self.mapped.as_ptr().cast(), self.mapped_bytes) };
        debug_assert!(unmapped.is_ok(), "a whole mapping can be unmapped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_aligned_and_far_larger_than_what_it_touches() {
        let region = Mapping::zeroed(1 << 36).unwrap();
        assert_eq!(region.base().as_ptr().addr() % HUGE_PAGE, 0);
        assert_eq!(region.bytes(), 1 << 36);
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
        // SAFETY: mapped readable; nobody else knows the region.
        assert_eq!(unsafe { last.read() }, 0);
        // SAFETY: as above, mapped writable.
        unsafe { last.write(7) };
    }
}
