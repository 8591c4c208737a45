//! What happens to the time when the input doubles, and to input that asks for too much.

use helm_render_predictor::api::template;

use crate::measure::{Spent, forget_peak, once, peak_mb, ratio, timed};
use crate::{growth, hostile};

/// Every growth at twice, four and eight times its size: a factor near 2 each time is linear.
pub fn growing() {
    let helm = "4.2".parse().unwrap();
    for case in growth::ALL {
        let sizes = [2, 4, 8].map(|times| {
            let args = (case.chart)(case.size * times);
            timed(3, || drop(template(&args, helm).unwrap_or_else(|e| panic!("{}: {}", case.name, e.message))))
        });
        let [small, middle, large] = &sizes;
        let factors = [ratio(middle, small), ratio(large, middle)];
        let flag = if factors[1] > 2.6 { "  <-- more than linear" } else { "" };
        println!(
            "{:<50} {:>10.2?}, doubled: x {:.2}, again: x {:.2}{flag}",
            case.name,
            small.least().cpu,
            factors[0],
            factors[1]
        );
    }
}

/// Every hostile chart once: time, memory, and how it ended.
pub fn hostile() {
    let helm = "4.2".parse().unwrap();
    for case in hostile::ALL {
        let args = (case.chart)();
        forget_peak();
        let before = peak_mb();
        let mut end = String::new();
        let Spent { cpu, .. } = once(|| {
            end = match template(&args, helm) {
                Ok(text) => format!("{} bytes", text.len()),
                Err(error) => {
                    let from = error.message.find("limit reached").unwrap_or(0);
                    error.message[from..].chars().take(70).collect()
                }
            }
        });
        let (memory, limited) = (peak_mb().saturating_sub(before), end.contains("limit reached"));
        let flag = if !limited && (memory > 200 || cpu.as_secs_f64() > 1.0) { "  <-- without a limit" } else { "" };
        println!("{:<52} {cpu:>10.2?} {memory:>5} MB  {end:?}{flag}", case.name);
    }
}
