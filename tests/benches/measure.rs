//! Clocks that a busy machine does not bend: time on the processor besides time on the wall, sides in turn, least and
//! median of several rounds.

use std::fmt;
use std::fs;
use std::time::{Duration, Instant};

/// What one run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spent {
    /// On the processor, in this thread or in finished child processes.
    pub cpu: Duration,
    /// On the wall.
    pub wall: Duration,
}

/// The rounds of one side.
pub struct Rounds(Vec<Spent>);

impl Rounds {
    /// The least of all rounds, each clock on its own.
    pub fn least(&self) -> Spent {
        self.pick(|times| times[0])
    }

    /// The median of all rounds, each clock on its own.
    pub fn median(&self) -> Spent {
        self.pick(|times| times[times.len() / 2])
    }

    fn pick(&self, choose: fn(&[Duration]) -> Duration) -> Spent {
        let sorted = |of: fn(&Spent) -> Duration| {
            let mut times: Vec<Duration> = self.0.iter().map(of).collect();
            times.sort();
            choose(&times)
        };
        Spent { cpu: sorted(|s| s.cpu), wall: sorted(|s| s.wall) }
    }
}

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, median) = (self.least(), self.median());
        write!(
            f,
            "CPU {:.2?} (median {:.2?}), wall {:.2?} (median {:.2?})",
            least.cpu, median.cpu, least.wall, median.wall
        )
    }
}

/// Runs all sides in turn, `rounds` times, after one round that does not count.
pub fn in_turn<const N: usize>(rounds: usize, mut sides: [&mut dyn FnMut(); N]) -> [Rounds; N] {
    let mut all = [const { Rounds(Vec::new()) }; N];
    for round in 0..=rounds {
        for (side, into) in sides.iter_mut().zip(&mut all) {
            let spent = once(side);
            if round > 0 {
                into.0.push(spent);
            }
        }
    }
    all
}

/// Runs one thing once.
pub fn once(run: impl FnOnce()) -> Spent {
    let (cpu, wall) = (cpu(), Instant::now());
    run();
    Spent { cpu: self::cpu().saturating_sub(cpu), wall: wall.elapsed() }
}

/// Runs one thing `rounds` times.
pub fn timed(rounds: usize, mut run: impl FnMut()) -> Rounds {
    let [only] = in_turn(rounds, [&mut run]);
    only
}

/// How many times more CPU time one side took, by the least of each.
pub fn ratio(more: &Rounds, less: &Rounds) -> f64 {
    more.least().cpu.as_secs_f64() / less.least().cpu.as_secs_f64().max(1e-9)
}

/// Time on the processor so far: of this thread, by the nanosecond, and of finished child processes, by the tick.
fn cpu() -> Duration {
    let own = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let own = own.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0);
    // Behind the command's name, which may hold spaces: fields 16 and 17 are the children's times, the name is field 2.
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = fields.get(13..15).into_iter().flatten().filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_nanos(own) + Duration::from_millis(ticks * 10)
}

/// Most memory that this process held since the start, or the last [`forget_peak`], in MB.
pub fn peak_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kb = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).and_then(|l| l.trim().strip_suffix(" kB"));
    kb.and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1000
}

/// Starts the count of [`peak_mb`] at what is held now.
pub fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}
