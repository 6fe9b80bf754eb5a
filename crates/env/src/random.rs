//! Randomness from the kernel; in a simulation, from its seed.

use std::path::Path;

use base::sync::sim;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::{IoError, IoOp, Result};

/// Fills `out` with bytes fit for keys and salts.
pub fn random_bytes(out: &mut [u8]) -> Result<()> {
    if sim::is_simulated() {
        for chunk in out.chunks_mut(8) {
            let bits = sim::random().unwrap_or_default().to_le_bytes();
            chunk.copy_from_slice(&bits[..chunk.len()]);
        }
        return Ok(());
    }
    let mut done = 0;
    while done < out.len() {
        match getrandom(&mut out[done..], GetRandomFlags::empty()) {
            Ok(n) => done += n,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(IoError::from_errno(IoOp::Random, Path::new("kernel"), errno)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_draws_differ() {
        let mut draws = [[0u8; 32]; 2];
        for draw in &mut draws {
            super::random_bytes(draw).unwrap();
        }
        assert_ne!(draws[0], draws[1]);
    }
}
