//! Simulated threads: real ones of which exactly one runs at a time, in an order that a seed decides.
//!
//! A simulated thread holds the *baton* while it runs. At every place where threads of the storage layers
//! meet (taking a latch or mutex, parking, waking others, reading and writing files) it may have to pass the
//! baton to a thread that a seeded generator draws. Parked threads are no candidates until they are woken or
//! their deadline passes. Time is simulated: it moves a little at every such place, and jumps to the next
//! deadline when no thread can run. One seed is one run, to the last step.
//!
//! Threads that were not started inside a simulation do not take part in it. Release builds have no trace of
//! it ([`ENABLED`]).
//!
//! # States of a thread
//! ```text
//!  register --> runnable <--> parked
//!                   |
//!                   +--> ended
//! ```
//! When a simulation is over while threads are left, because the first one returned, the machine lost its
//! power, a thread panicked or none could run any more, those stay where they are for ever.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::park::{Choice, Wake};
use super::planted_bug::PlantedBug;
use crate::prng::Prng;

/// Whether threads can be simulated: where debug assertions are on.
pub const ENABLED: bool = cfg!(debug_assertions);

/// Marks the addresses of locks, so that none is that of a word inside of it.
pub(super) const LOCK: usize = 1 << 62;
/// Marks the addresses of condition variables.
pub(super) const CONDVAR: usize = 1 << 63;

/// Most nanoseconds that pass between two places at which threads may change.
const STEP_NS_MAX: u64 = 2_000;

/// What background threads wait for that stay asleep at the end.
const LINGERING: usize = 0;
/// How rarely a thread lingers where it can: one time in this number, for less than this power of two of
/// nanoseconds.
const LINGER_ODDS: u64 = 32;
const LINGER_BITS: u64 = 20;

/// How a simulation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Its first thread returned.
    Returned,
    /// A thread called [`halt`].
    Halted,
    /// A thread called [`stop`]; why.
    Stopped(String),
    /// A thread panicked.
    Panicked,
    /// No thread could run, or too many steps were taken; names what each thread waits for.
    Stuck(String),
}

/// How a simulation is run.
#[derive(Clone, Copy, Debug)]
pub struct SimOptions {
    /// Decides everything.
    pub seed: u64,
    /// Steps after which the run counts as stuck.
    pub steps_max: u64,
    /// The instant that simulated time starts at.
    pub epoch: Instant,
    /// A mistake that its threads make.
    pub planted: Option<PlantedBug>,
}

/// The trace of a run; equal for equal seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Places passed at which the baton could change hands.
    pub steps: u64,
    /// A checksum over who ran when.
    pub hash: u64,
    /// Simulated nanoseconds.
    pub now_ns: u64,
}

/// The threads of one simulation.
#[derive(Debug)]
pub struct Scheduler {
    epoch: Instant,
    planted: Option<PlantedBug>,
    state: Mutex<State>,
    /// Notified when the simulation is over.
    over: Condvar,
}

#[derive(Debug)]
struct State {
    prng: Prng,
    /// The baton moves at one step in this number, drawn per run: rare and frequent changes find different
    /// bugs.
    stay_odds: u64,
    trace: Trace,
    steps_max: u64,
    tasks: Vec<Task>,
    /// The thread that has the baton.
    running: usize,
    /// Counts parkings, so that waiters are woken in the order in which they came.
    parkings: u64,
    end: Option<End>,
}

#[derive(Debug)]
struct Task {
    name: String,
    status: Status,
    /// Why it was last made runnable.
    wake: Wake,
    turn: Arc<Condvar>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Runnable,
    Parked { addr: usize, kind: usize, deadline_ns: Option<u64>, since: u64 },
    Ended,
}

thread_local! {
    /// Whether there is one: asked at every latch, also outside of simulations.
    static SIMULATED: Cell<bool> = const { Cell::new(false) };
    /// The simulation that this thread belongs to, and its number in it.
    static CURRENT: RefCell<Option<SimThread>> = const { RefCell::new(None) };
}

/// A thread's place in a simulation.
#[derive(Clone, Debug)]
pub struct SimThread {
    scheduler: Arc<Scheduler>,
    number: usize,
}

