"""The OpenAPI 3.1 document, generated from the types that decode requests."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from neardup._core import __version__
from neardup.service import models
from neardup.service.api import Operation
from neardup.service.errors import PROBLEM_JSON
from neardup.service.requests import JSON, NDJSON

REFERENCE = "#/components/schemas/{name}"
# Error statuses of every operation, of those with a response body, of those with a request body.
COMMON_STATUSES = (400, 401, 403, 405, 415, 422, 429, 500, 503)
RESPONSE_STATUSES = (406,)
BODY_STATUSES = (408, 413)
DESCRIPTIONS = {
    400: "The request is malformed: not JSON, not UTF-8, nested too deeply, or a duplicate header.",
    401: "The token is missing or unknown.",
    403: "The Host, the Origin or the scope of the token does not allow this.",
    404: "No document has this id.",
    405: "Allow lists the methods of this path.",
    406: "The Accept header excludes the type of the response.",
    408: "The body was not complete in time.",
    409: "The collection does not support this, or is too large for it.",
    413: "The body, or the number of its items, exceeds a limit.",
    415: "The Content-Type is not supported, or the body is compressed.",
    422: "A value does not match the schema; `errors` says which.",
    429: "Rate limit exceeded; Retry-After says when to retry.",
    500: "Internal error; see the log of the service.",
    503: "Overloaded, timed out, or disk error; Retry-After says when to retry.",
}
MONITORING: dict[str, tuple[str, str, Any]] = {
    "/healthz": ("Check that the process responds", JSON, {"$ref": "#/components/schemas/Health"}),
    "/readyz": (
        "Check that the service can handle requests",
        JSON,
        {"$ref": "#/components/schemas/Health"},
    ),
    "/metrics": ("Get metrics for Prometheus", "text/plain", {"type": "string"}),
    "/openapi.json": ("Get this document", JSON, {"type": "object"}),
}
NOTE = (
    "An object is answered by an object, an array by an array, and each line of "
    f"{NDJSON} by a line. Errors are problem details (RFC 9457)."
)


def document(operations: Sequence[Operation]) -> bytes:
    """Return the document as JSON."""
    types = [
        kind
        for operation in operations
        for kind in (operation.body, operation.response, operation.line, operation.line_response)
        if kind is not None
    ]
    _, schemas = _components(
        [*types, models.ProblemModel, models.LineProblemModel, models.HealthModel]
    )
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = operation.path.replace(":any", "")
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation)
    paths |= {path: {"get": _monitoring(path, *of)} for path, of in MONITORING.items()}
    return msgspec.json.format(
        msgspec.json.encode(
            {
                "openapi": "3.1.0",
                "info": {
                    "title": "neardup",
                    "version": __version__,
                    "summary": "Find near-duplicate texts in a collection.",
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
                # Without a token file no credentials are needed: hence the empty one.
                "security": [{}, {"token": []}, {"password": []}],
            }
        ),
        indent=1,
    )


def _monitoring(path: str, summary: str, kind: str, schema: Any) -> dict[str, Any]:
    return {
        "operationId": path.strip("/").partition(".")[0],
        "summary": summary,
        "responses": {
            "200": {"description": "Success.", "content": {kind: {"schema": schema}}},
            **{
                str(status): _problem(status) for status in (400, 401, 403, 405, 415, 429, 500, 503)
            },
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    parameters = [] if operation.query is None else _parameters(operation.query)
    if "{id" in operation.path:
        parameters.insert(
            0,
            {
                "name": "id",
                "in": "path",
                "required": True,
                "description": "Percent-encoded, including slashes.",
                "schema": {"type": "string", "minLength": 1},
            },
        )
    schema: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": _responses(operation),
    }
    if operation.body is not None:
        content: dict[str, Any] = {JSON: {"schema": _schema(operation.body)}}
        if operation.example is not None:
            content[JSON]["examples"] = _examples(operation.example)
        if operation.line_handler is not None:
            content[NDJSON] = {"schema": _line_schema(operation.line)}
        schema["requestBody"] = {"required": True, "content": content}
    return schema


def _responses(operation: Operation) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    if operation.response is None:
        responses["204"] = {"description": "Success, without a body."}
    else:
        content: dict[str, Any] = {JSON: {"schema": _schema(operation.response)}}
        if operation.response_example is not None:
            content[JSON]["examples"] = _examples(operation.response_example)
        if operation.line_response is not None:
            content[NDJSON] = {"schema": _line_schema(operation.line_response)}
        responses["200"] = {"description": "Success.", "content": content}
    statuses = {*COMMON_STATUSES, *operation.errors}
    statuses |= set(RESPONSE_STATUSES if operation.response is not None else ())
    statuses |= set(BODY_STATUSES if operation.body is not None else ())
    for status in sorted(statuses):
        responses[str(status)] = _problem(status)
    return responses


def _problem(status: int) -> dict[str, Any]:
    return {
        "description": f"{HTTPStatus(status).phrase}. {DESCRIPTIONS[status]}",
        "headers": _headers(status),
        "content": {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _headers(status: int) -> dict[str, Any]:
    names = {405: "Allow", 429: "Retry-After", 401: "WWW-Authenticate", 503: "Retry-After"}
    if status not in names:
        return {}
    kind = "integer" if names[status] == "Retry-After" else "string"
    return {names[status]: {"required": True, "schema": {"type": kind}}}


def _components(types: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the schemas of types and the components they refer to.

    The public name of a component is that of its class without `Model`: generated clients use it.
    """
    schemas, components = msgspec.json.schema_components(types, ref_template=REFERENCE)
    named = {name.removesuffix("Model"): schema for name, schema in components.items()}
    for schema in named.values():
        schema["title"] = schema["title"].removesuffix("Model")
    return _rename_references(schemas), _rename_references(named)


def _rename_references(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: inner.removesuffix("Model") if key == "$ref" else _rename_references(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return type(value)(map(_rename_references, value))
    return value


def _schema(kind: Any) -> Any:
    (schema,), _ = _components([kind])
    return schema


def _line_schema(kind: Any) -> dict[str, Any]:
    """Return a string schema: JSON Schema cannot describe lines, so `x-line` has that of a line."""
    return {
        "type": "string",
        "description": "One JSON value a line.",
        "contentMediaType": NDJSON,
        "x-line": _schema(kind),
    }


def _parameters(query: type[Any]) -> list[dict[str, Any]]:
    """Return the fields of a query type as parameters, which cannot be null."""
    ((reference,), schemas) = _components([query])
    properties = schemas[reference["$ref"].rpartition("/")[2]]
    parameters = []
    for name, schema in properties["properties"].items():
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
