//! The threads of a round, from the start of the engine until the round ends.

use std::sync::Arc;
use std::time::Duration;

use base::prng::Prng;
use base::sync::Event as Signal;
use engine::{Engine, Error};

use super::definer::Definer;
use super::notes::{Notes, Result, Stop, is_done, lock};
use super::reader::read;
use super::writer::Writer;

/// Checkpoints and steps of purge in a round.
const CHORES: u64 = 50;

/// A generator whose seed the simulation's seed decides.
pub(super) fn drawn_seed() -> Result<Prng> {
    let mut bytes = [0; 8];
    env::random_bytes(&mut bytes)?;
    Ok(Prng::new(u64::from_le_bytes(bytes)))
}

/// Writers, a reader, a keeper and a thread of DDL statements, to their end.
pub(super) fn work(engine: &Arc<Engine>, notes: &Notes, writers: u64) -> Result<()> {
    let mut threads = Vec::new();
    lock(notes).writers = writers;
    for number in 0..writers {
        let (engine, theirs) = (Arc::clone(engine), Arc::clone(notes));
        let work = move || {
            let ended = Writer::new(engine, Arc::clone(&theirs), number).and_then(Writer::run);
            lock(&theirs).writers -= 1;
            ended
        };
        threads.push(env::spawn("writer", work)?);
    }
    for (name, work) in [("reader", read as fn(&Arc<Engine>, &Notes) -> Result<()>), ("keeper", keep)] {
        let (engine, notes) = (Arc::clone(engine), Arc::clone(notes));
        threads.push(env::spawn(name, move || work(&engine, &notes))?);
    }
    let mut definer = Definer { writer: Writer::new(Arc::clone(engine), Arc::clone(notes), writers)? };
    let mut ended = definer.run();
    for thread in threads {
        let theirs = thread.join().unwrap_or_else(|| Err(Stop::Wrong("a thread panicked".to_owned())));
        if weight(&theirs) > weight(&ended) {
            ended = theirs;
        }
    }
    ended
}

/// Rank of an end as a cause: a wrong answer above an error, an error above a wait for the thread that met
/// it.
fn weight(ended: &Result<()>) -> u32 {
    match ended {
        Ok(()) => 0,
        Err(Stop::Refused(Error::Lock(_))) => 1,
        Err(Stop::Refused(_)) => 2,
        Err(Stop::Wrong(_)) => 3,
    }
}

/// Checkpoints and purge, more often than the engine's own threads think of them.
fn keep(engine: &Arc<Engine>, notes: &Notes) -> Result<()> {
    let mut prng = drawn_seed()?;
    let longest = [300, 3000, 30_000][prng.below(3) as usize];
    for _ in 0..CHORES {
        if is_done(notes) {
            break;
        }
        pause(Duration::from_micros(prng.below(longest)));
        match prng.below(5) {
            0 => engine.checkpoint()?,
            1 => engine.checkpoint_round()?,
            4 => drop(engine.conversion_step()?),
            most => drop(engine.purge_step(most as usize)?),
        }
    }
    Ok(())
}

/// Lets simulated time go by.
pub(super) fn pause(time: Duration) {
    let event = Signal::new();
    event.wait(event.ticket(), Some(env::deadline_in(time)));
}
