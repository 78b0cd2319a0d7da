//! The request's own URL, host or path given back in the response, in any of the forms servers write it in.

use std::cell::OnceCell;

use memchr::memmem;

use super::preview::Log;
use super::rules::Rule;

/// A part of an address shorter than this is too common to be looked for alone.
const SHORT: usize = 4;
/// Longer addresses are cut: nobody writes more of it.
const LONGEST: usize = 2000;
/// Of the names of lines in which it is looked for, `title` and `text`.
const LONGEST_NAME: usize = 5;
/// How many values of a query are looked for.
const VALUES: usize = 8;

/// A form of the address.
struct Form {
    text: String,
    /// Masked only between quotation marks: it may be an ordinary word.
    quoted: bool,
    /// The core it holds, and where.
    core: usize,
    offset: usize,
}

/// The forms of the request's address to find in a response.
pub(super) struct Echo<'a> {
    /// That of the request, and that of the answer where it was led elsewhere.
    urls: Vec<&'a str>,
    /// What forms have in common: few searches find all of them.
    cores: Vec<String>,
    /// The longest first; made when a core was found.
    forms: OnceCell<Vec<Form>>,
}

/// The parts of an address.
struct Address<'a> {
    scheme: &'a str,
    /// The address without its scheme.
    rest: &'a str,
    authority: &'a str,
    host: &'a str,
    /// Path and query.
    target: &'a str,
    path: &'a str,
    query: &'a str,
    /// The last part of the path.
    segment: &'a str,
}

