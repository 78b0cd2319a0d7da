"""Jobs with the engine spark write what they write with the local one, byte for byte."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from helpers import corpora
from helpers.differing_pairs import TEXTS
from neardup import jobs
from neardup.engines.spark import read_driver
from neardup.files.reading.batch import Reading
from neardup.text.differences import ASPECTS

pytest.importorskip("pysail", reason="the package pysail is missing: pip install 'neardup[spark]'")

COUNTS = (
    *("read", "reference", "unreadable", "no_signal", "candidates", "verified", "pairs"),
    *("clusters", "kept", "removed", "exact", "near", "clustered", "estimated_recall"),
    *("similarity", "radius", "recall", "weakest", "notes"),
)


def records(seed: int = 3, count: int = 160) -> list[corpora.Record]:
    return [*corpora.records_of(seed, count), *corpora.records_of(seed + 1, count)]


def both(
    job: Any,
    inputs: Sequence[Path | str],
    folder: Path,
    suffix: str,
    *,
    uncounted: Sequence[str] = (),
    **options: Any,
) -> Path:
    """Runs a job on both engines, compares all they write, and gives the folder of Spark's."""
    summaries: dict[str, dict[str, Any]] = {}
    problems: dict[str, list[Any]] = {"local": [], "spark": []}
    for engine in ("local", "spark"):
        out = folder / engine
        out.mkdir()
        more = dict(options)
        for name in ("removed", "quarantine", "kinds", "report"):
            if name in more:
                more[name] = out / str(more[name])
        chosen = jobs.Options(engine=engine, on_problem=problems[engine].append, **more)
        summary = job([str(path) for path in inputs], out / f"out{suffix}", chosen)
        summaries[engine] = summary.as_dict()
    local, spark = (
        sorted(path.name for path in (folder / x).iterdir()) for x in ("local", "spark")
    )
    assert local == spark
    assert problems["local"] == problems["spark"]
    counts = [name for name in COUNTS if name not in uncounted]
    compared = {name: summaries["local"].get(name) for name in counts}
    assert {name: summaries["spark"].get(name) for name in counts} == compared
    for name in local:
        one, two = ((folder / engine / name).read_bytes() for engine in ("local", "spark"))
        if name.endswith(".html"):
            # It tells when it was made, and of what.
            assert abs(len(one) - len(two)) < 400
            assert len(two) > 10_000
            continue
        assert one == two, name
    return folder / "spark"


def files(folder: Path, kind: str = "jsonl", *, count: int = 60, packing: str = "") -> list[Path]:
    """Three files of one format."""
    some = records(count=count)
    ending = {"lines": "txt"}.get(kind, kind) + packing
    paths = []
    for number in range(3):
        path, third = folder / f"in{number}.{ending}", some[number::3]
        if kind == "parquet":
            paths.append(corpora.write_parquet(path, third))
        else:
            third = corpora.single_lines(third) if kind == "lines" else third
            paths.append(corpora.write(path, third, kind, packing))
    return paths


@pytest.mark.parametrize(
    ("job", "kind", "packing", "suffix"),
    [
        (jobs.dedup, "jsonl", "", ".jsonl"),
        (jobs.dedup, "jsonl", ".gz", ".jsonl.gz"),
        (jobs.dedup, "csv", "", ".csv"),
        (jobs.dedup, "parquet", "", ".parquet"),
        (jobs.dedup, "lines", "", ".txt"),
        (jobs.pairs, "csv", ".zst", ".csv"),
        (jobs.pairs, "parquet", "", ".jsonl"),
        (jobs.cluster, "tsv", "", ".csv"),
        (jobs.cluster, "lines", ".gz", ".jsonl"),
    ],
)
def test_formats(job: Any, kind: str, packing: str, suffix: str, tmp_path: Path) -> None:
    more: dict[str, Any] = {"removed": "removed.csv"} if job is jobs.dedup else {}
    paths = files(tmp_path, kind, packing=packing)
    both(job, paths, tmp_path, suffix, reading=Reading(lines=kind == "lines"), **more)


