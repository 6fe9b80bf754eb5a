use super::*;
use base::prng::Prng;
use std::sync::atomic::{AtomicU32, Ordering};

const PAGES: u32 = 200;
const THREADS: u64 = 4;
const ROUNDS: u32 = 3000;

/// Threads increment counters in random pages of a pool that holds a twelfth of them; no increment may be
/// lost.
fn increments_survive(disk: &SimDisk, pool: &Pool) {
    for page in 1..=PAGES {
        store(&mut pool.create(PageNo(page)).unwrap(), 0);
    }
    let expected: Vec<AtomicU32> = (0..=PAGES).map(|_| AtomicU32::new(0)).collect();
    std::thread::scope(|scope| {
        for seed in 0..THREADS {
            let expected = &expected;
            scope.spawn(move || work(pool, expected, seed));
        }
    });
    let sum: u32 = (1..=PAGES).map(|page| value(pool, page)).sum();
    assert!(sum > 0);
    pool.close().unwrap();
    let reopened = manual_pool(disk, 16);
    for page in 1..=PAGES {
        assert_eq!(value(&reopened, page), expected[page as usize].load(Ordering::Relaxed));
    }
}

fn work(pool: &Pool, expected: &[AtomicU32], seed: u64) {
    let mut prng = Prng::new(seed);
    for _ in 0..ROUNDS {
        let page = prng.below(u64::from(PAGES)) as u32 + 1;
        match prng.below(4) {
            0 => {
                let mut guard = pool.exclusive(PageNo(page)).unwrap();
                assert_eq!(guard.page().page_no(), PageNo(page));
                let next = guard.page().version() + 1;
                store(&mut guard, next);
                expected[page as usize].store(next, Ordering::Relaxed);
            }
            1 => {
                // Two pages at once, in ascending order as the latch order demands.
                let (a, b) = (pool.shared(PageNo(page)).unwrap(), page % PAGES + 1);
                if b > page {
                    assert_eq!(pool.shared_cold(PageNo(b)).unwrap().page().page_no(), PageNo(b));
                }
                assert_eq!(a.page().page_no(), PageNo(page));
            }
            2 => {
                if let Some(guard) = pool.try_exclusive(PageNo(page)).unwrap() {
                    assert_eq!(guard.downgrade().page().page_no(), PageNo(page));
                }
            }
            _ => assert!(value(pool, page) <= expected[page as usize].load(Ordering::Relaxed) + 1),
        }
    }
}

#[test]
fn no_change_is_lost_under_a_tiny_pool_with_a_background_thread() {
    let disk = SimDisk::new();
    increments_survive(&disk, &background_pool(&disk, 16));
}

#[test]
fn no_change_is_lost_under_a_tiny_pool_without_one() {
    let disk = SimDisk::new();
    increments_survive(&disk, &manual_pool(&disk, 16));
}

#[test]
fn flushing_and_watching_while_pages_change_disturb_nothing() {
    let disk = SimDisk::new();
    let pool = background_pool(&disk, 32);
    fill(&pool, PAGES);
    let expected: Vec<AtomicU32> = (0..=PAGES).map(|page| AtomicU32::new(page * 10)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| work(&pool, &expected, 1));
        scope.spawn(|| work(&pool, &expected, 2));
        for _ in 0..20 {
            pool.flush_all().unwrap();
            pool.prefetch(&[PageNo(1), PageNo(2), PageNo(9)]);
            assert!(pool.stats().frames_free <= 32);
        }
    });
    pool.close().unwrap();
    let reopened = manual_pool(&disk, 16);
    (1..=PAGES).for_each(|page| {
        assert_eq!(value(&reopened, page), expected[page as usize].load(Ordering::Relaxed));
    });
}
