//! Work grows as the input does, and hostile input ends in an error: counted in allocated bytes, never timed.
#![allow(clippy::disallowed_methods)]

#[path = "support/growth.rs"]
mod growth;
#[path = "support/hostile.rs"]
mod hostile;
mod support;

use growth::Growth;
use helm_render_predictor::api::{RenderArgs, template};
use hostile::{End, Hostile};
use libtest_mimic::{Arguments, Failed, Trial};
use support::gauge::{Counting, measured};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Templates call each other deep, and unoptimized frames are large.
const STACK: usize = 256 << 20;

/// What a render gave, the bytes it asked for in all, and the most that it held.
type Counted = (Result<Vec<u8>, String>, u64, i64);

/// Renders in a thread of its own, with what its allocations came to: all bytes, and the most held at once.
fn counted(chart: impl FnOnce() -> RenderArgs + Send + 'static) -> Result<Counted, Failed> {
    let run = move || {
        let args = chart();
        let (rendered, cost) = measured(|| template(&args, "4.2".parse().unwrap()).map_err(|e| e.message));
        (rendered, cost.asked, cost.memory)
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run)?;
    thread.join().map_err(|_| "panicked".into())
}

fn grows_as_the_input(case: &'static Growth) -> Result<(), Failed> {
    let asked = |size: usize| -> Result<f64, Failed> {
        let (rendered, asked, _) = counted(move || (case.chart)(size))?;
        rendered?;
        Ok(asked as f64)
    };
    let size = case.size / 4;
    let (once, twice, four) = (asked(size)?, asked(size * 2)?, asked(size * 4)?);
    // From difference to difference: what does not depend on the size does not count.
    let factor = (four - twice) / (twice - once);
    if factor > 2.6 {
        return Err(format!("{once}, {twice}, {four} bytes for once, twice, four times the size: x {factor:.2}").into());
    }
    Ok(())
}

/// Most bytes that a hostile chart may hold at once. Those that reach a limit have been let go on until then.
const MOST: i64 = 400 << 20;

fn ends(case: &'static Hostile) -> Result<(), Failed> {
    let (rendered, _, peak) = counted(case.chart)?;
    match (case.end, rendered) {
        (End::Renders, Err(error)) => return Err(error.into()),
        (End::Fails(wanted), Ok(_)) => return Err(format!("it rendered, without {wanted:?}").into()),
        (End::Fails(wanted), Err(error)) if !error.contains(wanted) => return Err(error.into()),
        _ => {}
    }
    if peak > MOST {
        return Err(format!("{peak} bytes held at once").into());
    }
    Ok(())
}

fn main() {
    let args = Arguments::from_args();
    let growths = growth::ALL.iter();
    let growths = growths.map(|case| Trial::test(format!("growth: {}", case.name), || grows_as_the_input(case)));
    let hostile = hostile::ALL.iter().filter(|case| case.quick || cfg!(not(debug_assertions)));
    let hostile = hostile.map(|case| Trial::test(format!("hostile: {}", case.name), || ends(case)));
    libtest_mimic::run(&args, growths.chain(hostile).collect()).exit();
}
