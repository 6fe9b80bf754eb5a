//! The frame of the log that has a transaction's commit.

use base::Lsn;

/// Which frame has the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitPoint {
    /// One of its own, once the transaction ends.
    Own,
    /// That of the last edit of the next change, which is the transaction's last one.
    LastChange,
    /// It is in the log, in a frame that ends here.
    Logged(Lsn),
}

impl CommitPoint {
    /// The end of the frame, if it is in the log.
    #[inline]
    pub fn logged(self) -> Option<Lsn> {
        match self {
            CommitPoint::Logged(end) => Some(end),
            CommitPoint::Own | CommitPoint::LastChange => None,
        }
    }
}
