"""The description of the API by OpenAPI 3.1, made from the types that parse requests."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from neardup._core import __version__
from neardup.service import models
from neardup.service.api import Operation
from neardup.service.errors import MEDIA_TYPE
from neardup.service.requests import JSON, NDJSON

REFERENCE = "#/components/schemas/{name}"
# What can happen to every request, and to one with a body.
ALWAYS = (400, 401, 403, 405, 415, 422, 429, 500, 503)
WITH_ANSWER = (406,)
WITH_BODY = (408, 413)
WHY = {
    400: "What was sent cannot be read: it is not JSON, not UTF-8, or nested too deeply.",
    401: "A token is needed, and none that is known was given.",
    403: "The name in Host, the site in Origin or the token does not allow this.",
    404: "There is no document of this id.",
    405: "The path takes other methods; Allow names them.",
    406: "Accept leaves out the type of the answer.",
    408: "The body did not come in time.",
    409: "The collection cannot do this, as it was made.",
    413: "The body, or the number of its parts, is beyond a limit.",
    415: "The body is of another type, or packed (Content-Encoding).",
    422: "A value is not what it must be; `errors` says which.",
    429: "Too many requests; Retry-After says when to try again.",
    500: "Something went wrong; the log of the service says what.",
    503: "Too much is waiting, or the disk refused; Retry-After says when to try again.",
}
WATCHED: dict[str, tuple[str, str, Any]] = {
    "/healthz": ("The process answers", JSON, {"$ref": "#/components/schemas/Health"}),
    "/readyz": ("Questions are answered", JSON, {"$ref": "#/components/schemas/Health"}),
    "/metrics": ("Numbers for Prometheus", "text/plain", {"type": "string"}),
    "/openapi.json": ("This description", JSON, {"type": "object"}),
}
NOTE = (
    "An object in gives an object out, an array gives an array, and lines of "
    f"{NDJSON} give lines. Errors are problem details (RFC 9457)."
)


def document(operations: Sequence[Operation]) -> bytes:
    """The whole description as JSON."""
    types = [
        kind
        for one in operations
        for kind in (one.body, one.answer, one.line, one.line_answer)
        if kind is not None
    ]
    _, schemas = msgspec.json.schema_components(
        [*types, models.Problem, models.LineProblem, models.Health], ref_template=REFERENCE
    )
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        path = one.path.replace(":any", "")
        paths.setdefault(path, {})[one.method.lower()] = _operation(one)
    paths |= {path: {"get": _watched(path, *of)} for path, of in WATCHED.items()}
    return msgspec.json.format(
        msgspec.json.encode(
            {
                "openapi": "3.1.0",
                "info": {
                    "title": "neardup",
                    "version": __version__,
                    "summary": "Texts that were seen before, but for small changes.",
                    "description": NOTE,
                    "license": {"name": "MIT", "identifier": "MIT"},
                },
                "paths": paths,
                "components": {
                    "schemas": schemas,
                    "securitySchemes": {
                        "token": {"type": "http", "scheme": "bearer"},
                        "password": {"type": "http", "scheme": "basic"},
                    },
                },
                # Nothing is needed where only this machine can reach the service.
                "security": [{}, {"token": []}, {"password": []}],
            }
        ),
        indent=1,
    )


def _watched(path: str, summary: str, kind: str, schema: Any) -> dict[str, Any]:
    return {
        "operationId": path.strip("/").partition(".")[0],
        "summary": summary,
        "responses": {
            "200": {"description": "The answer.", "content": {kind: {"schema": schema}}},
            **{
                str(status): _problem(status) for status in (400, 401, 403, 405, 415, 429, 500, 503)
            },
        },
    }


def _operation(one: Operation) -> dict[str, Any]:
    parameters = [] if one.options is None else _parameters(one.options)
    if "{id" in one.path:
        parameters.insert(
            0,
            {
                "name": "id",
                "in": "path",
                "required": True,
                "description": "In percent-encoding, slashes too.",
                "schema": {"type": "string", "minLength": 1},
            },
        )
    found: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.summary,
        "parameters": parameters,
        "responses": _responses(one),
    }
    if one.body is not None:
        content: dict[str, Any] = {JSON: {"schema": _schema(one.body)}}
        if one.example is not None:
            content[JSON]["examples"] = _examples(one.example)
        if one.reply is not None:
            content[NDJSON] = {"schema": _lines(one.line)}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _responses(one: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if one.answer is None:
        found["204"] = {"description": "Done."}
    else:
        content: dict[str, Any] = {JSON: {"schema": _schema(one.answer)}}
        if one.answer_example is not None:
            content[JSON]["examples"] = _examples(one.answer_example)
        if one.line_answer is not None:
            content[NDJSON] = {"schema": _lines(one.line_answer)}
        found["200"] = {"description": "The answer.", "content": content}
    statuses = {*ALWAYS, *one.errors}
    statuses |= set(WITH_ANSWER if one.answer is not None else ())
    statuses |= set(WITH_BODY if one.body is not None else ())
    for status in sorted(statuses):
        found[str(status)] = _problem(status)
    return found


def _problem(status: int) -> dict[str, Any]:
    return {
        "description": f"{HTTPStatus(status).phrase}. {WHY[status]}",
        "headers": _headers(status),
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _headers(status: int) -> dict[str, Any]:
    names = {405: "Allow", 429: "Retry-After", 401: "WWW-Authenticate", 503: "Retry-After"}
    if status not in names:
        return {}
    kind = "integer" if names[status] == "Retry-After" else "string"
    return {names[status]: {"required": True, "schema": {"type": kind}}}


def _schema(kind: Any) -> Any:
    (found,), _ = msgspec.json.schema_components([kind], ref_template=REFERENCE)
    return found


def _lines(kind: Any) -> dict[str, Any]:
    """JSON Schema has no lines: it is a text, and each line of it is described beside."""
    return {
        "type": "string",
        "description": "One JSON value a line.",
        "contentMediaType": NDJSON,
        "x-line": _schema(kind),
    }


def _parameters(options: type[Any]) -> list[dict[str, Any]]:
    """The fields of the options, as they are in a query: there nothing is null."""
    ((reference,), schemas) = msgspec.json.schema_components([options], ref_template=REFERENCE)
    found = schemas[reference["$ref"].rpartition("/")[2]]
    parameters = []
    for name, schema in found["properties"].items():
        inner = dict(schema)
        text = inner.pop("description", None)
        if "anyOf" in inner:
            (only,) = (x for x in inner.pop("anyOf") if x.get("type") != "null")
            inner |= only
        if inner.get("default", 0) is None:
            del inner["default"]
        parameter: dict[str, Any] = {"name": name, "in": "query", "schema": inner}
        if text:
            parameter["description"] = text
        parameters.append(parameter)
    return parameters


def _examples(example: dict[str, Any]) -> dict[str, Any]:
    return {name: {"value": value} for name, value in example.items()}
