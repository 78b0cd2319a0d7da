//! Views as a whole, and the masks by tables of what they mask and what they leave.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

static ALL: LazyLock<Views> = LazyLock::new(|| Views::new(&VIEWS, &MASKS).unwrap());

fn view(url: &str, headers: &[(&str, &str)], body: &str) -> String {
    ALL.masked(&response(url, headers, body)).0.text
}

fn response<'a>(url: &'a str, headers: &'a [(&'a str, &'a str)], body: &'a str) -> Response<'a> {
    let body = body.as_bytes();
    Response { url, status: 200, headers, body, within: None, final_url: "", title: "", absent: None }
}

fn masked(text: &str) -> String {
    let mut out = String::new();
    ALL.masker.value(text, &mut out, None);
    out
}

#[test]
fn a_page_becomes_lines() {
    let body = "<!DOCTYPE html><html><head><title>404 &amp; Not\n Found</title><style>p{}</style></head>\
                <body class='b a'><!-- c --><div class=main><p>One<b>two</b> three<p>Four</div>\
                <ul><li>a<li>b</ul><img alt='A cat'><input type=submit value=Go><script>x<y</script></body></html>";
    assert_eq!(
        view("", &[("Server", "nginx/1.18.0"), ("Date", "Tue, 17 Nov 2026 04:25:49 GMT")], body),
        "status 200\nheader date\nheader server nginx/1.18.0\ntitle 404 & Not Found\n\
         tags 0html 1head 2title 2style 1body.a.b 2div.main 3p 4b 3p 2ul 3li 3li 2img 2input 2script\n\
         text Onetwo three\ntext Four\ntext a\ntext b\ntext A cat Go"
    );
}

#[test]
fn json_becomes_keys_and_messages() {
    let body = r#"{"data":{"items":[{"id":1,"name":"x"},{"id":2.5}]},"error":"Not found here","ok":true,"next":null,"说明":"未授权"}"#;
    assert_eq!(
        view("", &[("content-type", "application/json")], body),
        "status 200\nheader content-type application/json\n\
         keys data.items:array data.items[].id:number data.items[].name:string data:object error:string next:null \
         ok:boolean 说明:string\ntext Not found here\ntext 未授权"
    );
    assert_eq!(view("", &[], "{}"), "status 200\nkeys :object");
    assert_eq!(view("", &[], "[]"), "status 200\nkeys :array");
    assert_eq!(view("", &[], "{\"a\": 1}\n{\"b\": 2}"), "status 200\nkeys a:number b:number");
    assert_eq!(view("", &[], "{\"a\": \nbroken"), "status 200\ntext {\"a\":\ntext broken");
}

#[test]
fn what_is_no_text_is_a_kind_and_a_length() {
    assert_eq!(view("", &[], " "), "status 200\nbody empty");
    assert_eq!(view("", &[], "GIF89a\0\0"), "status 200\nbody image/gif 3");
}

#[test]
fn a_body_that_is_not_there_is_a_type_and_a_length_and_the_title_told() {
    let seen = |content_type: &str, title: &str, length: u64| {
        let headers = [("Content-Type", content_type)];
        let given = Response {
            title,
            absent: Some(length),
            final_url: "https://www.example.com/x-1",
            ..response("", &headers, "")
        };
        let (view, _) = ALL.masked(&given);
        (view.text.split("\n").skip(2).collect::<Vec<_>>().join("|"), view.title)
    };
    let told = |text: &str, title: &str| (text.to_owned(), title.to_owned());
    assert_eq!(seen("text/html; charset=utf-8", "", 5000), told("body text/html 12", ""));
    assert_eq!(seen("Image/PNG", "", 0), told("body image/png", ""));
    assert_eq!(seen("odd thing", "", 1), told("body unknown 0", ""));
    assert_eq!(
        seen("text/html", "Jenkins\n at www.example.com 2026-11-17", 0),
        told("title Jenkins at ‹echo› ‹date›", "Jenkins at www.example.com 2026-11-17")
    );
}

#[test]
fn a_title_told_gives_way_to_that_of_the_page() {
    let given = Response { title: "Told", ..response("", &[], "<title>Own</title>") };
    assert_eq!(ALL.masked(&given).0.title, "Own");
    let given = Response { title: "Told", ..response("", &[], "<p>x") };
    assert_eq!(ALL.masked(&given).0.title, "");
}

