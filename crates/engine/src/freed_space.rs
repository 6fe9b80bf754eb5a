//! Freed space that waits for a checkpoint.
//!
//! An extent's disk space goes back to the file system once no recovery needs its bytes, which is when a
//! checkpoint lies past its release. A large log takes hours to ask for one on a quiet server. So where much
//! space waits for long, the pages are written up to its release, a part in each round, and a checkpoint is
//! recorded. Space that is soon used again is never worth that: it does not wait long enough.

use base::Lsn;

/// Extents (1 MiB each) that are worth a checkpoint.
const EXTENTS_WORTH: usize = 64;
/// Rounds for which space waits before pages are written for it.
const ROUNDS_PATIENT: u32 = 5;

/// State between the rounds of checkpoints.
#[derive(Debug, Default)]
pub(crate) struct FreedSpace {
    rounds_waited: u32,
    /// Up to where pages are being written.
    wanted: Option<Lsn>,
}

impl FreedSpace {
    /// Takes note of another round; returns where the next checkpoint must lie past, if that is to be
    /// hastened.
    ///
    /// `waiting`: how many freed extents still take disk space, and when the last of them was freed.
    /// `redo_lsn`: of the last checkpoint.
    pub(crate) fn next_round(&mut self, waiting: (usize, Lsn), redo_lsn: Lsn) -> Option<Lsn> {
        let (extents, freed_at) = waiting;
        if extents < EXTENTS_WORTH || freed_at < redo_lsn {
            *self = FreedSpace::default();
            return None;
        }
        if self.wanted.is_some_and(|wanted| wanted < redo_lsn) {
            *self = FreedSpace::default();
        }
        self.rounds_waited += 1;
        if self.rounds_waited > ROUNDS_PATIENT && self.wanted.is_none() {
            self.wanted = Some(freed_at);
        }
        self.wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(space: &mut FreedSpace, count: u32, waiting: (usize, Lsn), redo_lsn: Lsn) -> Option<Lsn> {
        (0..count).fold(None, |_, _| space.next_round(waiting, redo_lsn))
    }

    #[test]
    fn much_space_that_waits_hastens_a_checkpoint_and_little_or_new_space_does_not() {
        let mut space = FreedSpace::default();
        assert_eq!(rounds(&mut space, 100, (EXTENTS_WORTH - 1, Lsn(9)), Lsn(1)), None, "too little");
        assert_eq!(rounds(&mut space, ROUNDS_PATIENT, (EXTENTS_WORTH, Lsn(9)), Lsn(1)), None, "too new");
        assert_eq!(space.next_round((0, Lsn(0)), Lsn(1)), None, "was used again");
        assert_eq!(rounds(&mut space, ROUNDS_PATIENT, (EXTENTS_WORTH, Lsn(9)), Lsn(1)), None);
        assert_eq!(space.next_round((EXTENTS_WORTH, Lsn(9)), Lsn(1)), Some(Lsn(9)));
        assert_eq!(
            space.next_round((1000, Lsn(30)), Lsn(1)),
            Some(Lsn(9)),
            "what is freed later waits its time"
        );
        assert_eq!(space.next_round((1000, Lsn(30)), Lsn(10)), None, "the checkpoint lies past it");
        assert_eq!(rounds(&mut space, ROUNDS_PATIENT, (1000, Lsn(30)), Lsn(10)), Some(Lsn(30)));
        assert_eq!(
            rounds(&mut space, 100, (1000, Lsn(30)), Lsn(31)),
            None,
            "nothing but the file system is missing"
        );
    }
}
