//! The rules by which volatile parts are masked: names, and the patterns of those that words tell.

/// The names of all rules.
pub const MASKS: [&str; 12] = [
    "dates",
    "timestamps",
    "uuids",
    "tokens",
    "request-ids",
    "cookies",
    "cache-busters",
    "ips",
    "echo",
    "durations",
    "headers",
    "classes",
];

/// A rule, as the place of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Dates,
    Timestamps,
    Uuids,
    Tokens,
    RequestIds,
    Cookies,
    CacheBusters,
    Ips,
    Echo,
    Durations,
    Headers,
    Classes,
}

impl Rule {
    pub(super) fn name(self) -> &'static str {
        MASKS[self as usize]
    }

    /// Returns the replacement for masked text.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Rule::Dates => "‹date›",
            Rule::Timestamps => "‹timestamp›",
            Rule::Uuids => "‹uuid›",
            Rule::Tokens => "‹token›",
            Rule::RequestIds => "‹request-id›",
            Rule::Cookies => "‹cookie›",
            Rule::CacheBusters => "‹cache-buster›",
            Rule::Ips => "‹ip›",
            Rule::Echo => "‹echo›",
            Rule::Durations => "‹duration›",
            Rule::Headers => "‹header›",
            Rule::Classes => "‹class›",
        }
    }
}

/// How a match of a pattern is looked at before it is masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// All of it is masked.
    Whole,
    /// A time of day: not within an address or a number.
    Time,
    /// Digits that may be a price, a phone number or an ISBN.
    Number,
    /// An address of version 4, or four numbers of a version.
    Four,
    /// An address of version 6.
    Six,
    /// A label and a value; the value is masked if it holds a digit.
    Value,
    /// The same, of a value that is a number.
    Amount,
    /// A file's name with a hash in it.
    File,
    /// A word that may be made at random.
    Random,
}