@pytest.mark.parametrize(
    ("job", "count", "asked"),
    [
        # The defaults on many texts.
        *((job, 700, {}) for job in (jobs.dedup, jobs.pairs, jobs.cluster)),
        *(
            (jobs.dedup, 60, {"keep": keep, "removed": "removed.jsonl"})
            for keep in ("longest", "shortest", "newest:day", "best:n")
        ),
        (jobs.dedup, 0, {}),
        (jobs.dedup, 120, {"report": "report.html"}),
        (jobs.pairs, 90, {"similarity": 0.7}),
        (jobs.pairs, 90, {"radius": 8}),
        *(
            (jobs.cluster, 90, {"linkage": linkage, "keep": "longest", **asked})
            for asked, linkage in (
                ({"similarity": 0.6, "recall": 0.9}, "star"),
                ({"similarity": 0.6, "recall": 0.9}, "connected"),
                ({"similarity": 0.7, "recall": 1.0}, "star"),
                ({"radius": 20}, "star"),
                ({"radius": 20}, "connected"),
                ({"radius": 3, "recipe": nd.Recipe(bits=64)}, "connected"),
                ({"radius": 0}, "connected"),
                ({"recipe": nd.Recipe(tokens="chars", ngram=3)}, "star"),
            )
        ),
    ],
)
def test_questions(job: Any, count: int, asked: dict[str, Any], tmp_path: Path) -> None:
    path = corpora.write(tmp_path / "in.jsonl", records(9, count), "jsonl")
    suffix = ".jsonl" if job is jobs.dedup else ".csv"
    # A file named twice: ids are repeated, of which a note tells.
    inputs = [path, path] if "report" in asked else [path]
    both(job, inputs, tmp_path, suffix, **asked)


def named(texts: list[str]) -> list[corpora.Record]:
    return [corpora.Record(f"d{at}", text, at, "") for at, text in enumerate(texts)]


@pytest.mark.parametrize("asked", [{}, {"radius": 30}, {"radius": 30, "linkage": "connected"}])
@pytest.mark.parametrize("distinguish", [None, *ASPECTS, ",".join(ASPECTS)])
def test_what_differs(asked: dict[str, Any], distinguish: str | None, tmp_path: Path) -> None:
    """The shared table, with copies of some of its texts."""
    path = corpora.write(tmp_path / "in.jsonl", named([*TEXTS, *TEXTS[3:18:4]]), "jsonl")
    for job in (jobs.dedup, jobs.pairs, jobs.cluster):
        folder = tmp_path / job.__name__
        folder.mkdir()
        more = {"removed": "removed.csv"} if job is jobs.dedup else {}
        suffix = ".jsonl" if job is jobs.dedup else ".csv"
        both(job, [path], folder, suffix, distinguish=distinguish, **asked, **more)


@pytest.mark.parametrize("asked", [{}, {"radius": 30}], ids=str)
def test_what_differs_from_a_reference(asked: dict[str, Any], tmp_path: Path) -> None:
    old, new = (
        corpora.write(tmp_path / f"{name}.jsonl", named(TEXTS)[start::2], "jsonl")
        for start, name in enumerate(("old", "new"))
    )
    given: dict[str, Any] = {"uncounted": ["candidates"] if asked else [], "removed": "removed.csv"}
    given |= {"against": (str(old),), "distinguish": "negation,order"}
    both(jobs.dedup, [new], tmp_path, ".jsonl", **asked, **given)


def test_texts_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, text in enumerate(corpora.texts_of(5, 40)):
        (folder / f"{number:02}.txt").write_text(text, encoding="utf-8")
    both(jobs.cluster, [folder], tmp_path, ".csv")


def collected(path: Path, recipe: nd.Recipe | None = None) -> str:
    with nd.Collection.open(path, recipe) as collection:
        collection.add([(record.id, record.text) for record in corpora.records_of(3, 60)])
    return str(path)