#[test]
fn groups_are_apart_however_little_they_differ() {
    let group = |within| {
        let given = Response { within: Some(within), ..response("", &[], "") };
        ALL.masked(&given).0.text.split('\n').next().map(str::to_owned).unwrap_or_default()
    };
    let groups = ["Prod", "prod", "ｐｒｏｄ", "pr\u{ad}od", "prod ", " prod", "", "é", "e\u{301}", "a\nb", "a b"];
    let lines: std::collections::HashSet<String> = groups.into_iter().map(group).collect();
    assert_eq!(lines.len(), groups.len());
    for line in lines {
        let value = line.strip_prefix("within ").unwrap();
        assert!(value.len() == 32 && value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{line}");
    }
}

#[test]
fn elements_of_xml_are_tags_and_lines() {
    assert_eq!(
        view(
            "",
            &[],
            "<?xml version='1.0'?><Error><Code>AccessDenied</Code><br/><Text><![CDATA[No <b> way]]></Text></Error>"
        ),
        "status 200\ntags 0Error 1Code 1br 1Text\ntext AccessDenied\ntext No <b> way"
    );
}

#[test]
fn volatile_parts_are_masked() {
    for (given, expected) in [
        // dates
        ("on 2026-11-17T04:25:49.123Z now", "on ‹date› now"),
        ("on 2026-11-17 04:25:49 +0100 now", "on ‹date› now"),
        ("2026/11/17", "‹date›"),
        ("Tue, 17 Nov 2026 04:25:49 GMT", "‹date›"),
        ("Tuesday, 17-Nov-26 04:25:49 GMT", "‹date›"),
        ("[17/Nov/2026:04:25:49 +0000]", "[‹date›]"),
        ("17-Nov-2026 04:25", "‹date›"),
        ("Tue Nov 17 04:25:49 UTC 2026", "‹date›"),
        ("Tue Nov 17 04:25:49 2026", "‹date›"),
        ("November 17, 2026 at 4:25 AM", "‹date›"),
        ("17th of November, 2026", "‹date›"),
        ("17.11.2026 04:25", "‹date›"),
        ("11/17/2026, 4:25:49 PM", "‹date›"),
        ("Posted Nov 17", "Posted ‹date›"),
        ("In November 2026", "In ‹date›"),
        ("发布于2026年11月17日 04:25", "发布于‹date›"),
        ("2026年11月17日 星期二 下午4时25分", "‹date›"),
        ("更新：11月17日", "更新：‹date›"),
        ("at 04:25:49", "at ‹date›"),
        ("at 4:25 pm today", "at ‹date› today"),
        ("3 hours ago", "‹date›"),
        ("5分钟前发布", "‹date›发布"),
        ("20261117042549", "‹date›"),
        ("20261117", "‹date›"),
        // timestamps
        ("t=1700000000", "t=‹timestamp›"),
        ("1700000000123 and 1700000000.25", "‹timestamp› and ‹timestamp›"),
        // uuids, tokens
        ("id 550e8400-e29b-41d4-a716-446655440000.", "id ‹uuid›."),
        ("csrf 3f2a1b4c5d6e7f8091a2b3c4d5e6f708", "csrf ‹token›"),
        ("令牌：Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==", "令牌：‹token›"),
        ("script-src 'nonce-r4nd0m' 'self'", "script-src 'nonce-‹token›' 'self'"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP", "‹token›"),
        ("/assets/3f2a1b4c5d6e7f80/app", "/assets/‹token›/app"),
        ("/a/3f2a1b4c5d6e7f80/2026-11-17/3f2a1b4c5d6e7f81", "/a/‹token›/‹date›/‹token›"),
        ("/files/550e8400-e29b-41d4-a716-446655440000/x", "/files/‹uuid›/x"),
        // request ids
        ("Ray ID: 8a7b6c5d4e3f2a1b", "Ray ID: ‹request-id›"),
        ("Reference #18.2f3a1b.1700.1a2b", "Reference #‹request-id›"),
        ("Request-Id: abc123", "Request-Id: ‹request-id›"),
        ("Incident ID: 123-456789", "Incident ID: ‹request-id›"),
        ("请求ID：7f3a9b", "请求ID：‹request-id›"),
        ("Your support ID is 1234567890123", "Your support ID is ‹request-id›"),
        // addresses
        ("Your IP is 203.0.113.7.", "Your IP is ‹ip›."),
        ("您的IP：203.0.113.7", "您的IP：‹ip›"),
        ("from 2001:db8::8a2e:370:7334 and 2001:db8:0:0:0:0:0:1", "from ‹ip› and ‹ip›"),
        ("http://203.0.113.7/x", "http://‹ip›/x"),
        // durations
        ("took 12 ms", "took ‹duration›"),
        ("Page generated in 0.032 seconds", "Page generated in ‹duration›"),
        ("Page rendered in 0.0321", "Page rendered in ‹duration›"),
        ("0.25s", "‹duration›"),
        ("45 queries in 0.3 seconds", "‹duration› in ‹duration›"),
        ("耗时 0.25 秒", "耗时 ‹duration›"),
        // cache-busters
        ("/app.js?v=1234", "/app.js?v=‹cache-buster›"),
        ("/app.3f2a1b.js", "/app.‹cache-buster›.js"),
        ("</main-9f8e7d6c.chunk.css>", "</main-‹cache-buster›.chunk.css>"),
        ("/x?a=b&_=99", "/x?a=b&_=‹cache-buster›"),
    ] {
        assert_eq!(masked(given), expected, "{given}");
    }
}

#[test]
fn what_is_not_volatile_stays() {
    for text in [
        "nginx/1.18.0 (Ubuntu)",
        "Apache/2.4.41 OpenSSL/1.1.1f PHP/7.4.3",
        "Microsoft-IIS/10.0",
        "version 1.2.3.4",
        "Chrome/120.0.6099.109",
        "版本：2.10.1.5",
        "$1,299.00 or €19.99 or 1999 kr",
        "¥128.00 起",
        "Call +1 512 555 0100 or (212) 555-0199",
        "电话：13800138000, 010-62345678",
        "ISBN 9780131103627, ISBN: 1565926218, ISBN 0-13-110362-8",
        "Copyright 2026 Example",
        "404 Not Found",
        "HTTP/1.1 403 Forbidden",
        "You may use it in the 1990s and march on",
        "internationalization and getElementsByClassName",
        "Reference: the manual",
        "Request ID: none",
        "jquery-3.6.0.min.js bootstrap.bundle.min.js font-awesome5.css",
        "16:9 and 4:3",
        "well-known-long-hyphenated-words-are-words",
        "/wp-content/themes/twentytwenty/assets/js/index.js",
        "std::vector and a::b",
        "12345678",
        "一二三 100 万 3.5 折",
        "C++20, H2O, x86_64-unknown-linux-gnu",
        "max-age=31536000; includeSubDomains",
        "text/html; charset=UTF-8",
        "2 of 10 results on page 3",
        "iPhone 15 Pro Max 256GB",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn deep_and_broken_pages_are_read_to_the_end() {
    let deep = "<div>".repeat(100_000) + "x" + &"</b>".repeat(100_000);
    let text = view("", &[("content-type", "text/html")], &deep);
    assert!(text.ends_with("\ntext x"));
    assert!(text.contains(" 64div 64div"));
    for body in [
        "<!--".repeat(50_000),
        "<".repeat(200_000),
        "<a ".repeat(50_000),
        "<a b=\"".repeat(50_000),
        "</".repeat(100_000),
        "<p><table>".repeat(20_000),
        "<li><p>".repeat(20_000),
        "<script>".repeat(20_000),
        "<script></".repeat(20_000),
        "&#".repeat(100_000),
        "&amp".repeat(100_000),
        "<![CDATA[".repeat(20_000),
        "<svg><![CDATA[".repeat(20_000),
        "<svg><title>".repeat(20_000),
        format!("<p class=\"{}\">", "a1 ".repeat(300_000)),
        "1:".repeat(100_000),
        "1.".repeat(100_000),
        "2026-".repeat(100_000),
        "ray id ".repeat(50_000),
        "a/b-c_".repeat(100_000),
    ] {
        let start = std::time::Instant::now();
        view("https://example.com/a", &[("content-type", "text/html")], &body);
        assert!(start.elapsed().as_secs() < 20, "{}", &body[..20]);
    }
    let nested = "[".repeat(100_000);
    assert!(view("", &[], &nested).contains("text [[["));
}

#[test]
fn time_grows_with_the_number_of_values_and_of_echoes_alone() {
    let seconds = |piece: &str, count: usize, is_logged: bool| {
        let body = piece.repeat(count);
        let given = response("https://www.example.com/", &[], &body);
        let start = std::time::Instant::now();
        let log = &mut Log::default();
        ALL.view(&given, &mut Scratch::default(), is_logged.then_some(log));
        start.elapsed().as_secs_f64()
    };
    for (piece, is_logged) in
        [("[]", false), ("{\"a\":1}\n", false), ("www.example.com ", true), ("x\nwww.example.com ", true)]
    {
        // Sixteen times as much takes sixteen times as long, not 256 times.
        let small = seconds(piece, 5_000, is_logged) + 0.002;
        let large = seconds(piece, 80_000, is_logged);
        assert!(large < 80.0 * small, "{piece:?}: {small} {large}");
    }
}

#[test]
fn only_views_that_are_asked_for_are_made() {
    let body = "<title>T</title><p class=a>x</p>";
    let response = Response { status: 404, within: Some("g\nh"), ..response("", &[("a", "b")], body) };
    let group = format!("within {:032x}", xxhash_rust::xxh3::xxh3_128(b"g\nh"));
    for (views, expected) in [
        (&["status"][..], "\nstatus 404"),
        (&["headers"], "\nheader a b"),
        (&["title"], "\ntitle T"),
        (&["tags"], "\ntags 0title 0p.a"),
        (&["text"], "\ntext x"),
        (&["body", "keys"], ""),
    ] {
        let (view, _) = Views::new(views, &MASKS).unwrap().masked(&response);
        assert_eq!((view.text, view.title.as_str()), (format!("{group}{expected}"), "T"));
    }
    assert!(Views::new(&["colour"], &[]).is_err_and(|error| error.to_string().contains("one of status, headers")));
    assert!(Views::new(&[], &["all"]).is_err_and(|error| error.to_string().contains("one of dates, timestamps")));
}

/// Pieces of which hostile pages are made.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"<".to_vec()),
        Just(b"</".to_vec()),
        Just(b"<div".to_vec()),
        Just(b">".to_vec()),
        Just(b"<p>".to_vec()),
        Just(b"</p>".to_vec()),
        Just(b"<table><tr><td>".to_vec()),
        Just(b"</table>".to_vec()),
        Just(b"<li>".to_vec()),
        Just(b"<!--".to_vec()),
        Just(b"-->".to_vec()),
        Just(b"<script>".to_vec()),
        Just(b"</script>".to_vec()),
        Just(b"<svg>".to_vec()),
        Just(b"<template>".to_vec()),
        Just(b"</template>".to_vec()),
        Just(b"<head>".to_vec()),
        Just(b"<body>".to_vec()),
        Just(b"<title>".to_vec()),
        Just(b"<textarea placeholder='".to_vec()),
        Just(b" class=\"".to_vec()),
        Just(b"\"".to_vec()),
        Just(b"'".to_vec()),
        Just(b"&".to_vec()),
        Just(b"&#x".to_vec()),
        Just(b"2026-11-17 ".to_vec()),
        Just(b"12:30".to_vec()),
        Just(b"1700000000".to_vec()),
        Just(b"Ray ID: ".to_vec()),
        Just(b"example.com/a".to_vec()),
        Just("年\u{2028}中".as_bytes().to_vec()),
        Just(b"{\"a\":[".to_vec()),
        Just(b"]}".to_vec()),
        Just(b"\r\n\x0b\x85".to_vec()),
        Just(b"<pre>".to_vec()),
        Just("\u{212A}\u{17F}".as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_bytes_become_lines_of_known_names(body in pieces(), url in ".{0,30}", html in any::<bool>(), name in ".{0,5}", value in ".{0,20}") {
        let headers = [("content-type", if html { "text/html" } else { "" }), (name.as_str(), value.as_str())];
        let given = Response { within: Some(&value), title: &value, final_url: &name, ..response(&url, &headers, "") };
        let response = Response { body: &body, absent: body.is_empty().then_some(value.len() as u64), ..given };
        let (view, log) = ALL.masked(&response);
        prop_assert_eq!(&ALL.make(&[response], &AtomicBool::new(false)).unwrap()[0], &view);
        let known = ["within", "status", "header", "title", "tags", "keys", "text", "body"];
        for line in view.text.split('\n') {
            let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
            prop_assert!(known.contains(&first), "{:?}", line);
            let breaks = rest.chars().any(|character| character.is_control() || "\u{2028}\u{2029}".contains(character));
            prop_assert!(!breaks);
            prop_assert!(!rest.contains("  "));
        }
        prop_assert!(view.text.len() <= 24 * body.len() + 400);
        prop_assert!(log.iter().all(|part| MASKS.contains(&part.rule)));
        prop_assert!(!view.title.contains('\n'));
    }
}
