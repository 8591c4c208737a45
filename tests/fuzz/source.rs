//! Where generated cases take their choices from: a seed, or a list of earlier choices that is being shrunk.

/// A row of choices. The choice 0 is always the simplest, so that smaller lists make simpler cases.
pub struct Source {
    state: u64,
    replay: Option<Vec<u32>>,
    /// The choices taken so far.
    pub taken: Vec<u32>,
}

impl Source {
    /// Choices drawn from a seed.
    pub fn new(seed: u64) -> Self {
        Source {
            state: seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x5851_f42d_4c95_7f2d,
            replay: None,
            taken: Vec::new(),
        }
    }

    /// Choices of an earlier run; the simplest ones when they run out.
    pub fn replay(choices: Vec<u32>) -> Self {
        Source { state: 0, replay: Some(choices), taken: Vec::new() }
    }

    fn next(&mut self) -> u32 {
        if let Some(choices) = &self.replay {
            return choices.get(self.taken.len()).copied().unwrap_or(0);
        }
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 33) as u32
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let choice = self.next() % n.max(1) as u32;
        self.taken.push(choice);
        choice as usize
    }

    /// True in that many of a hundred draws.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// One of the options; the first is the simplest.
    pub fn pick<T: Clone>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())].clone()
    }

    /// One of the options, rarely one of the odd ones.
    pub fn mostly<T: Clone>(&mut self, options: &[T], odd: &[T]) -> T {
        if self.chance(3) { self.pick(odd) } else { self.pick(options) }
    }

    /// Up to `most` texts of that generator, behind each other.
    pub fn some(&mut self, most: usize, mut part: impl FnMut(&mut Self) -> String) -> String {
        let count = self.below(most + 1);
        (0..count).map(|_| part(self)).collect()
    }
}

/// Smaller lists of choices that still fail, as far as `budget` attempts lead.
pub fn shrink(mut choices: Vec<u32>, budget: usize, mut fails: impl FnMut(&[u32]) -> Option<Vec<u32>>) -> Vec<u32> {
    let mut left = budget;
    let mut attempt = |candidate: Vec<u32>, best: &mut Vec<u32>| -> bool {
        if left == 0 {
            return false;
        }
        left -= 1;
        let Some(taken) = fails(&candidate) else { return false };
        let smaller = (taken.len(), taken.iter().map(|c| u64::from(*c)).sum::<u64>())
            < (best.len(), best.iter().map(|c| u64::from(*c)).sum());
        if smaller {
            *best = taken;
        }
        smaller
    };
    let mut size = choices.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < choices.len() {
            let end = (at + size).min(choices.len());
            let without = [&choices[..at], &choices[end..]].concat();
            let mut zeros = choices.clone();
            zeros[at..end].fill(0);
            if !attempt(without, &mut choices) && !attempt(zeros, &mut choices) {
                at += size;
            }
        }
        size /= 2;
    }
    choices
}