impl<'a> Address<'a> {
    fn of(url: &'a str) -> Address<'a> {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let (authority, target) = match rest.find(['/', '?']) {
            _ if scheme.is_empty() && rest.starts_with('/') => ("", rest),
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let authority = authority.rsplit('@').next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let segment = path.rsplit('/').find(|segment| !segment.is_empty()).unwrap_or_default();
        Address { scheme, rest, authority, host: host_of(authority), target, path, query, segment }
    }

    fn values(&self) -> impl Iterator<Item = String> {
        let pairs = self.query.split('&').take(VALUES).filter_map(|pair| pair.split_once('='));
        pairs.map(|(_, value)| value.replace('+', "%20")).filter(|value| value.len() >= SHORT)
    }
}

impl<'a> Echo<'a> {
    pub(super) fn of(given: &[&'a str]) -> Echo<'a> {
        let mut urls = Vec::with_capacity(given.len());
        let mut cores: Vec<String> = Vec::new();
        for url in given {
            let url = super::fold::cut(url.trim(), LONGEST).split('#').next().unwrap_or_default();
            if url.is_empty() || urls.contains(&url) {
                continue;
            }
            urls.push(url);
            let address = Address::of(url);
            let host = is_host(address.host).then(|| address.host.to_owned());
            let values = address.values().flat_map(|value| forms(&value));
            for core in host.into_iter().chain(forms(address.segment)).chain(values) {
                if !cores.contains(&core) {
                    cores.push(core);
                }
            }
        }
        Echo { urls, cores, forms: OnceCell::new() }
    }

    fn forms(&self) -> &[Form] {
        self.forms.get_or_init(|| self.make())
    }

    fn make(&self) -> Vec<Form> {
        let mut found = Vec::new();
        for url in &self.urls {
            self.make_of(url, &mut found);
        }
        // What is found alone because of one address needs no quotation marks because of the other.
        found.sort_by(|left: &Form, right: &Form| {
            right.text.len().cmp(&left.text.len()).then(left.text.cmp(&right.text)).then(left.quoted.cmp(&right.quoted))
        });
        found.dedup_by(|left, right| left.text == right.text);
        found
    }

    fn make_of(&self, url: &str, found: &mut Vec<Form>) {
        let address = Address::of(url);
        let Address { scheme, rest, authority, host, target, path, segment, .. } = address;
        if is_host(host) {
            let place = format!("{authority}{path}");
            for whole in [url, rest, &place, &format!("{scheme}://{place}")] {
                self.address(whole, found);
                self.address(whole.trim_end_matches('/'), found);
            }
            self.address(authority, found);
            self.address(host, found);
            self.address(&format!("{scheme}://{authority}"), found);
        }
        for part in [target, path, path.trim_end_matches('/')] {
            if part.len() > 1 {
                self.address(part, found);
            }
        }
        let inner = path.trim_matches('/');
        if inner.contains('/') {
            self.address(inner, found);
        }
        self.word(segment, found);
        for value in address.values() {
            self.word(&value, found);
        }
    }

    /// Adds a word: to be found alone if it is not an ordinary word, otherwise only between quotation marks.
    fn word(&self, word: &str, found: &mut Vec<Form>) {
        for form in forms(word) {
            if form.len() >= SHORT {
                let is_ordinary = form.chars().all(char::is_alphabetic);
                let is_short_number = form.len() < 6 && form.bytes().all(|byte| byte.is_ascii_digit());
                self.add(form, is_ordinary || is_short_number, found);
            }
        }
    }

    fn address(&self, text: &str, found: &mut Vec<Form>) {
        for form in forms(text) {
            self.add(form, false, found);
        }
    }

    fn add(&self, text: String, quoted: bool, found: &mut Vec<Form>) {
        if text.len() < 2 || text.trim().is_empty() {
            return;
        }
        let held = self.cores.iter().enumerate().find_map(|(core, held)| Some((core, text.find(held.as_str())?)));
        if let Some((core, offset)) = held {
            found.push(Form { text, quoted, core, offset });
        }
    }

    /// Returns the positions where the address is echoed, in order, none within another. With `named` lines, none is in
    /// a name.
    fn places(&self, lines: &str, named: bool) -> Vec<(usize, usize)> {
        let mut places: Vec<(usize, usize)> = Vec::new();
        for (core, held) in self.cores.iter().enumerate() {
            for at in memmem::find_iter(lines.as_bytes(), held.as_bytes()) {
                let here = self.forms().iter().find_map(|form| {
                    let start = at.checked_sub(form.offset).filter(|_| form.core == core)?;
                    let end = start + form.text.len();
                    let found = lines.as_bytes().get(start..end) == Some(form.text.as_bytes());
                    let is_value = found && !(named && is_in_name(&lines.as_bytes()[..start]));
                    let here = is_value && is_apart(lines.as_bytes(), start, end, form.quoted);
                    here.then(|| (start, end + port(&lines.as_bytes()[end..])))
                });
                places.extend(here);
            }
        }
        // The longest of those that begin at a place; of those that overlap, the first.
        places.sort_unstable_by_key(|&(start, end)| (start, usize::MAX - end));
        let mut last = 0;
        places.retain(|&(start, end)| {
            let is_free = start >= last;
            last = if is_free { end } else { last };
            is_free
        });
        places
    }

    /// Copies lines of a view, which begin with their names, with the address masked; returns false and copies nothing
    /// if it does not occur.
    pub(super) fn mask(&self, lines: &str, out: &mut String, log: Option<&mut Log>) -> bool {
        self.replace(lines, true, out, log)
    }

    /// Copies the value of a line, whose name the log knows, in the same way.
    pub(super) fn mask_value(&self, value: &str, out: &mut String, log: Option<&mut Log>) -> bool {
        self.replace(value, false, out, log)
    }

    fn replace(&self, lines: &str, named: bool, out: &mut String, mut log: Option<&mut Log>) -> bool {
        let places = self.places(lines, named);
        let mut copied = 0;
        // Where the line at hand begins, looked for only from the last place on.
        let mut line = None;
        for &(start, end) in &places {
            out.push_str(&lines[copied..start]);
            out.push_str(Rule::Echo.sign());
            if let Some(log) = log.as_deref_mut() {
                let new = lines[copied..start].rfind('\n').map(|at| copied + at + 1);
                if let Some(begin) = new.or(line.is_none().then_some(0)).filter(|_| named) {
                    line = Some(begin);
                    log.line.clear();
                    log.line.push_str(lines[begin..].split(' ').next().unwrap_or_default());
                }
                log.add(Rule::Echo, &lines[start..end]);
            }
            copied = end;
        }
        if !places.is_empty() {
            out.push_str(&lines[copied..]);
        }
        !places.is_empty()
    }
}

fn host_of(authority: &str) -> &str {
    match authority.rfind(':') {
        Some(at) if !authority[at..].contains(']') => &authority[..at],
        _ => authority,
    }
}

/// Returns whether a host is worth finding; `localhost` and other single words are not.
fn is_host(host: &str) -> bool {
    host.len() >= SHORT && (host.contains('.') || host.contains(':'))
}

/// Returns the distinct forms of a text: as it is, decoded, encoded, as in JSON, and escaped for HTML.
fn forms(text: &str) -> Vec<String> {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')) {
        return if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
    }
    let plain = decoded(text);
    let encoded = encoded(&plain);
    let mut forms = vec![text.to_owned(), encoded.to_ascii_lowercase(), encoded];
    forms.push(text.replace('/', "\\/"));
    forms.push(text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
    forms.push(plain);
    forms.sort();
    forms.dedup();
    forms.retain(|form| !form.is_empty() && !form.contains('\n'));
    forms
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let digit = |at: usize| bytes.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, _, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    // White space is folded in a view, so it is here.
    super::fold::folded(&String::from_utf8_lossy(&out))
}

fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            out.extend(['%', char::from(DIGITS[usize::from(byte >> 4)]), char::from(DIGITS[usize::from(byte & 15)])]);
        }
    }
    out
}

/// Returns whether what comes next is still in the name of a line, or the space behind it.
fn is_in_name(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(LONGEST_NAME + 1)..];
    match near.iter().rposition(|byte| matches!(byte, b'\n' | b' ')) {
        Some(at) => near[at] == b'\n',
        None => before.len() <= LONGEST_NAME,
    }
}

