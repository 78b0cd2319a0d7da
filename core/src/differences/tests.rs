use super::*;

fn negation() -> Negation {
    let list = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<String>>();
    Negation::new(&list("not no never не"), &list("n'"), &list("n't"), &list("不 没"), &list("不过 特别"))
}

fn tokens(text: &str) -> Tokens {
    Tokens::of(text, &negation())
}

#[test]
fn known_numbers() {
    for (text, expected) in [
        ("pi is 3.14, not 314", vec!["3.14", "314"]),
        ("-5 +5 5 −5", vec!["-5", "+5", "5", "-5"]),
        ("COVID-19, pages 10-20, x=-5", vec!["19", "10", "20", "-5"]),
        ("1,000,000 is 1000000; 3,14 1,2,3 1,000.5", vec!["1000000", "1000000", "3,14", "1,2,3", "1000.5"]),
        ("-$5 costs .5 and -.5 ...5", vec!["-5", ".5", "-.5", "5"]),
        ("B2B 5mg v2 １２", vec!["b2b", "5mg", "v2", "12"]),
        ("2024年3月，一些人，二十人，第三名", vec!["2024", "3", "二十", "三"]),
        ("(a)-5 C++11 a--5", vec!["5", "11", "5"]),
        ("๑๒ หน้า", vec!["12"]),
    ] {
        assert_eq!(tokens(text).numbers, expected, "{text}");
    }
}

#[test]
fn known_negations() {
    for (text, expected) in [
        ("Do NOT, don't and don’t: never!", vec!["not", "don't", "don't", "never"]),
        ("nothing known", vec![]),
        ("我不知道，不过没有特别", vec!["不", "没"]),
        ("я не знаю", vec!["не"]),
        ("ce n’est rien", vec!["n'est"]),
    ] {
        assert_eq!(tokens(text).negations, expected, "{text}");
    }
}

#[test]
fn known_symbols() {
    for (text, expected) in [
        ("a == b != c, x<=y", vec!["==", "!=", "<="]),
        ("C, C++ and C#; C++. C++11", vec!["++", "#", "++", "++"]),
        ("if (!ready) stop!", vec!["!"]),
        ("3+5 +5 x=-5 (a)+5", vec!["+", "=", "+"]),
        ("> quoted\n>> twice\n* item\n# head\n=====\na > b", vec![">"]),
        ("**bold** and *slanted*, a*b, a * b", vec!["*", "*"]),
        ("<b>bold</b> <br/> a<b", vec!["<"]),
        ("$5 €6 7% ©", vec!["$", "€", "%"]),
        ("fine 😀👍🏽 → ≠", vec!["😀", "👍", "→", "≠"]),
        ("a - b -- c / d; e: f? yes! && x -> y", vec!["&&", "->"]),
        ("😀 first", vec!["😀"]),
    ] {
        assert_eq!(tokens(text).symbols, expected, "{text}");
    }
}

fn differ(left: &str, right: &str) -> (u8, u32) {
    let read = |text| Traits::of(text, &negation(), true, &mut String::new());
    let found = read(left).differences(&read(right));
    assert_eq!(differences_one(right, &[left, right], &negation()), [found, (Aspects::default(), 0)]);
    (found.0.bits(), found.1)
}

#[test]
fn known_differences() {
    assert_eq!(differ("Take two pills.", "take TWO pills"), (0, 0));
    assert_eq!(differ("take it", "do not take it"), (2, 2));
    assert_eq!(differ("do not take it", "take it"), (2, 0));
    assert_eq!(differ("man bites dog", "dog bites man"), (8, 0));
    assert_eq!(differ("a == b", "a != b"), (4, 0));
    assert_eq!(differ("C", "C++"), (4, 0));
    assert_eq!(differ("at -5 degrees", "at +5 degrees"), (1, 0));
    assert_eq!(differ("a a b", "a b b"), (0, 1));
}

#[test]
fn texts_agree_under_a_rule() {
    let agree = |names: &[&str], left: &str, right: &str| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let rule = Distinguish::new(Aspects::parse(&names).unwrap(), Arc::new(negation()), 0.0);
        let marks = |text| rule.marks(text, &mut String::new());
        marks(left).agreement(&marks(right))
    };
    assert_eq!(agree(&["numbers"], "take 5", "take 6"), 0.0);
    assert_eq!(agree(&["negation", "symbols"], "take 5", "take 6"), 1.0);
    assert_eq!(agree(&["order"], "one two three four", "two one three five"), 0.5);
    assert_eq!(agree(&["order"], "one two three four", "two one three four"), 0.0);
    assert_eq!(agree(&["order"], "from 5 to 6 days", "from 6 to 5 hours"), 0.0);
    assert_eq!(agree(&["numbers"], "from 5 to 6 days", "from 6 to 5 hours"), 1.0);
    assert_eq!(agree(&["order"], "one two", "one two"), 1.0);
    assert!(Aspects::parse(&["meaning".to_owned()]).is_err());
}
