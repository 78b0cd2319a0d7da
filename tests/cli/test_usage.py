"""Usage errors, options and help of all commands, suggestions for typos, and shell completion."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import neardup as nd
from helpers import httpx_captures
from neardup.cli.app import COMPLETION_VARIABLE, root
from neardup.cli.command import FEW_OPTIONS, SECTIONS, Option
from neardup.cli.options import LANGUAGES
from neardup.cli.suggestions import USUAL_COMMANDS, USUAL_OPTIONS
from neardup.reports import page

Run = Callable[..., Any]

# ---- options ----

NEAR = "--similarity --radius --recall --distinguish"
RECIPE = "--recipe --bits"
READING = (
    "--text-column --id-column --lines --format --encoding --delimiter --quoting --no-header "
    "--max-bytes --max-document"
)
PASSAGES = "--template --min-words --min-chars --bridge"
JOB = (
    f"{NEAR} --purpose {RECIPE} {READING} --as --no-mask --within --engine --master --threads "
    "--work-dir --resume -o --out --report --lang --quarantine --no-guard --strict --config --json "
    "-q --quiet"
)
PRINTED = "--json -q --quiet"
# Command → arguments, and options as --help lists them.
OPTIONS = {
    "dedup": ("INPUT...", f"{JOB} --keep --linkage --against --removed --report-clusters"),
    "pairs": ("INPUT...", f"{JOB} --equal"),
    "cluster": ("INPUT...", f"{JOB} --keep --linkage --kinds --labels --report-clusters"),
    "filter": (
        "[INPUT]",
        f"{NEAR} {RECIPE} --text-column --id-column --lines --max-bytes --max-document --as "
        "--no-mask --in --seen --strict -q --quiet",
    ),
    "check": (
        "INPUT...",
        f"{READING} {PASSAGES} {PRINTED} --as --no-mask --against --html -o --out --threshold "
        "--anonymise --lang --ignore-quotations --ignore-references --common --exclude "
        "--author-column --no-guard --threads --strict --config",
    ),
    "search": (
        "[FILE]",
        f"{RECIPE} {READING} {PRINTED} --as --no-mask --text --in -n --by --idf --least -o --out "
        "--no-guard --threads",
    ),
    "serve": (
        "[COLLECTION]",
        "--host --port --token-file --name --read-only --rate --max-body --max-batch --workers "
        "--queue -q --quiet",
    ),
    "compare": (
        "A B",
        f"{RECIPE} {PASSAGES} --text --similarity --radius --encoding --html --lang --json",
    ),
    "fingerprint": (
        "INPUT...",
        f"{RECIPE} {READING} {PRINTED} --as --no-mask -o --out --jsonl --no-guard --threads",
    ),
    "explain": ("[FILE]", f"{RECIPE} --text --encoding --json"),
    "recipes": ("[NAME]", "--json"),
    "completion": ("bash|zsh|fish", ""),
    "index create": ("COLLECTION", f"{RECIPE} {PRINTED} --as --no-mask --no-text --search --runs"),
    "index add": (
        "COLLECTION INPUT...",
        f"{NEAR} {READING} {PRINTED} --as --unless-duplicate --duplicates --no-guard --no-metadata",
    ),
    "index check": (
        "COLLECTION INPUT...",
        f"{NEAR} {READING} {PRINTED} --as -o --out -n --no-guard",
    ),
    "index remove": ("COLLECTION [ID]...", f"{PRINTED} --from"),
    "index stats": ("COLLECTION", "--json"),
    "index verify": ("COLLECTION", PRINTED),
    "index compact": ("COLLECTION", PRINTED),
    "index export": ("COLLECTION", f"{PRINTED} -o --out"),
    "http preview": (
        "FILE",
        f"{PRINTED} -n --at --full --labels --max-bytes --max-document --no-mask --recipe",
    ),
    "http masks": ("", "--json"),
    "http labels": ("", "--labels --json"),
}


def commands(group: click.Group = root, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands that do something, by their full names."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, f"{path}{name} ")
        else:
            yield f"{path}{name}", found


def own_options(command: click.Command) -> list[Option]:
    return [each for each in command.params if isinstance(each, Option)]


def test_every_command_is_in_the_table() -> None:
    assert sorted(name for name, _ in commands()) == sorted(OPTIONS)


@pytest.mark.parametrize("name", OPTIONS)
def test_options_and_arguments(name: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command = dict(commands())[name]
    arguments, options = OPTIONS[name]
    shown = [option for each in own_options(command) for option in each.names]
    assert sorted(shown) == sorted(options.split())
    full, short = (run(*name.split(), option) for option in ("--help", "-h"))
    assert (full.code, full.err, short.code, short.err) == (0, "", 0, "")
    usage = full.out.splitlines()[0]
    assert usage.startswith(f"Usage: neardup {name} {arguments}".rstrip())
    assert ("-o OUT" in usage) == any(each.required for each in own_options(command))
    assert [line for line in full.out.splitlines() if len(line) > 80] == []
    lines = [line.strip() for line in full.out.splitlines()]
    for each in own_options(command):
        assert each.help
        assert each.section in SECTIONS
        assert any(line.startswith(", ".join(each.names)) for line in lines), each.names
    if len(own_options(command)) <= FEW_OPTIONS:
        assert short.out == full.out
        return
    assert len(short.out) < 0.7 * len(full.out)
    assert f"neardup {name} -h" in full.out.splitlines()[-1]
    assert short.out.splitlines()[-1] == (
        f"All {len(own_options(command))} options: neardup {name} --help"
    )
    for each in own_options(command):
        assert (f"  {', '.join(each.names)} " in short.out) == each.daily


def test_sections_of_the_help(run: Run) -> None:
    told = run("dedup", "--help").out
    titles = [line[:-1] for line in told.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles == [
        *("Arguments", "What counts as near", "What is kept", "Reading", "HTTP captures"),
        *("Engine", "Output"),
    ]
    near = told[told.index("What counts as near:") : told.index("What is kept:")]
    assert "--similarity" in near
    assert "--keep" not in near
    short = run("dedup", "-h").out
    daily = short[short.index("Daily options:") :]
    assert daily.splitlines()[1].startswith("  -o, --out OUT ")
    assert daily.index("--similarity") < daily.index("--keep") < daily.index("--text-column")


@pytest.mark.parametrize("group", ["", "index", "http"])
def test_groups_list_their_commands(group: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    told = run(*group.split(), "--help")
    assert told == run(*group.split(), "-h")
    assert told.out.startswith(f"Usage: neardup {group}".rstrip() + " COMMAND ...\n")
    assert [line for line in told.out.splitlines() if len(line) > 80] == []
    for name, command in commands():
        first, _, rest = name.partition(" ")
        if first == group or not group:
            assert f"  {rest if group else first} " in told.out
        if name == f"{group} {rest}".strip():
            assert str(command.help).splitlines()[0] in told.out
    alone = run(*group.split())
    if group:
        assert (alone.code, alone.out, alone.err.strip()) == (2, "", told.out.strip())
    else:
        assert alone == told


def test_a_further_name_of_the_output_works(run: Run, place: Path) -> None:
    assert run("dedup", "in.jsonl", "--output", "o.jsonl", "-q") == (0, "", "")
    assert Path("o.jsonl").read_bytes() == Path("in.jsonl").read_bytes()
    assert "--output" not in run("dedup", "--help").out


def test_languages_are_those_of_pages() -> None:
    assert LANGUAGES == page.LANGUAGES


# ---- usage errors ----


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs, a collection and a capture."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "in.jsonl").write_text('{"id": "a", "text": "one two three four"}\n')
    (folder / "a.txt").write_text("alpha beta gamma")
    (folder / "bad.txt").write_bytes(b"\xff")
    (folder / "first.toml").write_text("version = 1\n")
    (folder / "quoted.toml").write_text('version = "2"\n')
    (folder / "form.toml").write_text('normalize = "folded"\n')
    (folder / "empty").mkdir()
    nd.Collection.open(folder / "seen.neardup").close()
    httpx_captures.write(folder / "scan.jsonl", httpx_captures.mixed())
    return folder


@pytest.fixture
def place(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = shutil.copytree(prepared, tmp_path / "place")
    monkeypatch.chdir(folder)
    return folder


JOB_ERRORS = [
    ("in.jsonl -o o.jsonl --similarity 1.5", "value for --similarity: similarity is 1.5; it must"),
    ("in.jsonl -o o.jsonl --similarity nan", "similarity is nan"),
    ("in.jsonl -o o.jsonl --similarity 0.9 --radius 3", "similarity and radius exclude each other"),
    ("in.jsonl -o o.jsonl --radius -1", "radius is -1; it must be a whole number from 0 to 128"),
    ("in.jsonl -o o.jsonl --recall 0", "recall is 0"),
    ("in.jsonl -o o.jsonl --bits 7", "for --bits: bits is 7"),
    ("in.jsonl -o o.jsonl --recipe nope", "for --recipe: "),
    ("in.jsonl -o o.jsonl --threads 0", "'--threads': 0 is out of range (at least 1)"),
    ("in.jsonl -o o.jsonl --format xml", "format is 'xml'; use one of jsonl, json"),
    ("in.jsonl -o o.jsonl --lang fr", "'--lang': 'fr' is not one of 'en', 'zh'"),
    ("in.jsonl -o o.jsonl --resume", "resume needs the work_dir of the earlier run"),
    ("in.jsonl -o o.docx", "o.docx"),
    ("in.jsonl -o in.jsonl", "in.jsonl: is also an input"),
    ("in.jsonl -o no/o.jsonl", "the folder no does not exist"),
    ("in.jsonl -o - --json", "would be mixed on standard output; leave one out, or name a file"),
    ("- - -o o.jsonl", "standard input (-) can be read only once"),
    ("in.jsonl", "Missing option '-o' / '--out'"),
    ("-o o.jsonl", "Missing argument 'INPUT...'"),
]
CLUSTER = "cluster scan.jsonl -o all.csv"
SEARCH = "search --text a --in in.jsonl"
STORED = "search --text a --in seen.neardup"
# Command line, message. The exit code is 2, or the number in front.
ERRORS = [
    *(
        (f"{job} {rest}", told)
        for job in ("dedup", "pairs", "cluster")
        for rest, told in JOB_ERRORS
    ),
    ("dedup in.jsonl -o o.jsonl --keep last", "keep is 'last'; it must be one of first, longest"),
    ("dedup in.jsonl -o o.jsonl --linkage chain", "linkage is 'chain'; it must be"),
    ("dedup in.jsonl -o o.jsonl --removed o.jsonl", "named for two outputs"),
    ("dedup in.jsonl -o o.jsonl --removed -.csv --json", "--removed -.csv would be mixed"),
    ("dedup in.jsonl -o o.jsonl --report r.txt", "unknown ending"),
    ("dedup in.jsonl -o o.jsonl --report - --json", "--report - would be mixed"),
    ("dedup in.jsonl -o o.jsonl --against empty", "no file to read in this folder"),
    ("1 dedup no.jsonl -o o.jsonl", "no.jsonl: no such file"),
    ("pairs in.jsonl -o o.jsonl --equal none", "equal is 'none'; it must be"),
    (f"{CLUSTER} --as htpp", "'htpp' is not known; it must be http, for captures of HTTP"),
    (f"{CLUSTER} --as http --lines", "--lines: is for texts, and the inputs are captures"),
    (f"{CLUSTER} --as http --text-column body", "--text-column: is for texts, and the inputs"),
    (f"{CLUSTER} --as http --format csv", "'csv' is for texts"),
    (f"{CLUSTER} --as http --recipe default", "'default' is a recipe for texts; for responses use"),
    (f"{CLUSTER} --as http --no-mask date", "'date' is not a rule of masking; there are dates, "),
    (f"{CLUSTER} --no-mask dates", "is for captures of HTTP responses"),
    (f"{CLUSTER} --within host", "within is 'host', which is for captures"),
    (f"{CLUSTER} --kinds k.csv", "kinds is 'k.csv', which is for captures"),
    (f"{CLUSTER} --as http --labels none.toml", "no output has labels"),
    (f"{CLUSTER} --as http --kinds k.csv --labels none.toml", "none.toml: No such file"),
    (f"{CLUSTER} --as http --kinds all.csv", "named for two outputs"),
    (f"{CLUSTER} --as http --kinds k.xlsx", "unknown ending"),
    (f"{CLUSTER} --as http --kinds - --json", "--kinds - would be mixed"),
    (f"{CLUSTER} --as http --within title", "and responses cannot be grouped by it"),
    (f"{CLUSTER} --as http --delimiter ;", "--delimiter is for"),
    (f"{CLUSTER} --as http --within host --within ip", "is given 2 times (host, ip)"),
    ("filter --in seen", "the name of a collection must end in .neardup"),
    ("filter --seen x.csv", "use a name that ends in .jsonl"),
    ("filter --similarity 2", "similarity is 2.0"),
    ("filter --similarity 0.9 --radius 3", "radius"),
    ("filter --recipe nosuch", "nosuch"),
    (
        "1 filter in.jsonl --in seen.neardup --recipe default-2",
        "and opened with neardup2 normalize",
    ),
    ("filter empty", "empty: is a folder; name a file in it"),
    ("1 filter nowhere.jsonl", "nowhere.jsonl: No such file"),
    ("filter scan.jsonl --as http --lines", "is for texts"),
    ("filter scan.jsonl --as https", "'https' is not known"),
    ("filter scan.jsonl --no-mask ips", "add --as http"),
    ("filter scan.jsonl --as http --recipe default", "'default' is a recipe for texts"),
    *(
        (f"check in.jsonl --threshold '{given}'", "0 to 1: 0.3 for 30 %")
        for given in ("30", "50%", "30 %", "-0.1", "nan")
    ),
    ("check in.jsonl --lang de", "'--lang': 'de' is not one of 'en', 'zh'"),
    ("check in.jsonl --html report --lang de", "'--lang': 'de' is not one of 'en', 'zh'"),
    ("check in.jsonl --common x", "'--common'"),
    ("check in.jsonl --min-words 0", "'--min-words': 0 is out of range (1–1000)"),
    ("1 check none.jsonl", "none.jsonl: no such file"),
    ("search --text a", "for --in: say where to search"),
    ("search --in in.jsonl", "pass either a file (- for standard input) or --text T"),
    ("search x.txt --text a --in in.jsonl", "pass either a file"),
    ("search - --in -", "standard input (-) can be read only once"),
    (f"{SEARCH} -n 0", "'-n': 0 is out of range (at least 1)"),
    (f"{SEARCH} --least 1.5", "'--least': 1.5 is out of range (0–1)"),
    (f"{SEARCH} --least nan", "'--least': nan is out of range (0–1)"),
    (f"{SEARCH} --by bm25", "one of cosine, simhash"),
    (f"{SEARCH} --idf x", "one of smooth, gensim"),
    (f"{SEARCH} --by simhash --idf gensim", "'gensim' is for --by cosine"),
    (f"{SEARCH} --in seen.neardup", "searched alone"),
    (f"{SEARCH} --recipe nosuch", "recipe is 'nosuch'"),
    (f"{SEARCH} -o x.pdf", ".pdf"),
    (f"{SEARCH} -o - --json", "would be mixed"),
    (f"{STORED} --text-column body", "--text-column: is for files"),
    (f"{STORED} --lines", "--lines: is for files"),
    (f"{STORED} --max-document 1M", "--max-document: is for files"),
    (f"{STORED} --recipe simhash", "leave --recipe"),
    (f"{STORED} --recipe default-2", "the collection was made with neardup3 normalize=standard"),
    (f"{STORED} --no-mask ips", "the recipe of the collection says what is masked"),
    (f"{STORED} --as http", "the collection is one of texts"),
    ("1 compare a.txt missing.txt", "missing.txt: No such file or directory"),
    ("1 compare a.txt bad.txt", "bad.txt:1: not UTF-8 (byte 0xff at offset 0)"),
    ("compare a.txt", "Missing argument 'B'"),
    ("compare - -", "standard input (-) can be read only once"),
    (
        "compare a.txt a.txt --similarity 1.5",
        "for --similarity: similarity is 1.5; it must be a nu",
    ),
    (
        "compare a.txt a.txt --radius 129",
        "for --radius: radius is 129; it must be a whole number fr",
    ),
    ("compare a.txt a.txt --radius 3 --similarity 1", "similarity and radius exclude each other"),
    ("compare a.txt a.txt --encoding nope", "for --encoding: encoding is 'nope', which is unknown"),
    (
        "compare --text a b --encoding gbk",
        "for --encoding: is for files of text, JSON, CSV or HTML",
    ),
    ("explain --text a --encoding gbk", "for --encoding: is for files of text, JSON, CSV or HTML"),
    ("compare a.txt a.txt --recipe nope", "nope"),
    ("compare a.txt a.txt --min-words 0", "'--min-words': 0 is out of range (1–1000)"),
    ("compare a.txt a.txt --min-chars 1001", "'--min-chars': 1001 is out of range (1–1000)"),
    ("compare a.txt a.txt --bridge 17", "'--bridge': 17 is out of range (0–16)"),
    ("compare a.txt a.txt --lang zh", "needs a page: --html FILE.html"),
    ("compare a.txt a.txt --html a.pdf", "'a.pdf': unknown ending; use one of .html, .htm"),
    ("compare a.txt a.txt --html no/a.html", "the folder no does not exist"),
    ("compare a.txt a.txt --html a.html --lang fr", "'fr' is not one of 'en', 'zh'"),
    ("compare a.txt a.txt --html - --json", "would be mixed"),
    ("1 fingerprint missing.txt", "missing.txt: no such file"),
    ("fingerprint empty", "empty: no file to read in this folder"),
    ("fingerprint - --jsonl --format csv", "for --format: cannot be combined with --jsonl"),
    ("fingerprint - --lines --jsonl", "for --lines: cannot be combined with --jsonl"),
    ("fingerprint - --delimiter ;", "--delimiter is for CSV, TSV, and no input is one"),
    ("fingerprint - --max-bytes lots", "--max-bytes is 'lots'; write a number of bytes"),
    ("fingerprint - --encoding klingon", "encoding is 'klingon'"),
    ("fingerprint", "Missing argument 'INPUT...'"),
    ("fingerprint - -", "standard input (-) can be read only once"),
    ("fingerprint - -o out.xyz", "unknown ending; use one of .jsonl, .csv, .tsv"),
    ("fingerprint - --recipe simhsh", "simhash"),
    ("fingerprint - --recipe missing.toml", "missing.toml"),
    ("fingerprint - --recipe first.toml", "first.toml is of version 1; this neardup reads 2 and 3"),
    ("fingerprint - --recipe quoted.toml", "quoted.toml is of version '2'; this neardup reads 2"),
    ("fingerprint - --recipe form.toml", "normalize is 'folded'; it must be one of standard, fold"),
    ("fingerprint - --bits 7", "bits is 7"),
    ("fingerprint - --bits many", "'--bits'"),
    ("fingerprint - --threads 0", "'--threads'"),
    ("fingerprint - -o nodir/x.csv", "nodir/x.csv: the folder nodir does not exist"),
    ("fingerprint in.jsonl -o - --json", "would be mixed"),
    ("explain", "pass either a file (- for standard input) or --text T"),
    ("explain a.txt --text b", "pass either a file (- for standard input) or --text T"),
    ("explain --text a --bits 0", "for --bits: bits is 0; it must be a whole number from 1 to 512"),
    ("explain --text a --bits 65 --recipe lookup3", "but hash 'lookup3' gives only 64"),
    ("recipes defualt", "default"),
    ("recipes default-1", "it must be one of default, default-2, simhash"),
    ("serve --port 70000", "'--port': 70000 is out of range (0–65535)"),
    ("serve --workers 0", "'--workers': 0 is out of range (1–256)"),
    ("index create seen.neardup", "seen.neardup: already exists"),
    ("index create x", "must end in .neardup"),
    ("index create x.neardup --no-text --runs", "for --runs: needs the texts"),
    ("index create x.neardup --as web", "'web' is not known"),
    ("1 index add none.neardup in.jsonl", "create it: neardup index create none.neardup"),
    ("index add seen.neardup in.jsonl --radius 3", "for --radius: needs --unless-duplicate"),
    (
        "index add in.jsonl seen.neardup",
        "name the collection first: neardup index add seen.neardup",
    ),
    ("index add seen.neardup seen.neardup", "seen.neardup: no file to read in this folder"),
    ("index check seen.neardup in.jsonl -n 0", "'-n': 0 is out of range"),
    ("index check seen.neardup in.jsonl -o - --json", "would be mixed"),
    ("index remove seen.neardup", "name at least one, or a file of them with --from"),
    ("index export seen.neardup -o - --json", "would be mixed"),
    ("index export seen.neardup", "Missing option '-o' / '--out'"),
    ("1 http preview scan.jsonl --at 99", "scan.jsonl: has no response number 99"),
    ("http preview scan.jsonl --at 1 -n 2", "cannot be combined with --at"),
    ("1 http preview none.warc", "none.warc: no such file"),
    ("http preview scan.jsonl --recipe simhash", "'simhash' is a recipe for texts"),
    ("http preview scan.jsonl --no-mask dat", "'dat' is not a rule of masking; there are dates"),
    ("completion tcsh", "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
]


@pytest.mark.parametrize(("line", "message"), ERRORS, ids=[line for line, _ in ERRORS])
def test_errors_are_one_line(line: str, message: str, run: Run, place: Path) -> None:
    before = sorted(place.iterdir())
    code, words = 2, shlex.split(line)
    if words[0].isdecimal():
        code = int(words.pop(0))
    ran = run(*words)
    assert (ran.code, ran.out) == (code, ""), ran.err
    assert message in ran.err
    assert ran.err.startswith("neardup: ")
    assert len(ran.err.splitlines()) == 1
    assert ran.err.endswith("--help'.\n") == (code == 2)
    assert sorted(place.iterdir()) == before


# ---- suggestions ----


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("dedup --threshold 0.9", "--similarity"),
        ("dedup --min-similarity 0.9", "--similarity"),
        ("dedup --simlarity 0.9", "--similarity"),
        ("dedup --text-field body", "--text-column"),
        ("dedup --field body", "--text-column"),
        ("dedup --column body", "--text-column"),
        ("dedup --text_column body", "--text-column"),
        ("dedup --jobs 4", "--threads"),
        ("dedup --workers 4", "--threads"),
        ("dedup -j 4", "--threads"),
        ("dedup --output-file x", "--out"),
        ("cluster --duplicates x", None),
        ("dedup --duplicates x", "--removed"),
        ("check --min-similarity 0.9", "--threshold"),
        ("search --threshold 0.9", "--least"),
        ("search --top-k 9", "-n"),
        ("filter --collection x", "--in"),
        ("serve --bind 0.0.0.0", "--host"),
        ("serve --threads 4", "--workers"),
        ("compare --jsn a b", "--json"),
        ("pairs --key x", "--text-column or --id-column"),
        ("dedup --nonsense", None),
        ("--nonsense", None),
        ("dedupe x", "dedup"),
        ("fingerprnt x", "fingerprint"),
        ("hash x", "fingerprint"),
        ("index delete x", "remove"),
        ("index delet x", "remove"),
        ("http captures", None),
        ("nonsense", None),
    ],
)
def test_suggestions(line: str, told: str | None, run: Run) -> None:
    ran = run(*line.split())
    assert (ran.code, ran.out) == (2, "")
    assert len(ran.err.splitlines()) == 1
    assert ran.err.startswith("neardup: No such ")
    if told is None:
        assert "Did you mean" not in ran.err
    else:
        assert f". Did you mean {told}? See 'neardup " in ran.err
    assert ran.err.endswith(" --help'.\n")


def test_suggested_names_exist_and_other_names_do_not_hide_them() -> None:
    names = {option for _, command in commands() for each in command.params for option in each.opts}
    assert set(USUAL_OPTIONS) <= names
    words = {word for name, _ in commands() for word in name.split()} | {"index", "http"}
    assert set(USUAL_COMMANDS) <= words


# ---- completion ----


def completed(shell: str, line: str, folder: Path) -> list[str]:
    """What a shell is offered for the last word of a line."""
    words = line.split(" ")
    environment = {
        **os.environ,
        COMPLETION_VARIABLE: f"{shell}_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
    }
    ran = subprocess.run(
        [sys.executable, "-m", "neardup"],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stderr == ""
    return [line for line in ran.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("neardup ded", ["plain,dedup"]),
        ("neardup index ver", ["plain,verify"]),
        ("neardup dedup --simi", ["plain,--similarity"]),
        ("neardup dedup in.jsonl --linkage ", ["plain,star", "plain,connected"]),
        ("neardup dedup in.jsonl --linkage con", ["plain,connected"]),
        ("neardup dedup in.jsonl --keep lo", ["plain,longest"]),
        ("neardup dedup in", ["file,in"]),
        ("neardup dedup in.jsonl -o ou", ["file,ou"]),
        ("neardup dedup in.jsonl --against ol", ["file,ol"]),
        ("neardup compare a.txt ", ["file,"]),
        ("neardup dedup in.jsonl --recipe simh", ["plain,simhash"]),
        ("neardup dedup in.jsonl --recipe mine.t", ["file,mine.t"]),
        ("neardup completion z", ["plain,zsh"]),
        ("neardup nonsense x", []),
    ],
)
def test_completions_in_bash(line: str, offered: list[str], tmp_path: Path) -> None:
    assert completed("bash", line, tmp_path) == offered


def test_completions_in_zsh_and_fish(tmp_path: Path) -> None:
    assert completed("zsh", "neardup ded", tmp_path)[:2] == ["plain", "dedup"]
    assert completed("zsh", "neardup dedup in", tmp_path)[:2] == ["file", "in"]
    (offered,) = completed("fish", "neardup ded", tmp_path)
    assert offered.startswith("plain,dedup")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(shell: str, run: Run, tmp_path: Path) -> None:
    ran = run("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert f"{COMPLETION_VARIABLE}={shell}_complete" in ran.out
    script = tmp_path / "script"
    script.write_text(ran.out)
    if found := shutil.which(shell):
        checked = subprocess.run([found, "-n", str(script)], capture_output=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, b"")


def test_completion_works_inside_bash(tmp_path: Path) -> None:
    """The documented line, then what Tab calls."""
    (tmp_path / "neardup").write_text(f'#!/bin/sh\nexec {sys.executable} -m neardup "$@"\n')
    (tmp_path / "neardup").chmod(0o755)
    ran = subprocess.run(
        [
            *("bash", "--norc", "-c"),
            'eval "$(neardup completion bash)"; COMP_WORDS=(neardup dedup --remo); COMP_CWORD=2; '
            '_neardup_completion neardup; echo "${COMPREPLY[@]}"',
        ],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout.split() == ["--removed"]
