"""Sketches lie in collections, which later versions read: they never change silently."""

import pytest

import neardup as nd

GOLDEN = {
    ("default", "the cat sat on the mat"): (
        "34505034d3505005d3d30550340534055534500505d305d3"
        "5005050505d334345550050505d3d3055505d3055005d350",
        "b5e60376737fec5ca4caff7caa99e300",
    ),
    ("default", "今天天气很好我们去公园散步"): (
        "bee8e8e8f4387e9bcdf4bebea3e541a37ea97cd89ba95fd6"
        "99be7ce8e839d87e9be87c31229b79d8f45f5f30e579797e",
        "42b910289055ac55c896b12aa7f560d5",
    ),
    ("default-2", "the cat sat on the mat"): (
        "50505005d3505005d3d305503405340555d3500505d305d3"
        "5005050505d334d35550050505d3d3055505d3055005d350",
        "c57b8515953cada2c432167503ca5eb6",
    ),
    ("default-2", "今天天气很好我们去公园散步"): (
        "bee8e8e87e387e9bcdf4bebea3e541a37ea97cd89ba95fd6"
        "99317c31e839d87e9be87c31a39b79d8f45f5f30e579797e",
        "58b4f06153c232b7730b6afdf9aa205b",
    ),
    # Without a signal there are no registers; the digest is that of the text.
    ("default", "ok"): ("00" * 48, "bf1131df711f2006d361bea7bc2fe55b"),
    ("default", "…"): ("00" * 48, "00" * 16),
}


@pytest.mark.parametrize(("name", "text"), GOLDEN)
def test_golden_sketches(name: str, text: str) -> None:
    _, signal, sketches = nd.Recipe.preset(name).pipeline.sketched([text], None)
    registers, digest = GOLDEN[name, text]
    assert sketches.tobytes().hex() == registers + digest
    assert signal.tolist() == [registers != "00" * 48]
