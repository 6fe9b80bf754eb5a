//! A pool counted as exhausted while its pages were merely on their way to or from a slow disk: a batch marks
//! every dirty frame as being written, so other threads found nothing to evict and nothing to write, and gave
//! up. Time in which I/O is under way must not count.

use super::*;
use base::sync::Event;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A file whose reads or writes stop at a gate for longer than a pool without progress waits.
#[derive(Debug)]
struct SlowFile {
    inner: Arc<dyn File>,
    slow_reads: AtomicBool,
    slow_writes: AtomicBool,
    /// Notified when an I/O has come to the gate.
    arrived: Event,
    never: Event,
}

impl SlowFile {
    fn new(disk: &SimDisk) -> Arc<SlowFile> {
        let (slow_reads, slow_writes) = (AtomicBool::new(false), AtomicBool::new(false));
        let (arrived, never) = (Event::new(), Event::new());
        Arc::new(SlowFile { inner: open(disk), slow_reads, slow_writes, arrived, never })
    }

    fn pass(&self, slow: &AtomicBool) {
        if slow.swap(false, Ordering::AcqRel) {
            self.arrived.notify_all();
            // Three times the wait of a pool, without a notification.
            let open = env::deadline_in(Duration::from_millis(600));
            self.never.wait(self.never.ticket(), Some(open));
        }
    }
}

impl File for SlowFile {
    fn path(&self) -> &Path {
        self.inner.path()
    }
    fn len(&self) -> env::Result<u64> {
        self.inner.len()
    }
    fn read_at(&self, buf: &mut [u8], offset: u64) -> env::Result<usize> {
        self.pass(&self.slow_reads);
        self.inner.read_at(buf, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> env::Result<()> {
        self.write_vectored_at(&[bytes], offset)
    }
    fn write_vectored_at(&self, parts: &[&[u8]], offset: u64) -> env::Result<()> {
        self.pass(&self.slow_writes);
        self.inner.write_vectored_at(parts, offset)
    }
    fn sync_data(&self) -> env::Result<()> {
        self.inner.sync_data()
    }
    fn set_len(&self, len: u64) -> env::Result<()> {
        self.inner.set_len(len)
    }
    fn allocate(&self, offset: u64, len: u64) -> env::Result<()> {
        self.inner.allocate(offset, len)
    }
    fn punch_hole(&self, offset: u64, len: u64) -> env::Result<()> {
        self.inner.punch_hole(offset, len)
    }
    fn prefetch(&self, offset: u64, len: u64) {
        self.inner.prefetch(offset, len);
    }
}

fn pool_on(file: &Arc<SlowFile>, background: bool) -> Arc<Pool> {
    let config = PoolConfig { bytes: 8 * PAGE_SIZE, background };
    Pool::new(Arc::clone(file) as Arc<dyn File>, config, Arc::new(NoLog)).unwrap()
}

#[test]
fn a_slow_write_of_all_pages_delays_others_and_does_not_fail_them() {
    let disk = SimDisk::new();
    let file = SlowFile::new(&disk);
    let pool = pool_on(&file, false);
    fill(&pool, 8);
    file.slow_writes.store(true, Ordering::Release);
    let ticket = file.arrived.ticket();
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(pool.write_back_step(64), Ok(8)));
        file.arrived.wait(ticket, None);
        let waiters: Vec<_> = (9..12)
            .map(|page| {
                (
                    page,
                    scope.spawn({
                        let pool = &pool;
                        move || store(&mut pool.create(PageNo(page)).unwrap(), page * 10)
                    }),
                )
            })
            .collect();
        for (page, waiter) in waiters {
            waiter.join().unwrap();
            assert_eq!(value(&pool, page), page * 10);
        }
    });
}

#[test]
fn a_slow_write_in_the_background_delays_and_does_not_fail() {
    let disk = SimDisk::new();
    let file = SlowFile::new(&disk);
    let pool = pool_on(&file, true);
    file.slow_writes.store(true, Ordering::Release);
    fill(&pool, 40);
    (1..=40).for_each(|page| assert_eq!(value(&pool, page), page * 10));
    pool.close().unwrap();
}

#[test]
fn a_slow_read_into_the_last_frame_delays_others_and_does_not_fail_them() {
    let disk = SimDisk::new();
    let file = SlowFile::new(&disk);
    let pool = pool_on(&file, false);
    fill(&pool, 20);
    pool.flush_all().unwrap();
    let held: Vec<_> = (1..=7).map(|page| pool.shared(PageNo(page)).unwrap()).collect();
    file.slow_reads.store(true, Ordering::Release);
    let ticket = file.arrived.ticket();
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(value(&pool, 8), 80));
        file.arrived.wait(ticket, None);
        assert_eq!(value(&pool, 9), 90);
    });
    drop(held);
}
