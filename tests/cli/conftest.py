"""Runs the command line inside the test, so that codes and both streams can be looked at."""

import io
from collections.abc import Callable
from typing import NamedTuple

import pytest

from neardup import cli


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def runner(*arguments: object, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = cli.run([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return runner
