"""The HTTP service: an API under /v1 and HTML pages for one collection, and its Python clients.

Main types: `state.Service` (a collection with its thread pools and writer), `api.Operation` (a
method and path of the API), `worker_pool.WorkerPool` (bounded queue of blocking work),
`writer.Writer` (one thread, documents in batches), `errors.HTTPProblem` (an error response).

The path of a request:

    server       Granian in one process with one event loop; background runs it in a thread
    middleware   Host, token (auth), rate (limits), Origin; response headers; metrics
    app          routes: Endpoint for the API, monitoring, pages, static_files
    requests     parses query and body within limits; ndjson streams lines
    api          the table of operations and their handlers; openapi describes them
    answers      computes results in a thread of the pool; changes go through the writer
    models       types of all bodies and queries
    errors       any error → problem details (RFC 9457)

`pages` renders HTML, `learning` has the lessons of the page Learn, `client` has `nd.Client` and
`nd.AsyncClient`. `settings` has all limits and timeouts.

The service does not terminate TLS, compress, or limit connections per address: a reverse proxy does
(deploy/nginx.conf). It serves one collection, in one process.
"""

__all__ = ["background", "client", "server", "settings", "state"]