@pytest.mark.parametrize(
    ("against", "asked"),
    [
        (["file"], {}),
        (["file"], {"radius": 10}),
        (["collection", "file"], {}),
        (["other recipe"], {}),
    ],
    ids=str,
)
def test_against(against: list[str], asked: dict[str, Any], tmp_path: Path) -> None:
    made = {
        "file": lambda: str(corpora.write(tmp_path / "old.jsonl", records(20, 50), "jsonl")),
        "collection": lambda: collected(tmp_path / "old.neardup"),
        "other recipe": lambda: collected(tmp_path / "other.neardup", nd.Recipe(bits=64)),
    }
    new = [*records(3, 50), *records(20, 25), *records(8, 40)]
    path = corpora.write(tmp_path / "new.jsonl", new, "jsonl")
    # By radius the local engine compares all with all, and then takes pairs across.
    given: dict[str, Any] = {"uncounted": ["candidates"] if asked else [], "removed": "removed.csv"}
    given["against"] = [made[each]() for each in against]
    both(jobs.dedup, [path], tmp_path, ".jsonl", **given, **asked)


def test_bad_records_are_quarantined_with_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file is cut into many parts: lines are numbered as if it were one.
    monkeypatch.setattr(read_driver, "PART_BYTES", 1000)
    lines = []
    for number, record in enumerate(records(4, 80)):
        made = {"text": record.text, "n": record.n}
        if number % 3:
            made["id"] = record.id if number % 11 else [record.id]
        lines.append(json.dumps(made, ensure_ascii=number % 2 == 0).encode())
        if number % 7 == 0:
            lines.append([b"{", b"[1]", b'{"text": 5}', b"\xff\xfe", b"", b'{"no": 1}'][number % 6])
    lines[13] = b'{"text": "' + b"long " * 1500 + b'"}'
    for name, end in (("with.jsonl", b"\n"), ("without.jsonl", b"")):
        (tmp_path / name).write_bytes(b"\n".join(lines) + end)
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        found = both(jobs.dedup, [tmp_path / name], folder, ".jsonl", removed="removed.jsonl")
        assert (found / "out.quarantine.jsonl").stat().st_size > 500
        (folder / "less").mkdir()
        limited = Reading(max_document=4000)
        both(jobs.cluster, [tmp_path / name], folder / "less", ".jsonl", reading=limited)


def test_damaged_and_foreign_files(tmp_path: Path) -> None:
    good = files(tmp_path, "jsonl", packing=".gz")
    good[1].write_bytes(good[1].read_bytes()[:-40])
    utf16 = tmp_path / "wide.jsonl"
    utf16.write_bytes(
        "\n".join(json.dumps({"text": x}) for x in corpora.texts_of(3)).encode("utf-16")
    )
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    marked = tmp_path / "marked.jsonl"
    marked.write_bytes(b"\xef\xbb\xbf" + b'{"text": "a text behind a mark"}\n')
    both(jobs.cluster, [*good, utf16, empty, marked], tmp_path, ".csv")


def test_captures(tmp_path: Path) -> None:
    lines = [
        json.dumps(
            {
                "url": f"https://h{number % 5}.example/{number}",
                "status_code": 200,
                "title": f"Page {number % 3}",
                "response": "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n<html><body><p>"
                + " ".join(random.Random(number % 4).choices(corpora.WORDS, k=30))
                + f"</p><p>{number}</p></body></html>",
            }
        )
        for number in range(40)
    ]
    path = tmp_path / "httpx.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    both(jobs.cluster, [path], tmp_path, ".csv", recipe="http", kinds="kinds.csv")


def test_many_alike_under_few_keys(tmp_path: Path) -> None:
    """One template fills most of the corpus: buckets are dense."""
    chance = random.Random(3)
    base = " ".join(chance.choices(corpora.WORDS, k=40))
    lines = [f"{base} number {number} {chance.choice(corpora.WORDS)}" for number in range(600)]
    some = [corpora.Record(f"r{n}", text, 1, "") for n, text in enumerate(lines)]
    path = corpora.write(tmp_path / "in.jsonl", [*some, *records(7, 60)], "jsonl")
    for job, suffix in ((jobs.dedup, ".jsonl"), (jobs.pairs, ".csv")):
        (tmp_path / suffix[1:]).mkdir()
        both(job, [path], tmp_path / suffix[1:], suffix)


