//! The parts together, compared with what can be told by looking at every pair of places.

use proptest::prelude::*;

use super::*;

const USUAL: Passages = Passages { min_words: 6, min_chars: 13, bridge: 2, seconds: None };

fn found(left: &str, right: &str, options: Passages) -> Vec<(String, String, usize, bool)> {
    let shared = options.shared(left, right, None);
    assert!(!shared.coarse);
    let text = |text: &str, (start, end): (usize, usize)| text[start..end].to_owned();
    shared.passages.iter().map(|p| (text(left, p.left), text(right, p.right), p.words, p.equal.len() == 1)).collect()
}

fn one(left: &str, right: &str, words: usize, exact: bool) -> Vec<(String, String, usize, bool)> {
    vec![(left.to_owned(), right.to_owned(), words, exact)]
}

#[test]
fn known_passages() {
    let cat = "the cat sat on the very old mat";
    let cat_sat = "the cat sat on the very";
    assert_eq!(found(&format!("Yes, {cat}!"), &format!("No: {cat}?"), USUAL), one(cat, cat, 8, true));
    // A changed, a left-out and an added word; two changed ones.
    for (right, words) in [
        ("the cat sat on a very old mat", 7),
        ("the cat sat on very old mat", 7),
        ("the cat sat right on the very old mat", 8),
        ("the cat sat in a very old mat", 6),
    ] {
        assert_eq!(found(cat, right, USUAL), one(cat, right, words, false), "{right}");
    }
    // One word is too little to go on with.
    assert_eq!(found(cat, "the cat sat on the very fat mat", USUAL), one(cat_sat, cat_sat, 6, true));
    assert_eq!(found(cat, "the cat sat on the very fat old mat", USUAL).len(), 1);
    // Three units that differ are too many; five words are too few.
    assert_eq!(found("a b c d e 1 2 3 f g h i j", "a b c d e 4 5 6 f g h i j", USUAL), []);
    let edited = "a b c d e 1 2 f g h i j";
    assert_eq!(found(edited, "a b c d e 4 5 f g h i j", USUAL), one(edited, "a b c d e 4 5 f g h i j", 10, false));
    // An equal unit between two that differ counts.
    let island = "a b c 1 d 2 e f g";
    assert_eq!(found(island, "a b c 3 d 4 e f g", USUAL), one(island, "a b c 3 d 4 e f g", 7, false));
    let han = "我们今天讨论自然语言处理的";
    assert_eq!(found(&format!("{han}历史"), &format!("昨天{han}"), USUAL), one(han, han, 13, true));
    assert_eq!(found(&han[3..], &format!("昨天{han}"), USUAL), []);
    // Four characters that differ are bridged, five are not.
    let (left, right) = ("我们今天讨论自甲乙丙丁然语言处理的", "我们今天讨论自子丑寅卯然语言处理的");
    assert_eq!(found(left, right, USUAL), one(left, right, 13, false));
    assert_eq!(found(&left.replace('丁', "丁戊"), &right.replace('卯', "卯辰"), USUAL), []);
    // In a mixed gap, what is next to the run decides.
    assert_eq!(found(&left.replace('甲', "x"), &right.replace('子', "y"), USUAL), []);
    assert_eq!(found(&left.replace('丁', "x"), &right.replace('卯', "y"), USUAL).len(), 1);
    // Six characters of thirteen and three words of six and a half are not enough, with another they are.
    assert_eq!(found("我们今天讨论 x y z", "我们今天讨论 x y z", USUAL), []);
    assert_eq!(found("我们今天讨论自 x y z", "我们今天讨论自 x y z", USUAL).len(), 1);
    for (left, right) in [("", ""), ("a", ""), ("?!", "?!"), ("a b c", "a b c")] {
        assert_eq!(found(left, right, USUAL), []);
    }
}

