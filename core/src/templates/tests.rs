use super::*;

fn form(texts: &[String]) -> Option<Form> {
    Form::of(&texts.iter().map(|text| read(text)).collect::<Vec<_>>())
}

/// Words from a text of 40 different ones, with some replaced.
fn edited(edits: &[(usize, &str)]) -> String {
    let mut words: Vec<String> =
        (0..40).map(|at| format!("word{}", (b'a' + at % 26) as char).repeat(1 + at as usize / 26)).collect();
    edits.iter().for_each(|&(at, word)| words[at] = word.to_owned());
    words.join(" ")
}

fn report(city: &str, degrees: i32) -> String {
    format!("Weather report for {city}: the temperature at noon was {degrees} degrees, and the wind was weak.")
}

fn reports() -> Vec<String> {
    let cities = ["Rome", "New York", "Oslo", "Bern", "Oslo"];
    cities.iter().enumerate().map(|(at, city)| report(city, at as i32 * 7 - 5)).collect()
}

#[test]
fn a_template_has_fields() {
    let form = form(&reports()).unwrap();
    assert_eq!(form.field_count(), 2);
    let text = report("New York", -12);
    let (parts, values) = form.cut(&text);
    // The sign counts, but a field is shown from its first word on.
    assert_eq!(values, ["New York", "12"]);
    assert_eq!(parts[0], "Weather report for ");
    assert_eq!(parts.len(), 3);
    let fits = |other: &str| form.fits(&[read(&text), read(other)]);
    assert!(fits(&report("Oslo", 3)));
    assert!(!fits(&text.replace("weak", "strong")));
    assert!(!fits(&text.replace("weak", "")));
    assert!(!fits(&text.replace("York", &"York ".repeat(LONG))));
    let weak = text.replace("weak", "strong");
    // Both without a word of the frame.
    assert!(form.fits(&[read(&weak), read(&weak.replace("12", "13"))]));
}

#[test]
fn values_are_equal_if_all_fields_are() {
    let form = form(&reports()).unwrap();
    let values = |text: &str| form.values(&read(text));
    let text = report("Rome", 12);
    assert_eq!(values(&text), values(&text.to_uppercase()));
    assert_eq!(values(&text), values(&text.replace("weak", "strong")));
    assert_ne!(values(&text), values(&report("Rome", -12)));
    assert_ne!(values(&text), values(&report("Oslo", 12)));
    // Where a field ends counts.
    assert_ne!(values(&report("New York", 12)), values(&text.replace("Rome", "New").replace("12", "York 12")));
    // Without "for" its value may be anything: in doubt texts are different.
    assert_ne!(values(&text), values(&text.replace("report for", "report of")));
}

#[test]
fn edited_copies_are_no_template() {
    let scattered: Vec<String> = (0..8).map(|at| edited(&[(at * 5, "new"), (at * 4 + 1, "other")])).collect();
    assert_eq!(form(&scattered), None);
    let revised: Vec<String> =
        (1..8).map(|until| edited(&(0..until).map(|at| (at * 5, "new")).collect::<Vec<_>>())).collect();
    assert_eq!(form(&revised), None);
}

#[test]
fn three_texts_copies_and_adverts_are_no_template() {
    assert_eq!(form(&reports()[..3]), None);
    assert_eq!(form(&vec![report("Rome", 1); 9]), None);
    let adverts = ["", "buy now", "", "subscribe to our letter", "click here", ""];
    assert_eq!(form(&adverts.map(|advert| edited(&[]) + " " + advert)), None);
    let passages: Vec<String> = (0..6).map(|at| edited(&[]) + &format!(" p{at}").repeat(LONG + 1)).collect();
    assert_eq!(form(&passages), None);
}

#[test]
fn an_edited_member_does_not_spoil_a_template() {
    let mut texts = reports();
    texts.push(report("Graz", 3).replace("wind", "storm"));
    assert_eq!(form(&texts).unwrap().field_count(), 2);
}

#[test]
fn long_and_empty_texts_are_no_forms() {
    let long: Vec<String> = (0..5).map(|at| format!("{} {at}", "word ".repeat(WORDS))).collect();
    assert_eq!(form(&long), None);
    assert_eq!(form(&vec![String::new(); 5]), None);
    let form = form(&reports()).unwrap();
    assert_ne!(form.values(&read(&long[0])), form.values(&read(&long[1])));
    assert_eq!(form.cut(&long[0]), (vec![&long[0][..]], vec![]));
    assert!(!form.fits(&[read(""), read("")]));
}

#[test]
fn small_clusters_are_recognised() {
    let mut texts = reports();
    texts.extend([report("Lima", 20), report("Quito", 21), edited(&[]), edited(&[(3, "new")])]);
    let text = |row: usize| texts[row].as_str().into();
    let stop = AtomicBool::new(false);
    let found = find(&[&[0, 1, 2, 3, 4], &[5, 6], &[7, 8]], &text, &stop);
    assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false]);
    let forms = [found[0].clone().unwrap()];
    assert_eq!(fit(&forms, &[&[5, 6], &[7, 8], &[5, 7]], &text, &stop), [Some(0), None, None]);
    let values = values(&forms, &[(5, 0), (6, 0), (5, 0)], &text, &stop);
    assert!(values[0] == values[2] && values[0] != values[1]);
}

#[test]
fn forms_with_common_words_are_told_apart_by_the_others() {
    let alert = |form: usize, value: usize| format!("alert k{form}x has value v{value}y on this host now");
    let count = MANY + 200;
    let forms: Vec<Form> =
        (0..count).map(|at| form(&(0..4).map(|value| alert(at, value)).collect::<Vec<_>>()).unwrap()).collect();
    let texts = [alert(count - 1, 7), alert(count - 1, 8), alert(count, 7), alert(count, 8)];
    let text = |row: usize| texts[row].as_str().into();
    // The last two have no rare word of a form, but most of the frame of each.
    let found = fit(&forms, &[&[0, 1], &[2, 3]], &text, &AtomicBool::new(false));
    assert_eq!(found, [Some(count as u32 - 1), Some(0)]);
}

#[test]
fn characters_are_words_of_a_chinese_form() {
    let texts: Vec<String> = ["北京", "上海", "杭州", "成都"]
        .iter()
        .enumerate()
        .map(|(at, city)| format!("关于{city}市{}年教师资格考试报名的公告", 2020 + at))
        .collect();
    let form = form(&texts).unwrap();
    assert_eq!(form.cut(&texts[2]).1, ["杭州", "2022"]);
}