@pytest.mark.parametrize(
    "limits",
    [
        # Files beyond those that stay open.
        {"jobs.spool.MAX_OPEN_FILES": 1, "jobs.read.MAX_OPEN_FILES": 1},
        # Tables that go by a file.
        {
            "engines.spark.engine.MAX_PLAN_BYTES": 100,
            "engines.spark.judging.ROUND_BYTES": 2000,
            "engines.spark.judging.PACKET_PAIRS": 7,
        },
    ],
    ids=["files", "tables"],
)
def test_limits_change_no_output(
    limits: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(f"neardup.{name}", value)
    both(jobs.dedup, files(tmp_path), tmp_path, ".jsonl", removed="removed.csv")


def test_rounds_and_what_only_the_driver_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_driver, "ROUND_BYTES", 4000)
    monkeypatch.setattr(read_driver, "MAX_WHOLE_BYTES", 2000 * read_driver.TEXT_GROWTH)
    monkeypatch.setattr("neardup.engines.spark.read_worker.PIECE_BYTES", 500)
    paths = [*files(tmp_path, "csv"), tmp_path / "small.csv"]
    corpora.write(paths[-1], records(5, 6), "csv")
    assert max(path.stat().st_size for path in paths) > 2000 > paths[-1].stat().st_size
    both(jobs.dedup, paths, tmp_path, ".csv", removed="removed.csv")


