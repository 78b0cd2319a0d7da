"""The rules by which volatile parts of responses are masked, and the views they are masked in."""

from __future__ import annotations

# A name, and what the rule masks; what stands in its place is its name in ‹›, in the singular.
MASKS: dict[str, str] = {
    "dates": "Dates, times of day and ages: 2026-11-17, Tue, 17 Nov 2026 04:25:49 GMT, "
    "2026年11月17日, 4:25 PM, 3 hours ago.",
    "timestamps": "Seconds, milliseconds or more since 1970, of the years 2014 to 2033.",
    "uuids": "UUIDs.",
    "tokens": "Words made at random: hexadecimal digits from 16 on, and mixtures of letters and "
    "digits from 20 on, such as CSRF tokens, nonces and session ids.",
    "request-ids": "What follows Ray ID, Reference #, Request ID, 请求ID and the like.",
    "cookies": "Values and attributes of Set-Cookie; the name stays.",
    "cache-busters": "What keeps URLs from being cached: ?v=123, app.3f2a1b.js.",
    "ips": "IP addresses of versions 4 and 6.",
    "echo": "The request's own URL, host, path, last part of the path or values of the query, "
    "given back as they are, percent-encoded, or escaped for HTML or JSON.",
    "durations": "How long something took, and how many queries: 0.032 seconds, 12 ms, 耗时 2 秒.",
    "headers": "Values of headers that differ from answer to answer: Date, ETag, Age, "
    "Via, X-Cache, CF-Ray and the like; the name stays. Headers of the connection go wholly.",
    "classes": "Parts of class names made by tools: css-1x2y3z, post-1234.",
}

# A name, and what of a response it is.
VIEWS: dict[str, str] = {
    "status": "The status code.",
    "headers": "Names of headers, and values that do not change from answer to answer.",
    "title": "The title of a page.",
    "tags": "Elements of a page with their depth and classes, in order.",
    "keys": "Paths of keys of JSON with the types of their values.",
    "text": "What people read, a block a line; messages in JSON.",
    "body": "Of a body that is no page, JSON or text: its type, and the logarithm of its length.",
}