/// Returns whether a form stands alone and is not a part of a longer word, host or path.
fn is_apart(lines: &[u8], start: usize, end: usize, quoted: bool) -> bool {
    let before = start.checked_sub(1).map(|at| lines[at]);
    let (after, second) = (lines.get(end).copied(), lines.get(end + 1).copied());
    if quoted {
        return is_quoted(&lines[..start], &lines[end..]);
    }
    let is_word =
        |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let (first, last) = (lines[start], lines[end - 1]);
    if is_word(before) && (first.is_ascii_alphanumeric() || first == b'/') {
        return false;
    }
    if before == Some(b'.') && (first.is_ascii_alphanumeric() || first == b'/') {
        return false;
    }
    if last.is_ascii_alphanumeric() && is_word(after) {
        return false;
    }
    // `/index` in `/index.html`, `example.com` in `example.com.au`, `/a` in `/a/b`.
    if last.is_ascii_alphanumeric() && after == Some(b'.') && second.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return false;
    }
    !(first == b'/' && last != b'/' && after == Some(b'/') && is_word(second))
}

/// Returns the length of a port that follows: `:8080`, or ` Port 8080` as servers sign their pages.
fn port(after: &[u8]) -> usize {
    let label = if after.starts_with(b" Port ") { 6 } else { usize::from(after.starts_with(b":")) };
    let digits = after[label..].iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
    if label > 0 && (1..=5).contains(&digits) { label + digits } else { 0 }
}