/// Returns the patterns, in order of preference if they match at the same position.
///
/// All repetitions but that of the last are bounded, so that a failed search reads at most a few hundred bytes.
pub(super) fn patterns() -> Vec<(Rule, Look, String)> {
    const MONTH: &str = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
    const MONTH_NAME: &str = r"(?-i:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";
    const DAY_NAME: &str = r"(?:(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?[,.]?[ ])";
    const YEAR: &str = r"(?:19|20)[0-9]{2}";
    const MONTH_NUMBER: &str = r"(?:1[0-2]|0?[1-9])";
    const DAY: &str = r"(?:3[01]|[12][0-9]|0?[1-9])";
    let time = r"(?:[01]?[0-9]|2[0-4]):[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]{1,9})?)?(?:[ ]?[ap]\.?m\b\.?)?";
    let zone = r"(?:[ ]?(?-i:Z|UTC|GMT|CET|CEST|EET|EEST|WET|[ECMP][SD]T|JST|KST|BST|IST|MSK|AEST)\b(?:[+-][0-9]{1,2}(?::?[0-9]{2})?)?|[ ]?[+-][0-9]{2}:?[0-9]{2}\b)";
    let clock = format!(r"(?:{time}{zone}?)");
    let then = format!(r"(?:(?:T|:|,?[ ](?:at[ ]|-[ ]|\|[ ])?){clock})?");
    let chinese_clock = r"(?:[ ]?(?:(?:上午|下午|凌晨|早上|晚上|中午)[ ]?)?(?:[0-9]{1,2}[:：][0-9]{2}(?:[:：][0-9]{2})?|[0-9]{1,2}[时時点點](?:[0-9]{1,2}分(?:[0-9]{1,2}秒)?)?))";
    let weekday = r"(?:[ ]?[(（]?(?:星期|周|週|礼拜)[一二三四五六日天][)）]?)";
    const UNIT: &str = r"(?:ms|msecs?|us|µs|μs|ns|secs?|seconds?|milliseconds?|microseconds?)\b|毫秒|微秒|秒";
    let rules = [
        (Rule::Uuids, Look::Whole, r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b".into()),
        (
            Rule::RequestIds,
            Look::Value,
            r#"(?:\b(?:ray|request|req|trace|span|correlation|incident|support|event|error|transaction|session|log|host|activity|reference|ref)[ _-]?(?:id|number|no|code)\b\.?|\breference|\bincident|\bray|(?:请求|事件|追踪|跟踪|会话|错误|日志|参考|拦截)[ ]?(?:id|编号|号|标识|码)|流水号|编号)[ ]?(?:(?:is|为|是)[ ])?[:#=：]{0,2}[ ]?#?["'(\[]?[a-z0-9][a-z0-9._:-]{3,100}"#.into(),
        ),
        // 2026-11-17T04:25:49.123Z, 2026/11/17, 2026.11.17
        (
            Rule::Dates,
            Look::Whole,
            format!(r"\b{YEAR}(?:-{MONTH_NUMBER}-{DAY}|/{MONTH_NUMBER}/{DAY}|\.(?:0[1-9]|1[0-2])\.(?:0[1-9]|[12][0-9]|3[01])){then}"),
        ),
        // Tue, 17 Nov 2026 04:25:49 GMT, 17-Nov-26 04:25, 17/Nov/2026:04:25:49 +0000, 17th of November, 2026
        (
            Rule::Dates,
            Look::Whole,
            format!(r"\b{DAY_NAME}?{DAY}(?:st|nd|rd|th)?[ /-](?:of[ ])?{MONTH}(?:[.,]?[ ]|[/-])(?:{YEAR}|[0-9]{{2}}\b){then}"),
        ),
        // Tue Nov 17 04:25:49 UTC 2026
        (
            Rule::Dates,
            Look::Whole,
            format!(r"\b{DAY_NAME}?{MONTH}[ ]{DAY}[ ]{time}(?:[ ][A-Z]{{3,4}})?[ ]{YEAR}\b"),
        ),
        // November 17, 2026 at 4:25 AM
        (
            Rule::Dates,
            Look::Whole,
            format!(r"\b{DAY_NAME}?{MONTH}\.?[ ]{DAY}(?:st|nd|rd|th)?,?[ ]{YEAR}\b{then}"),
        ),
        // 17.11.2026 04:25, 11/17/2026, 17/11/26
        (
            Rule::Dates,
            Look::Whole,
            format!(r"\b{DAY}(?:/{DAY}/(?:{YEAR}|[0-9]{{2}})|\.{MONTH_NUMBER}\.{YEAR}|-{DAY}-{YEAR})\b{then}"),
        ),
        // Nov 17, 17 Nov, November 2026
        (
            Rule::Dates,
            Look::Whole,
            format!(r"\b{DAY_NAME}?(?:{MONTH_NAME}\.?[ ](?:{YEAR}|{DAY}(?:st|nd|rd|th)?)|{DAY}(?:st|nd|rd|th)?[ ]{MONTH_NAME})\b{then}"),
        ),
        // 2026年11月17日 星期二 上午4:25, 11月17日, 2026년 11월 17일
        (
            Rule::Dates,
            Look::Whole,
            format!(r"(?:(?:{YEAR}|\b[0-9]{{2}})[ ]?年[ ]?{MONTH_NUMBER}[ ]?月(?:[ ]?{DAY}[ ]?[日号號])?|\b{MONTH_NUMBER}[ ]?月[ ]?{DAY}[ ]?[日号號]|{YEAR}년[ ]?{MONTH_NUMBER}월(?:[ ]?{DAY}일)?){weekday}?{chinese_clock}?"),
        ),
        (Rule::Dates, Look::Whole, format!(r"\b{YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:[T-]?(?:[01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]Z?)?\b")),
        (Rule::Dates, Look::Whole, r"\b[0-9]{1,3}[ ](?:second|sec|minute|min|hour|day|week|month|year)s?[ ]ago\b|[0-9]{1,3}[ ]?(?:秒|分钟|小时|天|周|个月|年)前".into()),
        (Rule::Ips, Look::Four, r"\b(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\b".into()),
        (Rule::Ips, Look::Six, r"(?:\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|\b(?:[0-9a-f]{1,4}:){1,6}:(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5})?|::(?:ffff:(?:[0-9]{1,3}\.){3}[0-9]{1,3}|[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6}))\b".into()),
        (Rule::Durations, Look::Amount, format!(r"(?:\b(?:generated|rendered|loaded|executed|processed|completed|finished|took|elapsed|load[ ]time|time)(?:[ ](?:in|time|within|after))?|耗时|用时|执行时间)[ ]?[:：=]?[ ]?[0-9]{{1,6}}[.,][0-9]{{1,20}}(?:[ ]?(?:s\b|{UNIT}))?")),
        (Rule::Durations, Look::Time, format!(r"\b[0-9]{{1,9}}(?:[.,][0-9]{{1,20}})?[ ]?(?:{UNIT})|\b[0-9]{{1,6}}\.[0-9]{{1,20}}[ ]?s\b|\b[0-9]{{1,6}}[ ](?:sql[ ]|db[ ]|database[ ])?quer(?:y|ies)\b")),
        (Rule::Dates, Look::Time, format!(r"\b{clock}|\b[0-9]{{1,2}}[时時点點][0-9]{{1,2}}分(?:[0-9]{{1,2}}秒)?")),
        (Rule::Timestamps, Look::Number, r"\b1[4-9][0-9]{8}(?:\.[0-9]{1,9}|[0-9]{3}|[0-9]{6}|[0-9]{9})?\b".into()),
        (Rule::CacheBusters, Look::Value, r"[?&](?:v|ver|version|_|t|ts|time|timestamp|cb|rev|hash|h|build|bust|nocache|rnd|rand|random|r|cachebuster|cache)=[a-z0-9._%-]{1,100}".into()),
        (Rule::CacheBusters, Look::File, r"[.-][a-z0-9_]{6,64}(?:\.(?:chunk|bundle|min|module|async)){0,2}\.(?:m?js|css|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|json)\b".into()),
        (Rule::Tokens, Look::Whole, r"\beyJ[a-z0-9_-]{8,4000}\.[a-z0-9_-]{8,4000}(?:\.[a-z0-9_-]{0,4000})?".into()),
        (Rule::Tokens, Look::Value, r"\bnonce-[a-z0-9+/_-]{4,200}={0,2}".into()),
        (Rule::Tokens, Look::Random, r"[a-z0-9_+/~-]{16,}={0,2}".into()),
    ];
    rules.into_iter().map(|(rule, look, pattern): (Rule, Look, String)| (rule, look, pattern)).collect()
}
