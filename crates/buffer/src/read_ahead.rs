//! Read-ahead: pages read in runs, by threads of their own, before they are needed.
//!
//! A request is a hint. Pages that are resident, latched, or find no free frame are skipped, and so are those
//! that cannot be read or fail their check: the thread that needs them reads them again and gets the error.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use base::PageNo;
use base::sync::{Event, HeldLatch, LatchLevel, Mutex, critical};
use env::Thread;
use page::PAGE_SIZE;

use crate::error::{Error, Result};
use crate::file_offset::offset_of;
use crate::guard::ExclusiveHold;
use crate::pool::Pool;
use crate::table::Entry;

/// Threads that read ahead: runs in one order on disk need one, leaves that lie anywhere keep several busy.
const READERS: usize = 4;
/// Pages read in one request of the device: half a MiB.
const RUN_PAGES: usize = 32;
/// Pages that may be waiting to be read; what comes on top is dropped.
const QUEUE_PAGES: usize = 1024;
/// Frames that a reader checks to free one.
const LOOKS_MAX: u32 = 64;

/// A page to be read, and whether its first use asks for more.
#[derive(Clone, Copy, Debug)]
struct Request {
    page: PageNo,
    asks_for_more: bool,
}

/// The pool's side of the reading threads.
#[derive(Debug)]
pub(crate) struct Readers {
    enabled: bool,
    shared: Arc<Shared>,
    threads: Mutex<Vec<Thread<()>>>,
}

/// What pool and threads share; it outlives the pool while a thread runs.
#[derive(Debug)]
struct Shared {
    queue: Mutex<VecDeque<Request>>,
    wanted: Event,
    stop: AtomicBool,
}

impl Readers {
    pub(crate) fn new(enabled: bool) -> Self {
        let queue = Mutex::new(LatchLevel::Leaf, VecDeque::new());
        let shared = Shared { queue, wanted: Event::new(), stop: AtomicBool::new(false) };
        Readers { enabled, shared: Arc::new(shared), threads: Mutex::new(LatchLevel::Leaf, Vec::new()) }
    }

    /// Starts the threads of `pool`. They do not keep the pool alive.
    pub(crate) fn start(pool: &Arc<Pool>) -> Result<()> {
        for _ in 0..READERS {
            let (weak, shared) = (Arc::downgrade(pool), Arc::clone(&pool.readers.shared));
            let thread =
                env::spawn_background("page-reader", move || run(&weak, &shared)).map_err(Error::io)?;
            pool.readers.threads.lock().push(thread);
        }
        Ok(())
    }

    /// Ends the threads after the runs they are at, and waits for them.
    pub(crate) fn stop(&self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.wanted.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock());
        // The last owner of a pool may be one of the threads, at the end of a run; it ends by itself.
        for thread in threads.into_iter().filter(|thread| !thread.is_current()) {
            thread.join();
        }
    }

    fn request(&self, requests: impl Iterator<Item = Request>) {
        let mut queue = self.shared.queue.lock();
        let room = QUEUE_PAGES.saturating_sub(queue.len());
        queue.extend(requests.take(room));
        drop(queue);
        self.shared.wanted.notify_all();
    }
}

/// Takes the longest run of adjacent pages that begins the queue.
fn take_run(queue: &mut VecDeque<Request>) -> Vec<Request> {
    let mut run: Vec<Request> = queue.pop_front().into_iter().collect();
    while let Some(last) = run.last()
        && run.len() < RUN_PAGES
        && queue.front().is_some_and(|next| u64::from(next.page.0) == u64::from(last.page.0) + 1)
    {
        run.extend(queue.pop_front());
    }
    run
}

/// Reads what is asked for, then sleeps until more is.
fn run(pool: &Weak<Pool>, shared: &Shared) {
    loop {
        let ticket = shared.wanted.ticket();
        if shared.stop.load(Ordering::Acquire) {
            return;
        }
        let run = take_run(&mut shared.queue.lock());
        if run.is_empty() {
            shared.wanted.wait(ticket, None);
            continue;
        }
        let Some(pool) = pool.upgrade() else { return };
        pool.load_run(&run);
    }
}

/// A page about to be read: latched exclusively, with a frame that only this thread owns.
struct Loading<'p> {
    request: Request,
    entry: &'p Entry,
    frame: u32,
    // Dropped in this order: the latch goes first.
    _hold: ExclusiveHold<'p>,
    _held: HeldLatch,
}

