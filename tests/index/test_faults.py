"""What else may go wrong around an index: other threads, other processes, odd ids, odd paths."""

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import neardup as nd
from helpers.processes import run_alone
from helpers.timing import seconds


def uniform(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(2**64, size=count, dtype=np.uint64)


def test_two_indexes_saved_under_one_name_at_once_leave_one_of_them(tmp_path: Path) -> None:
    path = tmp_path / "same.index"
    indexes = [nd.Index(64), nd.Index(64)]
    for number, index in enumerate(indexes):
        index.add(uniform(20_000, number))
    for _ in range(5):
        savers = [threading.Thread(target=index.save, args=(path,)) for index in indexes]
        for saver in savers:
            saver.start()
        for saver in savers:
            saver.join()
        opened = nd.Index.open(path)
        opened.verify()
        assert opened[0] in {index[0] for index in indexes}
    assert [file.name for file in tmp_path.iterdir()] == ["same.index"]


def test_an_index_changes_while_a_long_search_goes_on() -> None:
    index = nd.Index(64)
    codes = uniform(100_000)
    index.add(codes)
    found: list[int] = []
    long = threading.Thread(target=lambda: found.append(index.search(codes[:3_000], 20).num_rows))
    long.start()
    for _ in range(20):
        index.add(5)
        index.remove(0)
        assert index.contains(5)
    meanwhile = not found
    long.join()
    assert meanwhile
    # The search saw the index as it was.
    assert found[0] >= 3_000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
def test_ctrl_c_stops_a_long_search() -> None:
    code = """
import signal, time, numpy as np, neardup as nd
codes = np.random.default_rng(1).integers(2**64, size=200_000, dtype=np.uint64)
index = nd.Index(64)
index.add(codes)
signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
signal.setitimer(signal.ITIMER_REAL, 0.3)
started = time.monotonic()
try:
    index.search(codes, 25)
except KeyboardInterrupt:
    print("stopped", time.monotonic() - started < 3)
"""
    assert run_alone(code).strip() == "stopped True"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_stream_of_pairs_says_that_it_belongs_to_another_process() -> None:
    code = """
import os, warnings, numpy as np, neardup as nd
warnings.simplefilter("ignore")
codes = np.random.default_rng(1).integers(2**20, size=20_000, dtype=np.uint64)
stream = nd.pairs(codes, 3, stream=True)
first = stream.read_next_batch()
child = os.fork()
if child == 0:
    try:
        stream.read_all()
    except Exception as error:
        print("started by another process" in str(error), flush=True)
    del stream
    os._exit(0)
print(os.waitpid(child, 0)[1] == 0 and stream.read_all().num_rows > 0)
"""
    assert run_alone(code).split() == ["True", "True"]


def test_a_million_ids_of_one_code_do_not_slow_the_nearest_down() -> None:
    def make(size: int) -> nd.Index:
        index = nd.Index(64)
        index.add(np.full(size, 7, dtype=np.uint64), ids=np.arange(size)[::-1])
        index.add(uniform(1000), ids=np.arange(10**6, 10**6 + 1000))
        index.compact()
        return index

    def run(index: nd.Index) -> None:
        assert index.nearest([7] * 64, 2).column("id").to_pylist() == [0, 1] * 64
        assert index.contains([7] * 64, 64).all()

    # A hundred times as many.
    assert seconds(run, make(300_000)) < 10 * seconds(run, make(3000))


def test_ids_that_cannot_be_stored_are_not_there() -> None:
    index = nd.Index(64)
    index.add(1, "a")
    assert "\ud800" not in index
    with pytest.raises(KeyError):
        index["\ud800"]
    assert index.remove(["\ud800", "a"]) == 1
    assert np.array([1, 2]) not in nd.Index(64)
    with pytest.raises(TypeError, match="77; give whole numbers or strings in a list"):
        index.add([1], ids=77)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="ids have 2 dimensions"):
        index.add([1], ids=np.zeros((1, 1), dtype=np.int64))
