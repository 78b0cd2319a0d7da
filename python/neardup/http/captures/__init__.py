"""Captures of HTTP responses: WARC, HAR, httpx, Burp, raw messages."""
