//! What a piece of work costs: the memory and the time of the thread that does it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
    static MOST: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, counting what each thread asks for and holds.
pub struct Counting;

fn count(asked: usize, freed: usize) {
    let _ = ASKED.try_with(|all| all.set(all.get() + asked as u64));
    let held = HELD.try_with(|held| {
        held.set(held.get() + asked as i64 - freed as i64);
        held.get()
    });
    let _ = MOST.try_with(|most| most.set(most.get().max(held.unwrap_or(0))));
}

// SAFETY: all work is the system allocator's; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(0, layout.size());
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        unsafe { System.realloc(at, layout, size) }
    }
}

/// What something cost.
pub struct Cost {
    /// All bytes that were asked for.
    pub asked: u64,
    /// Most bytes that were held at once.
    pub memory: i64,
    /// Time on the processor.
    pub time: Duration,
}

/// Does the work and measures it.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let (asked, held) = (ASKED.get(), HELD.get());
    MOST.set(held);
    let (clock, start) = (processor_time(), Instant::now());
    let result = work();
    let time = processor_time().zip(clock).map_or(start.elapsed(), |(end, begin)| end.saturating_sub(begin));
    (result, Cost { asked: ASKED.get() - asked, memory: MOST.get() - held, time })
}

/// The time that this thread ran, where the system tells.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