#[test]
fn another_writing_is_the_same_at_its_own_places() {
    let plain = "这些书籍记载了古代汉语的历史";
    for written in [
        "這些書籍記載了古代漢語的歷史",
        "这 些 书 籍　记载了\n古代汉语的历史",
        "这些书籍&#35760;载了古代汉语的&#21382;史",
    ] {
        let (left, right) = (format!("昨天 {plain}"), format!("他说&nbsp;{written}。"));
        assert_eq!(found(&left, &right, USUAL), one(plain, written, 14, true));
    }
    let (plain, written) = ("ال كتاب على ال طاولة في 34", "ال كِتـــابُ على&nbsp;ال طاوِلة في ٣٤");
    assert_eq!(found(plain, written, USUAL), one(plain, written, 7, true));
}

#[test]
fn moved_passages_are_found() {
    let sentences: Vec<String> =
        (0..9).map(|s| (0..8).map(|w| format!("s{s}w{w}")).collect::<Vec<_>>().join(" ")).collect();
    let turned: Vec<String> = sentences.iter().rev().cloned().collect();
    let shared = USUAL.shared(&sentences.join(". "), &turned.join(". "), None);
    assert_eq!((shared.passages.len(), shared.left.covered, shared.right.covered), (9, 72, 72));
}

#[test]
fn what_is_there_twice_is_covered_twice() {
    let once = "one two three four five six seven";
    let shared = USUAL.shared(once, &format!("{once}. And {once}"), None);
    assert_eq!((shared.left.covered, shared.right.covered, shared.passages.len()), (7, 14, 2));
}

/// Units of `here` in a run of enough equal units.
fn naive_cover(here: &str, there: &str, options: Passages) -> usize {
    let measure = Measure::new(options.min_words, options.min_chars);
    let (here, there) = (Cut::new(here, measure), Cut::new(there, measure));
    let mut covered = vec![false; here.units.len()];
    for at in 0..here.units.len() {
        for place in 0..there.units.len() {
            let pairs = here.units[at..].iter().zip(&there.units[place..]);
            let end = at + pairs.take_while(|(a, b)| a.key == b.key).count();
            if here.weights[end] - here.weights[at] >= measure.passage() {
                covered[at..end].fill(true);
            }
        }
    }
    covered.iter().filter(|&&covered| covered).count()
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof!["([a-d] ){0,60}", "[我你他她]{0,60}", "([ab] |[我你]){0,60}", "([a-z] ){0,40}"]
}

proptest! {
    #[test]
    fn exact_cover_equals_the_naive_one(a in texts(), b in texts(), min_words in 1usize..7, min_chars in 1usize..9) {
        let options = Passages { min_words, min_chars, bridge: 0, seconds: None };
        let shared = options.shared(&a, &b, None);
        prop_assert_eq!(shared.left.covered, naive_cover(&a, &b, options));
        prop_assert_eq!(shared.right.covered, naive_cover(&b, &a, options));
        prop_assert!(shared.passages.iter().all(|passage| passage.equal.len() == 1));
    }

    #[test]
    fn passages_hold_equal_units_in_order(
        a in texts(), b in texts(), min_words in 1usize..7, min_chars in 1usize..9, bridge in 0usize..4
    ) {
        let options = Passages { min_words, min_chars, bridge, seconds: None };
        let shared = options.shared(&a, &b, None);
        let keys = |text: &str, (start, end): (usize, usize)| {
            units(&text[start..end]).iter().map(|unit| unit.key).collect::<Vec<_>>()
        };
        let most = |text: &str| if text.is_ascii() { bridge } else { 2 * bridge };
        let measure = Measure::new(min_words, min_chars);
        for passage in &shared.passages {
            let mut total = 0;
            for (at, &[left, right]) in passage.equal.iter().enumerate() {
                prop_assert_eq!(keys(&a, left), keys(&b, right));
                let cut = Cut::new(&a[left.0..left.1], measure);
                total += cut.weights[cut.units.len()];
                if let Some(&[next_left, next_right]) = passage.equal.get(at + 1) {
                    prop_assert!(left.1 <= next_left.0 && right.1 <= next_right.0);
                    prop_assert!(keys(&a, (left.1, next_left.0)).len() <= most(&a));
                    prop_assert!(keys(&b, (right.1, next_right.0)).len() <= most(&b));
                }
            }
            prop_assert!(total >= measure.passage());
        }
        // Bridging only adds.
        prop_assert!(shared.left.covered >= naive_cover(&a, &b, options));
        prop_assert!(shared.left.covered <= shared.left.units && shared.left.containment <= 1.0);
    }

    #[test]
    fn the_order_of_the_texts_does_not_matter(a in texts(), b in texts()) {
        let (on, back) = (USUAL.shared(&a, &b, None), USUAL.shared(&b, &a, None));
        let mut turned: Vec<_> = back.passages.iter().map(|p| (p.right, p.left, p.words)).collect();
        turned.sort_unstable();
        prop_assert_eq!(on.passages.iter().map(|p| (p.left, p.right, p.words)).collect::<Vec<_>>(), turned);
        prop_assert_eq!((on.left, on.right), (back.right, back.left));
    }

    #[test]
    fn a_text_shares_all_of_itself(text in "[a-z]{1,5}( [a-z]{1,5}){5,40}") {
        let end = (0, text.len());
        let passages = USUAL.shared(&text, &text, None).passages;
        prop_assert_eq!(passages.iter().map(|p| (p.left, p.right)).collect::<Vec<_>>(), vec![(end, end)]);
    }

    #[test]
    fn the_coarse_answer_is_part_of_the_fine_one(a in texts(), b in texts()) {
        let (fine, coarse) = (USUAL.shared(&a, &b, None), Passages { seconds: Some(0.0), ..USUAL }.shared(&a, &b, None));
        prop_assert!(coarse.left.covered <= fine.left.covered && coarse.right.covered <= fine.right.covered);
    }
}

