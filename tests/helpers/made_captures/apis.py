"""APIs: JSON in lists, objects and errors. One endpoint's answers of one status are one kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .volatile import Volatile
from .words import LANGUAGES
from .written import Maker, Written

_EN, _ZH = LANGUAGES["en"], LANGUAGES["zh"]


def _api(
    build: Callable[[Volatile, str, str], Any],
    *headers: str,
    status: int = 200,
    content: str = "application/json",
) -> Maker:
    def make(volatile: Volatile, host: str, path: str) -> Written:
        written = [("Date", volatile.http_date()), ("Content-Type", content)]
        for line in headers:
            name, _, value = line.partition(": ")
            value = value.replace("{id}", volatile.uuid()).replace("{hex}", volatile.hex(32))
            written.append((name, value.replace("{n}", str(volatile.random.randrange(5000)))))
        body = json.dumps(build(volatile, host, path), ensure_ascii=volatile.random.random() < 0.5)
        return Written(path, status, written, body)

    return make


def _products(volatile: Volatile, host: str, path: str) -> Any:
    random = volatile.random
    items = [
        {
            "id": random.randrange(10**6),
            "sku": volatile.hex(8).upper(),
            "name": _EN.name(random),
            "price": {"amount": random.randrange(100, 99999), "currency": "EUR"},
            "tags": [_EN.word(random) for _ in range(random.randint(1, 4))],
            "in_stock": random.random() < 0.8,
        }
        for _ in range(random.randint(3, 30))
    ]
    return {"data": items, "meta": {"total": random.randrange(9999), "page": 1, "took": 3}}


def _user(volatile: Volatile, host: str, path: str) -> Any:
    random = volatile.random
    user: dict[str, Any] = {
        "id": volatile.uuid(),
        "login": _EN.name(random, 1, 1).lower(),
        "profile": {"bio": _EN.sentence(random), "location": _EN.name(random, 1, 1), "site": None},
        "created_at": volatile.iso(),
        "stats": {"followers": random.randrange(9999), "following": random.randrange(999)},
    }
    if random.random() < 0.3:
        user["verified"] = True
    return user


def _orders_zh(volatile: Volatile, host: str, path: str) -> Any:
    random = volatile.random
    rows = [
        {
            "orderNo": volatile.seconds() + str(random.randrange(10**6)),
            "goodsName": _ZH.name(random),
            "amount": f"{random.randrange(1, 9999)}.00",
            "createTime": volatile.clock(),
            "status": random.choice(("已支付", "待发货", "已完成")),
        }
        for _ in range(random.randint(1, 20))
    ]
    return {"code": 0, "msg": "操作成功", "data": {"list": rows, "pageNum": 1, "pageSize": 20}}


def _not_signed_in_zh(volatile: Volatile, host: str, path: str) -> Any:
    return {
        "code": 401,
        "msg": "未登录或登录已过期，请重新登录",
        "data": None,
        "traceId": volatile.hex(32),
    }


def _spring(status: int, error: str) -> Callable[[Volatile, str, str], Any]:
    def build(volatile: Volatile, host: str, path: str) -> Any:
        return {"timestamp": volatile.iso_millis(), "status": status, "error": error, "path": path}

    return build


def _denied(volatile: Volatile, host: str, path: str) -> Any:
    return {
        "error": {
            "code": "AccessDenied",
            "message": "The access token is missing or has expired",
            "request_id": volatile.uuid(),
        }
    }


def _limited(volatile: Volatile, host: str, path: str) -> Any:
    return {"message": "Too many requests, slow down", "retry_after": volatile.random.randrange(60)}


def _graph(volatile: Volatile, host: str, path: str) -> Any:
    random = volatile.random
    edges = [
        {"node": {"id": volatile.url_token(12), "title": _EN.name(random), "__typename": "Post"}}
        for _ in range(random.randint(2, 15))
    ]
    page = {"hasNextPage": True, "endCursor": volatile.url_token(18)}
    return {"data": {"viewer": {"posts": {"edges": edges, "pageInfo": page}}}}


def _graph_error(volatile: Volatile, host: str, path: str) -> Any:
    field = _EN.word(volatile.random)
    return {
        "errors": [
            {
                "message": f'Cannot query field "{field}" on type "Query".',
                "locations": [{"line": volatile.random.randint(1, 20), "column": 3}],
                "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
            }
        ]
    }


def _health(volatile: Volatile, host: str, path: str) -> Any:
    parts = {name: {"status": "UP", "details": {"ms": 3}} for name in ("db", "redis", "disk")}
    return {"status": "UP", "components": parts, "time": volatile.iso(), "node": volatile.ip()}


def _series(volatile: Volatile, host: str, path: str) -> Any:
    random = volatile.random
    points = [[int(volatile.seconds()) + 60 * at, random.random()] for at in range(40)]
    return {"metric": _EN.name(random, 1, 2), "unit": "ms", "points": points}


def _weather(volatile: Volatile, host: str, path: str) -> Any:
    random = volatile.random
    days = [
        {"date": volatile.iso()[:10], "low": random.randint(-9, 9), "high": random.randint(10, 30)}
        for _ in range(random.randint(3, 10))
    ]
    return {"city": _EN.name(random, 1, 1), "coord": {"lat": 1.5, "lon": 2.5}, "daily": days}


def _problem(volatile: Volatile, host: str, path: str) -> Any:
    return {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "No resource answers to this address",
        "instance": path,
    }


TUNING: dict[str, Maker] = {
    "api-products": _api(
        _products, "Server: nginx/1.20.1", "X-RateLimit-Remaining: {n}", "Vary: Accept"
    ),
    "api-user": _api(_user, "Server: Cowboy", "X-Request-Id: {id}", 'ETag: W/"{hex}"'),
    "api-orders-zh": _api(_orders_zh, "Server: openresty", "Access-Control-Allow-Origin: *"),
    "api-login-zh": _api(_not_signed_in_zh, "Server: openresty", "Access-Control-Allow-Origin: *"),
    "spring-404": _api(_spring(404, "Not Found"), "Vary: Origin", status=404),
    "spring-500": _api(_spring(500, "Internal Server Error"), "Connection: close", status=500),
    "api-denied": _api(
        _denied, "x-amzn-RequestId: {id}", "X-Amzn-Trace-Id: Root={hex}", status=403
    ),
    "graphql-data": _api(_graph, "X-Powered-By: Express", "Cache-Control: no-store"),
}
HELD_OUT: dict[str, Maker] = {
    "graphql-error": _api(
        _graph_error, "X-Powered-By: Express", "Cache-Control: no-store", status=400
    ),
    "api-limited": _api(_limited, "Server: kong/3.4", "Retry-After: {n}", status=429),
    "api-health": _api(
        _health, "X-Content-Type-Options: nosniff", content="application/vnd.health+json"
    ),
    "api-series": _api(_series, "Server: Grafana", "Cache-Control: no-cache"),
    "api-weather": _api(_weather, "Server: Kestrel", "X-Api-Version: 2"),
    "api-problem": _api(
        _problem,
        "Server: Kestrel",
        "X-Trace: {hex}",
        status=404,
        content="application/problem+json",
    ),
}
