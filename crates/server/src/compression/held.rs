//! Memory of encoders, decoders and frames, charged to the server's account.

use std::io;
use std::sync::Arc;

use base::memory::ServerAccount;

/// Bytes charged before they are allocated, released when this drops.
#[derive(Debug)]
pub(super) struct Held {
    account: Arc<ServerAccount>,
    bytes: u64,
}

impl Held {
    /// # Errors
    /// `OutOfMemory`: the server's limit would be exceeded.
    pub(super) fn new(account: &Arc<ServerAccount>, bytes: u64) -> io::Result<Self> {
        account.charge(bytes).map_err(|exceeded| io::Error::new(io::ErrorKind::OutOfMemory, exceeded))?;
        Ok(Held { account: Arc::clone(account), bytes })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.account.release(self.bytes);
    }
}
