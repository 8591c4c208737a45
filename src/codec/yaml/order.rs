//! The "natural" order of keys: digits inside keys count as numbers (`a2` before `a10`).

use std::cmp::Ordering;

use unicode_general_category::{GeneralCategory, get_general_category};

use super::style::Generation;

/// Sorts keys as Go's YAML writer does.
///
/// The older order has cycles (`10` < `1a` < `9` < `10`); for such keys Go's own result is random, ours is fixed.
pub(super) fn natural_sort<T>(items: Vec<T>, key: &impl Fn(&T) -> &str, generation: Generation) -> Vec<T> {
    // A merge sort of our own: the standard one may panic on an order with cycles.
    if items.len() < 2 {
        return items;
    }
    let mut left = items;
    let right = left.split_off(left.len() / 2);
    let left = natural_sort(left, key, generation);
    let right = natural_sort(right, key, generation);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let mut left = left.into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let from = if compare(key(b), key(a), generation) == Ordering::Less { &mut right } else { &mut left };
        merged.extend(from.next());
    }
    merged.extend(left);
    merged.extend(right);
    merged
}

/// Most keys that are compared pair by pair.
const PAIRS: usize = 200;

/// Whether sorted keys have one order only. In a cycle each start of the sort gives another result, and Go starts with
/// an order drawn at random. Of many keys, neighbours are looked at.
pub(super) fn is_settled(sorted: &[&str], generation: Generation) -> bool {
    // Only numbers inside keys make cycles.
    if sorted.iter().filter(|key| key.bytes().any(|b| b.is_ascii_digit() || !b.is_ascii())).count() < 2 {
        return true;
    }
    let ahead = |at: usize| sorted.iter().skip(at + 1).take(PAIRS.min(PAIRS * PAIRS / sorted.len()).max(2));
    let turned = |(at, key): (usize, &&str)| ahead(at).any(|later| compare(later, key, generation) == Ordering::Less);
    !sorted.iter().enumerate().any(turned)
}

fn is_letter(c: char) -> bool {
    use GeneralCategory::{LowercaseLetter, ModifierLetter, OtherLetter, TitlecaseLetter, UppercaseLetter};
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    matches!(
        get_general_category(c),
        LowercaseLetter | ModifierLetter | OtherLetter | TitlecaseLetter | UppercaseLetter
    )
}

fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { get_general_category(c) == GeneralCategory::DecimalNumber }
}

fn compare(a: &str, b: &str, generation: Generation) -> Ordering {
    let mut same = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    while !a.is_char_boundary(same) || !b.is_char_boundary(same) {
        same -= 1;
    }
    let (common, rest_a, rest_b) = (&a[..same], &a[same..], &b[same..]);
    let (Some(x), Some(y)) = (rest_a.chars().next(), rest_b.chars().next()) else {
        return rest_a.len().cmp(&rest_b.len());
    };
    match (is_letter(x), is_letter(y)) {
        (true, true) => return x.cmp(&y),
        (false, false) => {}
        (x_letter, _) => {
            let after_digit = generation == Generation::Three && common.chars().next_back().is_some_and(is_digit);
            return if x_letter == after_digit { Ordering::Less } else { Ordering::Greater };
        }
    }
    // Digits that start behind a common number (`10` and `100`) continue it: a leading zero then has weight.
    let continues = (x == '0' || y == '0') && common.chars().rev().take_while(|c| is_digit(*c)).any(|c| c != '0');
    let number = |rest: &str| {
        rest.chars().take_while(|c| is_digit(*c)).fold((i64::from(continues), 0usize), |(value, count), c| {
            (value.wrapping_mul(10).wrapping_add(i64::from(u32::from(c)) - i64::from(u32::from('0'))), count + 1)
        })
    };
    number(rest_a).cmp(&number(rest_b)).then(x.cmp(&y))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(keys: &[&str], generation: Generation) -> Vec<String> {
        let keys: Vec<String> = keys.iter().map(|k| (*k).to_owned()).collect();
        natural_sort(keys, &|k: &String| k.as_str(), generation)
    }

    #[test]
    fn numbers_in_keys_count_as_numbers() {
        let keys =
            ["ключ", "yes", "true", "a10", "a2", "a1", "a_b", "a:b", "a.b", "a-b", "a b", "B", "1.5", "1", "#x", ""];
        let expected =
            ["", "#x", "1", "1.5", "B", "a b", "a-b", "a.b", "a:b", "a_b", "a1", "a2", "a10", "true", "yes", "ключ"];
        assert_eq!(sorted(&keys, Generation::Two), expected);
    }

    #[test]
    fn keys_in_a_cycle_have_no_order_of_their_own() {
        let cases = [
            (vec!["632bd80235a0", "632bd80ddf41", "632bd817c559", "632bd82398e7"], false),
            (vec!["10", "1a", "9"], false),
            (vec!["a1", "a2", "a10", "b", "1", "2b"], true),
            (vec!["a", "b", "-"], true),
        ];
        for (keys, settled) in cases {
            let keys = sorted(&keys, Generation::Two);
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            assert_eq!(is_settled(&keys, Generation::Two), settled, "{keys:?}");
        }
        let many: Vec<String> = (0..5000).map(|i| format!("key{i}")).collect();
        assert!(is_settled(&many.iter().map(String::as_str).collect::<Vec<_>>(), Generation::Two));
    }

    #[test]
    fn an_order_with_cycles_does_not_stop_the_sort() {
        assert_eq!(sorted(&["10", "1a", "9", "10b", "9a"], Generation::Two).len(), 5);
    }
}