/// Runs `f` with this thread's place in its simulation, if it has one.
#[inline]
fn with_sim_thread<T>(f: impl FnOnce(&SimThread) -> T) -> Option<T> {
    if !is_simulated() {
        return None;
    }
    let member = CURRENT.with_borrow(Option::clone)?;
    Some(f(&member))
}

/// Whether this thread is simulated.
#[inline]
pub fn is_simulated() -> bool {
    ENABLED && SIMULATED.get()
}

/// A place at which another simulated thread may get its turn. Elsewhere it does nothing.
#[inline]
pub fn switch() {
    with_sim_thread(|me| me.scheduler.switch(me.number));
}

/// A place at which a thread may be left behind for longer, as one that loses its processor. Elsewhere it
/// does nothing.
#[inline]
pub fn linger() {
    with_sim_thread(|me| me.scheduler.linger(me.number));
}

/// The simulated time, as an instant and in nanoseconds since the start.
pub fn now() -> Option<(Instant, u64)> {
    with_sim_thread(|me| {
        let now_ns = me.scheduler.state.lock().trace.now_ns;
        (me.scheduler.epoch + Duration::from_nanos(now_ns), now_ns)
    })
}

/// Random bits that the simulation's seed decides.
pub fn random() -> Option<u64> {
    with_sim_thread(|me| me.scheduler.state.lock().prng.next_u64())
}

/// Ends the simulation at once, as a power failure does: no thread runs any more, not even this one. Does
/// nothing outside of a simulation.
pub fn halt() {
    with_sim_thread(|me| me.scheduler.stop(me.number, End::Halted));
}

/// Ends the simulation at once, as the end of the process does that the threads stand for. Does nothing
/// outside of a simulation.
pub fn stop(why: &str) {
    with_sim_thread(|me| me.scheduler.stop(me.number, End::Stopped(why.to_owned())));
}

/// The mistake that this thread's simulation has.
pub(super) fn planted_bug() -> Option<PlantedBug> {
    with_sim_thread(|me| me.scheduler.planted).flatten()
}

/// A place for a new thread in this thread's simulation.
pub fn register(name: &str) -> Option<SimThread> {
    with_sim_thread(|me| Scheduler::register(&me.scheduler, name))
}

/// [`super::park::park_on`] of a simulated thread.
pub(crate) fn park(
    addr: usize,
    kind: usize,
    deadline: Option<Instant>,
    still_wanted: impl FnOnce() -> bool,
) -> Wake {
    switch();
    if !still_wanted() {
        return Wake::Stale;
    }
    with_sim_thread(|me| me.scheduler.park(me.number, addr, kind, deadline)).unwrap_or(Wake::Stale)
}

/// [`super::park::unpark_matching`] by a simulated thread.
pub(crate) fn unpark(addr: usize, choose: impl FnMut(usize) -> Choice, done: impl FnOnce(bool)) {
    with_sim_thread(|me| {
        let more = me.scheduler.unpark(addr, choose);
        done(more);
    });
    switch();
}

/// Makes all simulated threads runnable that wait for the lock at `addr`, which was released.
#[cfg(debug_assertions)]
pub(super) fn wake_released(addr: usize) {
    with_sim_thread(|me| me.scheduler.unpark(addr, |_| Choice::Wake));
}

/// Waits on `condvar` after the lock at `lock` was released; no thread runs between the two.
pub(super) fn sleep_released(lock: usize, condvar: usize, deadline: Option<Instant>) -> Wake {
    let sleep = |me: &SimThread| {
        me.scheduler.unpark(lock, |_| Choice::Wake);
        me.scheduler.park(me.number, condvar, 0, deadline)
    };
    with_sim_thread(sleep).unwrap_or(Wake::Stale)
}

