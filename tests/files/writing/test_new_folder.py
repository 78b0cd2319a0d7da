"""A folder of pages appears as a whole, and takes the place of nobody else's."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from neardup.files.writing import check_folder, open_folder
from neardup.files.writing.new_folder import MARK


def write(path: Path, **pages: str) -> None:
    with open_folder(path) as folder:
        for name, text in pages.items():
            (folder / f"{name}.html").write_text(text)


def held(path: Path) -> dict[str, str]:
    return {each.name: each.read_text() for each in path.iterdir() if each.name != MARK}


def test_a_new_folder(tmp_path: Path) -> None:
    write(tmp_path / "report", index="one")
    assert held(tmp_path / "report") == {"index.html": "one"}
    assert os.listdir(tmp_path) == ["report"]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    write(tmp_path / "report", index="one")
    assert held(tmp_path / "report") == {"index.html": "one"}


def test_one_of_ours_is_replaced_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path / "report", index="one", **{"document-1": "x"})
    write(tmp_path / "report", index="two")
    assert held(tmp_path / "report") == {"index.html": "two"}
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.parametrize("name", ["notes.txt", ".git", "index.htm", "Index.html", "pair-1.html"])
def test_what_is_not_ours_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path / "report", index="one")
    (tmp_path / "report" / name).write_text("mine")
    with pytest.raises(
        ValueError, match=f"holds '{name}', which is not a page of a report; name a"
    ):
        write(tmp_path / "report", index="two")
    assert held(tmp_path / "report") == {"index.html": "one", name: "mine"}


def test_a_folder_with_other_pages_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("mine")
    with pytest.raises(ValueError, match="pages that neardup did not write; name a new folder"):
        check_folder(tmp_path / "site")


def test_what_comes_in_while_pages_are_written_stays(tmp_path: Path) -> None:
    report = tmp_path / "report"
    write(report, index="one")

    def meanwhile() -> None:
        with open_folder(report):
            (report / "mine.txt").write_text("mine")

    with pytest.raises(ValueError, match=r"holds 'mine\.txt'"):
        meanwhile()
    assert held(report) == {"index.html": "one", "mine.txt": "mine"}
    assert os.listdir(tmp_path) == ["report"]


def test_files_links_and_missing_parents_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path)
    for name, why in [
        ("file", "is a file; name a folder, or a file that ends in .html"),
        ("link", "is a symbolic link; name the folder itself"),
        ("no/report", "does not exist"),
    ]:
        with pytest.raises(ValueError, match=why):
            check_folder(tmp_path / name)
    with pytest.raises(ValueError, match=r"the folder of pages is '\.'"):
        check_folder(Path())


def test_a_failed_run_leaves_the_old_pages(tmp_path: Path) -> None:
    write(tmp_path / "report", index="one")

    def fail() -> None:
        with open_folder(tmp_path / "report") as folder:
            (folder / "index.html").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert held(tmp_path / "report") == {"index.html": "one"}
    assert os.listdir(tmp_path) == ["report"]


def test_a_killed_run_is_tidied_up_by_the_next(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from neardup.files.writing import open_folder\n"
        "with open_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'index.html').write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    report = tmp_path / "report"
    ran = subprocess.run([sys.executable, "-c", script, str(report)], check=False, timeout=60)
    assert ran.returncode == -signal.SIGKILL
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".neardup-")
    # What another run is at work on stays, and so does what is not ours.
    (tmp_path / ".neardup-other").mkdir()
    (tmp_path / ".neardup-other" / "mine.txt").write_text("mine")
    with open_folder(tmp_path / "second"):
        write(report, index="one")
    assert sorted(os.listdir(tmp_path)) == [".neardup-other", "report", "second"]
