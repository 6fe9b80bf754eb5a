//! Ends connections whose client says nothing for `wait_timeout`, and notes which commands may be slow.
//!
//! A timeout of the socket would cost a timer of the kernel's for every packet that is waited for. Instead
//! one thread checks all connections now and then and remembers since when each waits for the same command,
//! so that commands do nothing.

use std::collections::HashMap;
use std::time::Instant;

use crate::process_list::ProcessList;

/// The state of the connections at the last check.
#[derive(Debug, Default)]
pub(crate) struct IdleWatch {
    waiting: HashMap<u32, Wait>,
}

/// A connection that waits for its client.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// [`crate::activity::Activity::idle_mark`].
    mark: u32,
    since: Instant,
}

impl IdleWatch {
    /// Ends the connections that have been waiting for their time by `now`, and has the commands in progress
    /// timed. A wait counts from the first look
    /// that finds it, so it may last longer by the time between two looks. Cost: one pass over the
    /// connections.
    pub(crate) fn look(&mut self, processes: &ProcessList, now: Instant) {
        let mut waiting = HashMap::with_capacity(self.waiting.len());
        for process in processes.all() {
            let Some((mark, limit)) = process.idle_mark() else {
                process.time_once();
                continue;
            };
            let known = self.waiting.get(&process.id()).filter(|wait| wait.mark == mark);
            let wait = known.copied().unwrap_or(Wait { mark, since: now });
            if now.duration_since(wait.since) >= limit {
                process.time_out();
            }
            waiting.insert(process.id(), wait);
        }
        self.waiting = waiting;
    }
}