impl Scheduler {
    /// A simulation without threads.
    pub fn new(options: SimOptions) -> Arc<Scheduler> {
        let mut prng = Prng::new(options.seed);
        let state = State {
            stay_odds: [2, 4, 16, 64][prng.below(4) as usize],
            prng,
            trace: Trace { steps: 0, hash: 0, now_ns: 0 },
            steps_max: options.steps_max,
            tasks: Vec::new(),
            running: 0,
            parkings: 0,
            end: None,
        };
        let SimOptions { epoch, planted, .. } = options;
        Arc::new(Scheduler { epoch, planted, state: Mutex::new(state), over: Condvar::new() })
    }

    /// A place for a new thread, which [`SimThread::run`] takes. The first one registered starts with the
    /// baton.
    pub fn register(scheduler: &Arc<Scheduler>, name: &str) -> SimThread {
        let mut state = scheduler.state.lock();
        let task = Task {
            name: name.to_owned(),
            status: Status::Runnable,
            wake: Wake::Stale,
            turn: Arc::new(Condvar::new()),
        };
        state.tasks.push(task);
        SimThread { scheduler: Arc::clone(scheduler), number: state.tasks.len() - 1 }
    }

    /// Waits for the end of the simulation. Called from outside of it.
    pub fn wait(&self) -> (End, Trace) {
        let mut state = self.state.lock();
        loop {
            if let Some(end) = &state.end {
                return (end.clone(), state.trace);
            }
            self.over.wait(&mut state);
        }
    }

    fn switch(&self, me: usize) {
        let mut state = self.state.lock();
        state.step();
        let stay = state.stay_odds;
        if !std::thread::panicking() && state.prng.below(stay) == 0 {
            self.pass_baton(state, me);
        }
    }

    fn linger(&self, me: usize) {
        let mut state = self.state.lock();
        state.step();
        if !std::thread::panicking() && state.prng.below(LINGER_ODDS) == 0 {
            let longest = 1 << state.prng.below(LINGER_BITS);
            let deadline_ns = Some(state.trace.now_ns + state.prng.below(longest));
            state.tasks[me].status = Status::Parked { addr: LINGERING, kind: 0, deadline_ns, since: 0 };
            self.pass_baton(state, me);
        }
    }

    fn park(&self, me: usize, addr: usize, kind: usize, deadline: Option<Instant>) -> Wake {
        let mut state = self.state.lock();
        state.step();
        state.parkings += 1;
        let deadline_ns =
            deadline.map(|deadline| deadline.saturating_duration_since(self.epoch).as_nanos() as u64);
        let since = state.parkings;
        state.tasks[me].status = Status::Parked { addr, kind, deadline_ns, since };
        self.pass_baton(state, me);
        self.state.lock().tasks[me].wake
    }

    /// Makes those runnable that `choose` picks, oldest first; whether others are left.
    fn unpark(&self, addr: usize, mut choose: impl FnMut(usize) -> Choice) -> bool {
        let mut state = self.state.lock();
        let mut waiters: Vec<(u64, usize, usize)> = state
            .tasks
            .iter()
            .enumerate()
            .filter_map(|(number, task)| match task.status {
                Status::Parked { addr: at, kind, since, .. } if at == addr => Some((since, number, kind)),
                _ => None,
            })
            .collect();
        waiters.sort_unstable();
        let mut left = waiters.len();
        for (_, number, kind) in waiters {
            match choose(kind) {
                Choice::Wake => {
                    state.tasks[number].status = Status::Runnable;
                    state.tasks[number].wake = Wake::Unparked;
                    left -= 1;
                }
                Choice::PassOver => {}
                Choice::Stop => break,
            }
        }
        left > 0
    }