fn is_quoted(before: &[u8], after: &[u8]) -> bool {
    const PAIRS: [(&str, &str); 11] = [
        ("\"", "\""),
        ("'", "'"),
        ("`", "`"),
        ("“", "”"),
        ("‘", "’"),
        ("«", "»"),
        ("「", "」"),
        ("『", "』"),
        ("《", "》"),
        ("<", ">"),
        ("[", "]"),
    ];
    PAIRS.iter().any(|(open, close)| before.ends_with(open.as_bytes()) && after.starts_with(close.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(url: &str, text: &str) -> String {
        let mut out = String::new();
        if Echo::of(&[url]).mask_value(text, &mut out, None) { out } else { text.to_owned() }
    }

    #[test]
    fn names_of_lines_stay() {
        for (query, lines, expected) in [
            ("status=text%0Astatus", "text status 404\ntext a text status b", Some("text status 404\ntext a ‹echo› b")),
            ("a=text+status", "title text status\n", Some("title ‹echo›\n")),
            ("a=title", "title \"title\"\n", Some("title \"‹echo›\"\n")),
            ("a=title-1", "title title-1\ntext title-1\n", Some("title ‹echo›\ntext ‹echo›\n")),
            ("a=text-1", "text-1 stays\ntext no", None),
            ("a= some-1", "text some-1\n", Some("text ‹echo›\n")),
        ] {
            let mut out = String::new();
            let url = format!("https://www.example.com/?{query}");
            let is_found = Echo::of(&[&url]).mask(lines, &mut out, None);
            assert_eq!(is_found.then_some(out.as_str()), expected, "{query}");
        }
    }

    #[test]
    fn the_line_of_each_place_is_told() {
        let mut log = Log::default();
        let lines = "title www.example.com www.example.com\ntext x\ntext www.example.com www.example.com";
        Echo::of(&["https://www.example.com/"]).mask(lines, &mut String::new(), Some(&mut log));
        let told: Vec<&str> = log.masked.iter().map(|part| part.line.as_str()).collect();
        assert_eq!(told, ["title", "title", "text", "text"]);
    }

    #[test]
    fn the_address_an_answer_came_from_is_masked_too() {
        let mut out = String::new();
        let echo = Echo::of(&["http://example.com/a-1", "https://www.example.com/login-2?next=%2Fa-1", ""]);
        assert!(echo.mask_value("example.com www.example.com/login-2 /a-1 (login-2)", &mut out, None));
        assert_eq!(out, "‹echo› ‹echo› ‹echo› (‹echo›)");
    }

    #[test]
    fn an_address_given_back_is_masked_in_every_form() {
        let url = "https://www.example.com/shop/xy-12/qq%20z?next=%2Fhome&q=red+shoes";
        for (text, expected) in [
            ("The requested URL /shop/xy-12/qq%20z was not found", "The requested URL ‹echo› was not found"),
            ("No /shop/xy-12/qq z here", "No ‹echo› here"),
            ("at https://www.example.com/shop/xy-12/qq%20z?next=%2Fhome&q=red+shoes.", "at ‹echo›."),
            ("www.example.com:443, www.example.com", "‹echo›, ‹echo›"),
            ("?u=https%3A%2F%2Fwww.example.com%2Fshop%2Fxy-12%2Fqq%20z", "?u=‹echo›"),
            ("{\"path\":\"\\/shop\\/xy-12\\/qq%20z\"}", "{\"path\":\"‹echo›\"}"),
            ("Results for red shoes", "Results for ‹echo›"),
            ("Apache/2.4.41 Server at www.example.com Port 443", "Apache/2.4.41 Server at ‹echo›"),
            ("在服务器www.example.com上找不到", "在服务器‹echo›上找不到"),
        ] {
            assert_eq!(masked(url, text), expected);
        }
    }

    #[test]
    fn what_only_looks_like_it_stays() {
        for (url, text) in [
            ("https://example.com/", "and/or / https://example.org/"),
            ("https://example.com/", "example.com.au notexample.com my.example.com"),
            ("https://example.com/login", "Please login to log in. /login.php /login/x"),
            ("https://example.com/a", "and/a b"),
            ("https://localhost/", "localhost"),
            ("https://example.com/2026", "Copyright 2026"),
            ("", "nothing at all"),
            ("https://", "https:// /"),
            ("/", "/ //"),
        ] {
            assert_eq!(masked(url, text), text, "{url}");
        }
        assert_eq!(masked("https://example.com/login", "Page \"login\" not found"), "Page \"‹echo›\" not found");
        assert_eq!(masked("https://example.com/login", "path /login."), "path ‹echo›.");
    }
}
