//! Headers: names, and the values that identify a kind of response.

use super::echo::Echo;
use super::fold::{cut, folded};
use super::mask::Masker;
use super::preview::Log;
use super::rules::Rule;

/// The most bytes of a name and of a value.
const NAME: usize = 100;
const VALUE: usize = 8000;

/// Headers whose value differs from response to response, or concerns the connection.
const VOLATILE: [&str; 62] = [
    "age",
    "akamai-grn",
    "alt-svc",
    "apigw-requestid",
    "cf-cache-status",
    "cf-ray",
    "cf-request-id",
    "connection",
    "content-encoding",
    "content-length",
    "content-md5",
    "date",
    "digest",
    "etag",
    "expires",
    "fly-request-id",
    "keep-alive",
    "last-modified",
    "nel",
    "report-to",
    "reporting-endpoints",
    "retry-after",
    "request-id",
    "request-context",
    "server-timing",
    "traceparent",
    "tracestate",
    "transfer-encoding",
    "via",
    "warning",
    "x-ac",
    "x-amz-cf-id",
    "x-amz-cf-pop",
    "x-amz-id-2",
    "x-amz-request-id",
    "x-amz-version-id",
    "x-amzn-requestid",
    "x-amzn-trace-id",
    "x-azure-ref",
    "x-cloud-trace-context",
    "x-correlation-id",
    "x-debug-token",
    "x-envoy-upstream-service-time",
    "x-fastly-request-id",
    "x-generation-time",
    "x-github-request-id",
    "x-hits",
    "x-iinfo",
    "x-ms-request-id",
    "x-nf-request-id",
    "x-page-speed",
    "x-process-time",
    "x-proxy-cache",
    "x-rate-limit",
    "x-request-id",
    "x-response-time",
    "x-runtime",
    "x-served-by",
    "x-timer",
    "x-trace-id",
    "x-varnish",
    "x-vercel-id",
];
/// Beginnings of the names of more of them.
const FAMILIES: [&str; 11] = [
    "x-cache",
    "x-b3-",
    "x-ratelimit-",
    "ratelimit-",
    "x-rate-limit-",
    "x-akamai-",
    "x-edge-",
    "x-cdn-",
    "x-swift-",
    "x-sucuri-",
    "eagleid",
];
/// Ends of such names.
const ENDS: [&str; 7] = ["request-id", "requestid", "trace-id", "traceid", "correlation-id", "-rid", "-ray"];
/// Headers of the connection, which say nothing of the answer; many captures have lost or changed them.
const CONNECTION: [&str; 5] = ["connection", "content-encoding", "content-length", "keep-alive", "transfer-encoding"];
/// What archives put before the names of headers that no longer fit the body.
const ARCHIVED: [&str; 2] = ["x-crawler-", "x-archive-orig-"];

pub(super) fn is_volatile(name: &str) -> bool {
    VOLATILE.contains(&name)
        || FAMILIES.iter().any(|family| name.starts_with(family))
        || ENDS.iter().any(|end| name.ends_with(end))
}

/// Writes a line a header, sorted; equal lines once.
pub(super) fn write(
    headers: &[(&str, &str)],
    masker: &Masker,
    echo: Option<&Echo<'_>>,
    out: &mut String,
    mut log: Option<&mut Log>,
) {
    let mut lines: Vec<String> = Vec::with_capacity(headers.len());
    for (name, value) in headers {
        let name = folded(cut(name, NAME)).to_ascii_lowercase().replace(' ', "_");
        let name = ARCHIVED.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(&name);
        let name = name.trim_end_matches(':');
        if name.is_empty() {
            continue;
        }
        let value = folded(cut(value, VALUE));
        let mut line = format!("header {name}");
        if let Some(log) = log.as_deref_mut() {
            log.line.clear();
            log.line.push_str(&line);
        }
        if masker.has(Rule::Headers) && is_volatile(name) {
            if let Some(log) = log.as_deref_mut().filter(|_| !value.is_empty()) {
                log.add(Rule::Headers, &value);
            }
            if CONNECTION.contains(&name) {
                continue;
            }
        } else if masker.has(Rule::Cookies) && name == "set-cookie" {
            for cookie in cookies(&value) {
                let mut line = format!("header {name} ");
                write_cookie(cookie, masker, &mut line, log.as_deref_mut());
                lines.push(line);
            }
            continue;
        } else if !value.is_empty() {
            line.push(' ');
            write_value(&value, masker, echo, &mut line, log.as_deref_mut());
        }
        lines.push(line);
    }
    lines.sort_unstable();
    lines.dedup();
    for line in lines {
        out.push_str(&line);
        out.push('\n');
    }
}

fn write_value(value: &str, masker: &Masker, echo: Option<&Echo<'_>>, line: &mut String, mut log: Option<&mut Log>) {
    let mut without_echo = String::new();
    let is_echoed = echo.is_some_and(|echo| echo.mask_value(value, &mut without_echo, log.as_deref_mut()));
    masker.value(if is_echoed { &without_echo } else { value }, line, log);
}

/// Splits cookies that a capture joined: a comma starts a new one if a name and `=` follow.
fn cookies(value: &str) -> Vec<&str> {
    let mut cookies = Vec::new();
    let mut start = 0;
    for (at, _) in value.match_indices(", ") {
        let rest = &value[at + 2..];
        let name =
            rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')).count();
        if name > 0 && rest.as_bytes().get(name) == Some(&b'=') {
            cookies.push(&value[start..at]);
            start = at + 2;
        }
    }
    cookies.push(&value[start..]);
    cookies
}

/// Writes the name of a cookie without its volatile part; its value and attributes are masked.
fn write_cookie(cookie: &str, masker: &Masker, line: &mut String, mut log: Option<&mut Log>) {
    let (name, value) = cookie.split_once('=').unwrap_or((cookie, ""));
    if let Some(log) = log.as_deref_mut().filter(|_| !value.is_empty()) {
        log.add(Rule::Cookies, value);
    }
    let name = name.trim();
    // Names that servers make up: ASPSESSIONIDQCRTBBAD, incap_ses_1234_2345678.
    if let Some(rest) = name.strip_prefix("ASPSESSIONID").filter(|rest| !rest.is_empty()) {
        if let Some(log) = log {
            log.add(Rule::Cookies, rest);
        }
        line.push_str("ASPSESSIONID");
        line.push_str(Rule::Cookies.sign());
        return;
    }
    let mut rest = name;
    let mut plain = String::with_capacity(name.len());
    while let Some(start) = rest.find(|character: char| character.is_ascii_digit()) {
        let digits = rest[start..].bytes().take_while(u8::is_ascii_digit).count();
        let is_word = rest.as_bytes().get(start + digits).is_some_and(u8::is_ascii_alphabetic)
            || start > 0 && rest.as_bytes()[start - 1].is_ascii_alphabetic();
        plain.push_str(&rest[..start]);
        if digits >= 3 && !is_word {
            if let Some(log) = log.as_deref_mut() {
                log.add(Rule::Cookies, &rest[start..start + digits]);
            }
            plain.push_str(Rule::Cookies.sign());
        } else {
            plain.push_str(&rest[start..start + digits]);
        }
        rest = &rest[start + digits..];
    }
    plain.push_str(rest);
    masker.value(&plain, line, log);
}
