"""The description of the API, and whether the service keeps to it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from neardup.service import models
from neardup.service.api import OPERATIONS

# All but one: "positive_data_acceptance" wants every combination of valid options to be taken, and
# a description cannot say that similarity and radius exclude each other.
LEFT_OUT = "positive_data_acceptance"


def fuzz(url: str, folder: Path, *, examples: int, seconds: int, seed: str) -> None:
    """Lets schemathesis ask whatever the description allows, and what it does not."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json"),
            *("--checks", "all", "--exclude-checks", LEFT_OUT, "--seed", seed),
            *("--max-examples", str(examples), "--max-response-time", "20"),
            *("--suppress-health-check", "all", "--no-color"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "No issues found" in done.stdout
    assert httpx.get(f"{url}/readyz").status_code == 200


def test_no_answer_is_a_failure_or_undocumented(served: str, tmp_path: Path) -> None:
    fuzz(served, tmp_path, examples=15, seconds=240, seed="16")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_no_answer_is_a_failure_or_undocumented_in_long(
    served: str, tmp_path: Path, seed: str
) -> None:
    fuzz(served, tmp_path, examples=1000, seconds=3600, seed=seed)


def test_every_operation_is_described_with_its_options(served: str) -> None:
    answer = httpx.get(f"{served}/openapi.json")
    found = answer.json()
    assert found["openapi"] == "3.1.0"
    for operation in OPERATIONS:
        described = found["paths"][operation.path.replace(":any", "")][operation.method.lower()]
        names = {x["name"] for x in described["parameters"] if x["in"] == "query"}
        options = operation.query
        assert names == set(() if options is None else options.__struct_fields__)
        assert {"400", "401", "403", "405", "422", "429", "500", "503"} <= set(
            described["responses"]
        )
        assert ("requestBody" in described) == (operation.body is not None)
    # Generated clients use these names: they stay as long as the API is /v1.
    schemas = found["components"]["schemas"]
    assert " ".join(sorted(schemas)) == (
        "Added Checked CheckedLine Cluster Clusters Compared Differences Document Explained "
        "Feature Found Health Hit LineProblem Match NewDocument Page Pair Passage Problem "
        "Reference Stats Text TextLine"
    )
    assert {name: schema["title"] for name, schema in schemas.items()} == {x: x for x in schemas}
    references = set(re.findall(r'"\$ref": "#/components/schemas/(\w+)"', answer.text))
    assert references <= set(schemas)
    assert {"Match", "Problem", "Health", "TextLine", "Reference"} <= references


def test_examples_are_accepted(served: str) -> None:
    for operation in OPERATIONS:
        for name, example in (operation.example or {}).items():
            url = served + operation.path
            answer = httpx.request(operation.method, url, json=example)
            # Not all documents of the examples are there.
            assert answer.status_code in (200, 404), (operation.name, name, answer.text)
    for id_ in ("soup", "other"):
        httpx.delete(f"{served}/v1/documents/{id_}")


def test_a_problem_has_what_rfc_9457_asks_for() -> None:
    fields = set(models.ProblemModel.__struct_fields__)
    assert {"type", "title", "status", "detail"} <= fields