@pytest.mark.parametrize("kinds", [[3], [4000], [4000, 3]], ids=str)
def test_what_comes_back_at_once(
    kinds: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of short records more bytes come back than they have, of long ones few: places and sketches.
    The driver holds about as many at a time, and not many times as many when one follows the
    other."""
    monkeypatch.setattr(read_driver, "PART_BYTES", 2000)
    monkeypatch.setattr(read_driver, "ROUND_BYTES", 20_000)
    rounds: list[tuple[int, int]] = []
    real = read_driver.DistributedReader._run

    def noted(self: Any, units: Any, task: Any) -> list[Any]:
        found = real(self, units, task)
        came = sum(len(row["payload"]) for row in found if row["kind"] == "batch")
        if came:
            rounds.append((len(units), came))
        return found

    monkeypatch.setattr(read_driver.DistributedReader, "_run", noted)
    chance = random.Random(5)
    path = tmp_path / "in.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for words in kinds:
            for number in range(1200 if words == 3 else 60):
                text = " ".join(chance.choices(corpora.WORDS, k=words))
                file.write(json.dumps({"id": f"{words}-{number}", "text": text}) + "\n")
    options = jobs.Options(engine="spark")
    assert jobs.cluster([str(path)], tmp_path / "out.csv", options).read >= 60
    assert max(came for _, came in rounds) <= 8 * 20_000
    if kinds == [3]:
        # The first is a guess.
        assert max(came for _, came in rounds[1:]) <= 2 * 20_000
        assert len(rounds) > 5
    if kinds == [4000]:
        assert max(units for units, _ in rounds) > 2 * rounds[0][0]


def test_files_of_spark_by_url(tmp_path: Path) -> None:
    """As s3a:// and hdfs://: bytes come through Spark, and records are called by their URL."""
    paths = files(tmp_path, "jsonl", packing=".gz")
    urls = [path.as_uri() for path in paths]
    both(jobs.dedup, urls, tmp_path, ".jsonl", removed="removed.csv")


def test_a_folder_of_spark_by_url(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    paths = files(tmp_path / "in")
    (tmp_path / "in" / "other.xyz").write_bytes(b"of no known kind")
    whole, one = tmp_path / "whole.csv", tmp_path / "one.csv"
    spark = jobs.Options(engine="spark")
    jobs.cluster([(tmp_path / "in").as_uri()], whole, spark)
    jobs.cluster([path.as_uri() for path in paths], one, spark)
    assert whole.read_bytes() == one.read_bytes()


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    data = corpora.write(tmp_path / "in.jsonl", records(count=30), "jsonl").read_bytes()
    written = []
    for engine in ("local", "spark"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        out = tmp_path / f"{engine}.jsonl"
        chosen = jobs.Options(engine=engine, reading=Reading(format="jsonl"))
        jobs.dedup(["-"], out, chosen)
        written.append(out.read_bytes())
    assert written[0] == written[1]


def test_resumed(tmp_path: Path) -> None:
    """What one engine has read, the other goes on from."""
    path = corpora.write(tmp_path / "in.jsonl", records(count=40), "jsonl")
    out, work = tmp_path / "out.jsonl", tmp_path / "work"
    jobs.dedup([str(path)], tmp_path / "plain.jsonl")

    class Stop:
        def stage(self, name: str, total: int | None, unit: str) -> None:
            if name == "comparing with kept records":
                raise KeyboardInterrupt

        def advance(self, count: int) -> None: ...

    with pytest.raises(KeyboardInterrupt):
        jobs.dedup([str(path)], out, jobs.Options(engine="spark", work_dir=work, progress=Stop()))
    assert not out.exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neardup.jobs.read.spool_files", lambda *_: pytest.fail("read again"))
        jobs.dedup([str(path)], out, jobs.Options(engine="spark", work_dir=work, resume=True))
    assert out.read_bytes() == (tmp_path / "plain.jsonl").read_bytes()
    assert not work.exists()


def test_strict_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"text": "a good one"}\n{bad\n')
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"of before")
    with pytest.raises(jobs.UnreadableError, match=r"in\.jsonl:2: not JSON"):
        jobs.dedup([str(path)], out, jobs.Options(engine="spark", strict=True))
    assert out.read_bytes() == b"of before"
    assert sorted(x.name for x in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_texts_too_long_to_be_sent_are_judged_by_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages of servers are limited; texts in Chinese have three bytes a character."""
    from neardup.engines.spark import judging

    monkeypatch.setattr(judging, "MAX_PACKET_BYTES", 20_000)
    monkeypatch.setattr(judging, "PACKET_BYTES", 4_000)
    chance = random.Random(1)
    texts = ["".join(chance.choices("天地玄黄宇宙洪荒日月盈昃辰宿列张", k=6_000)) for _ in range(4)]
    long = [f"{text}{at}" for at in range(3) for text in texts]
    some = [corpora.Record(f"l{at}", text, 1, "") for at, text in enumerate(long)]
    path = corpora.write(tmp_path / "in.jsonl", [*some, *records(7, 60)], "jsonl")
    sent: list[int] = []
    real = judging._send_packets

    def watched(session: Any, recipe: Any, packets: Any) -> Any:
        sent.extend(packet.bytes for packet in packets)
        return real(session, recipe, packets)

    monkeypatch.setattr(judging, "_send_packets", watched)
    both(jobs.pairs, [path], tmp_path, ".csv")
    assert sent
    assert max(sent) <= 20_000


def test_the_file_of_a_large_table_is_one_of_the_work_folder() -> None:
    """What a killed job leaves is tidied up by names."""
    from neardup.engines.spark.engine import TABLE_FILE
    from neardup.jobs.work_folder import KNOWN_FILES

    assert TABLE_FILE in KNOWN_FILES


@pytest.mark.parametrize("bucket", [8, 100])
def test_heavy_keys_are_cut_and_no_pair_is_repeated(
    bucket: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Buckets of some parts are dense and others are not."""
    from neardup.engines.spark.request import Limits

    small = Limits(bucket_rows=bucket)
    monkeypatch.setattr("neardup.engines.spark.engine.Limits", lambda: small)
    chance = random.Random(4)
    base = chance.choices(corpora.WORDS, k=30)
    some = []
    for number in range(400):
        words = list(base)
        for _ in range(chance.choice([1, 1, 2, 6, 9])):
            words[chance.randrange(30)] = chance.choice(corpora.WORDS)
        some.append(corpora.Record(f"r{number}", " ".join(words), 1, ""))
    path = corpora.write(tmp_path / "in.jsonl", some, "jsonl")
    # What is dense is looked at in another way, and counted so.
    uncounted = ["candidates", "verified", "estimated_recall", "pairs"]
    for job, suffix in ((jobs.pairs, ".csv"), (jobs.dedup, ".jsonl"), (jobs.cluster, ".jsonl")):
        folder = tmp_path / job.__name__
        folder.mkdir()
        both(job, [path], folder, suffix, uncounted=uncounted)