/// Texts that repeat themselves, in about as many words as a megabyte holds.
fn hostile(words: usize) -> Vec<(&'static str, String)> {
    let spread = |letters: &mut dyn Iterator<Item = char>| {
        letters.take(words).flat_map(|letter| [letter, ' ']).collect::<String>()
    };
    let mut fibonacci = vec!['a', 'b'];
    let mut before = 1;
    while fibonacci.len() < words {
        let length = fibonacci.len();
        fibonacci.extend_from_within(..before);
        before = length;
    }
    let mut state = 1u32;
    let mut shifted = std::iter::repeat_with(move || {
        // A register of 20 bits that goes through all states but one: nearly a de Bruijn sequence.
        let bit = (state ^ state >> 3) & 1;
        state = state >> 1 | bit << 19;
        if state & 1 == 1 { 'a' } else { 'b' }
    });
    vec![
        ("one word", spread(&mut std::iter::repeat('a'))),
        ("two words", spread(&mut "ab".chars().cycle())),
        ("Fibonacci", spread(&mut fibonacci.into_iter())),
        ("all windows", spread(&mut shifted)),
        ("nearly periodic", spread(&mut "abcd".chars().cycle())),
        ("with a change", spread(&mut "abcx".chars().cycle())),
    ]
}

#[test]
fn repetition_stays_near_linear() {
    let texts = hostile(50_000);
    for (name, left) in &texts {
        for (other, right) in &texts {
            let start = Instant::now();
            let shared = USUAL.shared(left, &right[..right.len() / 2], None);
            // Quadratic would be minutes; this is a test of the slow build on a busy machine.
            assert!(start.elapsed().as_secs() < 20, "{name} and {other}: {:?}", start.elapsed());
            if name == other {
                assert_eq!(shared.right.covered, shared.right.units, "{name}");
            }
        }
    }
}

#[test]
fn a_deadline_is_kept_and_said() {
    let texts = hostile(200_000);
    let start = Instant::now();
    let shared = Passages { seconds: Some(0.01), ..USUAL }.shared(&texts[2].1, &texts[3].1, None);
    assert!(shared.coarse && start.elapsed().as_secs() < 10);
    let stop = AtomicBool::new(true);
    assert!(USUAL.shared(&texts[2].1, &texts[3].1, Some(&stop)).coarse);
}