impl Pool {
    /// Starts reading those of `pages` that are not resident, without waiting for them. Without background
    /// threads the caller reads them itself, in runs.
    pub fn prefetch(&self, pages: &[PageNo]) {
        let request = |&page: &PageNo| Request { page, asks_for_more: false };
        self.request_absent(pages.iter().map(request));
    }

    /// [`Pool::prefetch`] for a scan that [`Pool::shared_in_order`] takes through `pages`: the scan is asked
    /// to request more when it reaches the middle of them.
    pub fn read_ahead(&self, pages: &[PageNo]) {
        let pages = &pages[..pages.len().min(self.read_ahead_max())];
        let middle = pages.len() / 2;
        let request = |(n, &page): (usize, &PageNo)| Request { page, asks_for_more: n == middle };
        self.request_absent(pages.iter().enumerate().map(request));
    }

    /// Most pages of one request: more would push out what was read ahead before it is used.
    fn read_ahead_max(&self) -> usize {
        self.frames.count() as usize / 8
    }

    fn request_absent(&self, requests: impl Iterator<Item = Request>) {
        let absent = requests
            .take(self.read_ahead_max())
            .filter(|request| self.table.entry(request.page).frame() == 0);
        if self.readers.enabled {
            self.readers.request(absent);
            return;
        }
        let mut queue: VecDeque<Request> = absent.collect();
        while !queue.is_empty() {
            self.load_run(&take_run(&mut queue));
        }
    }

    /// Reads adjacent pages with one request, as far as they can be had without waiting.
    fn load_run(&self, run: &[Request]) {
        let section = critical::enter();
        let mut rest = run;
        while !rest.is_empty() {
            let skipped = rest.iter().position(|request| self.table.entry(request.page).frame() == 0);
            rest = &rest[skipped.unwrap_or(rest.len())..];
            let loading: Vec<Loading<'_>> = rest.iter().map_while(|&request| self.prepare(request)).collect();
            // One that cannot be had is passed over.
            rest = &rest[rest.len().min(loading.len() + 1)..];
            self.load_prepared(loading);
        }
        drop(section);
    }

    /// Latches a page that is not resident and finds a frame for it; `None` if either means waiting.
    fn prepare(&self, request: Request) -> Option<Loading<'_>> {
        let entry = self.table.entry(request.page);
        if !entry.latch.try_exclusive() {
            return None;
        }
        let (hold, held) = (ExclusiveHold::adopt(&entry.latch), LatchLevel::Page.try_acquire());
        if entry.frame() != 0 {
            return None;
        }
        let frame = self.frame_without_waiting(LOOKS_MAX)?;
        Some(Loading { request, entry, frame, _hold: hold, _held: held })
    }

    /// Reads the pages, adjacent ones, into their frames and makes those resident that are whole.
    fn load_prepared(&self, loading: Vec<Loading<'_>>) {
        let Some(first) = loading.first() else { return };
        let mut parts: Vec<&mut [u8]> = loading
            .iter()
            .map(|page| {
                #[expect(unsafe_code, reason = "frames are reached by address")]
                // SAFETY: this thread took the frame from the free list and owns it (lib.rs, invariant 2).
                let bytes = unsafe { self.frames.bytes(page.frame).as_mut() };
                &mut bytes[..]
            })
            .collect();
        self.counters.reads.add(loading.len() as u64);
        self.reads_under_way.fetch_add(1, Ordering::Relaxed);
        let read = self.file.read_vectored_at(&mut parts, offset_of(first.request.page));
        self.reads_under_way.fetch_sub(1, Ordering::Relaxed);
        let whole = read.unwrap_or(0) / PAGE_SIZE;
        for (n, page) in loading.into_iter().enumerate() {
            let Request { page: page_no, asks_for_more } = page.request;
            #[expect(unsafe_code, reason = "frames are reached by address")]
            // SAFETY: as above; `parts` is not used any more.
            let bytes = unsafe { self.frames.bytes(page.frame).as_ref() };
            if n < whole && self.verify(page_no, bytes).is_ok() {
                self.install(page_no, page.entry, page.frame);
                page.entry.mark_unused(asks_for_more);
            } else {
                self.frames.give_back(page.frame);
            }
        }
    }
}
