//! Hints to the processor.

/// Bytes of a cache line.
pub const LINE_BYTES: usize = 64;

/// Prefetches the cache line of the byte at `place`, which may be any address. Cost: one instruction.
#[inline(always)]
pub fn prefetch(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "a hint to the processor")]
        // SAFETY: a prefetch has no visible effect, whatever the address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(place.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