    /// Gives the baton to a thread drawn from those that can run, and waits until it is back.
    fn pass_baton(&self, mut state: parking_lot::MutexGuard<'_, State>, me: usize) {
        match state.draw() {
            Ok(next) => {
                state.trace.hash =
                    (state.trace.hash.rotate_left(5) ^ next as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                state.running = next;
                if next != me {
                    state.tasks[next].turn.notify_all();
                }
            }
            Err(end) => self.end(&mut state, end),
        }
        wait_for_turn(state, me);
    }

    /// Ends the simulation, unless it has; then `me` never runs again.
    fn stop(&self, me: usize, end: End) {
        let mut state = self.state.lock();
        self.end(&mut state, end);
        wait_for_turn(state, me);
    }

    fn end(&self, state: &mut State, end: End) {
        state.end.get_or_insert(end);
        self.over.notify_all();
    }
}

/// Returns when `me` has the baton; never, once the simulation is over.
fn wait_for_turn(mut state: parking_lot::MutexGuard<'_, State>, me: usize) {
    while state.running != me || state.end.is_some() {
        let turn = Arc::clone(&state.tasks[me].turn);
        turn.wait(&mut state);
    }
}

impl State {
    /// Time goes by; those whose deadline has passed can run.
    fn step(&mut self) {
        self.trace.steps += 1;
        self.trace.now_ns += self.prng.below(STEP_NS_MAX);
        self.expire();
    }

    fn expire(&mut self) {
        let now_ns = self.trace.now_ns;
        for task in &mut self.tasks {
            if matches!(task.status, Status::Parked { deadline_ns: Some(at), .. } if at <= now_ns) {
                task.status = Status::Runnable;
                task.wake = Wake::TimedOut;
            }
        }
    }

    /// Draws the thread that runs next; time jumps to the next deadline if no thread can run.
    fn draw(&mut self) -> Result<usize, End> {
        if self.trace.steps > self.steps_max {
            return Err(self.stuck("too many steps"));
        }
        let mut runnable = self.runnable();
        if runnable.is_empty() {
            let deadlines = self.tasks.iter().filter_map(|task| match task.status {
                Status::Parked { deadline_ns, .. } => deadline_ns,
                _ => None,
            });
            let Some(next_ns) = deadlines.min() else { return Err(self.stuck("nobody can run")) };
            self.trace.now_ns = self.trace.now_ns.max(next_ns);
            self.expire();
            runnable = self.runnable();
        }
        Ok(runnable[self.prng.below(runnable.len() as u64) as usize])
    }

    fn runnable(&self) -> Vec<usize> {
        let runnable = |number: &usize| self.tasks[*number].status == Status::Runnable;
        (0..self.tasks.len()).filter(runnable).collect()
    }

    #[cold]
    fn stuck(&self, why: &str) -> End {
        let threads: Vec<String> =
            self.tasks.iter().map(|task| format!("{} is {:?}", task.name, task.status)).collect();
        End::Stuck(format!("{why}: {}", threads.join("; ")))
    }
}

impl SimThread {
    /// Makes the calling thread this member and runs `work` as soon as it has the baton. If it panics, or if
    /// this is the first thread, the simulation is over.
    pub fn run<T>(self, work: impl FnOnce() -> T) -> T {
        CURRENT.set(Some(self.clone()));
        SIMULATED.set(true);
        wait_for_turn(self.scheduler.state.lock(), self.number);
        let leave = Leave(self);
        let result = work();
        drop(leave);
        result
    }

    /// Waits until this member's thread is about to end. Called by a thread of the same simulation.
    pub fn wait_for_end(&self) {
        let ended = || self.scheduler.state.lock().tasks[self.number].status == Status::Ended;
        while !ended() {
            park(self.end_addr(), 0, None, || !ended());
        }
    }

    /// What those wait on who wait for the thread's end: an address that no object can have.
    fn end_addr(&self) -> usize {
        usize::MAX - self.number
    }
}

/// Takes a thread out of its simulation, also when it panics.
struct Leave(SimThread);

impl Drop for Leave {
    fn drop(&mut self) {
        let Leave(me) = self;
        SIMULATED.set(false);
        CURRENT.set(None);
        me.scheduler.unpark(me.end_addr(), |_| Choice::Wake);
        let mut state = me.scheduler.state.lock();
        state.tasks[me.number].status = Status::Ended;
        if state.end.is_some() {
            return;
        }
        let drawn = if std::thread::panicking() {
            Err(End::Panicked)
        } else if me.number == 0 {
            Err(End::Returned)
        } else {
            state.draw()
        };
        match drawn {
            Ok(next) => {
                state.running = next;
                state.tasks[next].turn.notify_all();
            }
            Err(end) => me.scheduler.end(&mut state, end),
        }
    }
}
