"""The service: a collection over HTTP, and a page to look at it with."""
