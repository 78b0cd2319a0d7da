"""What is in deploy/ calls the command with options it has, and nothing else."""

from __future__ import annotations

import configparser
import json
import re
from pathlib import Path

from neardup.cli.serve import serve
from neardup.service.settings import ServiceSettings

DEPLOY = Path(__file__).parents[2] / "deploy"


def options() -> set[str]:
    return {name for parameter in serve.params for name in parameter.opts}


def test_the_unit_of_systemd_starts_a_service_with_tokens() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "neardup.service", encoding="utf-8")
    words = unit["Service"]["ExecStart"].split()
    assert words[1] == "serve"
    assert {word for word in words if word.startswith("--")} <= options()
    assert "--token-file" in words
    assert unit["Service"]["LoadCredential"].startswith("tokens:")
    assert int(unit["Service"]["TimeoutStopSec"]) > ServiceSettings().shutdown_seconds
    assert int(unit["Service"]["LimitNOFILE"]) > ServiceSettings().connections


def test_the_image_asks_for_tokens_and_does_not_run_as_root() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    (entry,) = re.findall(r"^ENTRYPOINT (.*)$", text, re.M)
    (arguments,) = re.findall(r"^CMD (.*)$", text, re.M)
    assert json.loads(entry) == ["neardup", "serve"]
    words = json.loads(arguments)
    assert {word for word in words if word.startswith("--")} <= options()
    assert "--token-file" in words
    assert not ServiceSettings(host=words[words.index("--host") + 1]).is_local
    assert re.search(r"^USER neardup$", text, re.M)
    assert f"EXPOSE {ServiceSettings().port}" in text


def test_the_proxy_limits_connections_and_says_that_it_has_tls() -> None:
    text = (DEPLOY / "nginx.conf").read_text("utf-8")
    words = {line.strip().rstrip(";") for line in text.splitlines()}
    assert f"proxy_pass http://127.0.0.1:{ServiceSettings().port}" in words
    assert "proxy_set_header X-Forwarded-Proto $scheme" in words
    # The name that the client asked for: of another one the service refuses what forms send.
    assert "proxy_set_header Host $http_host" in words
    (limit,) = re.findall(r"^    limit_conn (\w+) \d+;$", text, re.M)
    assert f"zone={limit}:" in text
