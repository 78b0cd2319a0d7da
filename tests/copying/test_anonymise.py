"""Documents by numbers."""

from dataclasses import replace

from helpers.findings import ONE, TEXT, copying, finding, source
from neardup.copying.check import check_copying as check
from neardup.copying.findings import Copying, anonymise


def test_documents_and_sources_go_by_numbers() -> None:
    found = anonymise(copying())
    assert [each.id for each in found.findings] == ["document 1", "document 2"]
    assert [each.id for each in found.findings[0].sources] == ["source 1", "source 2"]


def test_texts_and_figures_stay() -> None:
    before, after = copying(), anonymise(copying())
    for old, new in zip(before.findings, after.findings, strict=True):
        assert replace(new, id=old.id, sources=old.sources) == old
        assert [replace(each, id="") for each in new.sources] == [
            replace(each, id="") for each in old.sources
        ]


def test_among_each_other_a_source_is_called_as_the_document_it_is() -> None:
    one = finding("li", TEXT, source("wang", TEXT, ONE, "alpha beta gamma delta"))
    other = finding("wang", ONE, source("li", ONE, TEXT, "alpha beta gamma delta"))
    found = anonymise(Copying((one, other), True, {}), document="文档 {n}")
    assert [each.sources[0].id for each in found.findings] == ["文档 2", "文档 1"]


def test_a_text_compared_with_is_no_document_though_it_is_called_so() -> None:
    found = anonymise(copying(ids=("one", "two")))
    assert [each.id for each in found.findings[0].sources] == ["source 1", "source 2"]


def test_two_documents_of_one_id_are_two() -> None:
    shared = "alpha beta gamma delta epsilon zeta eta theta"
    texts = [f"{shared} {name} ends here" for name in ("one", "two", "three")]
    found = check([("same", text) for text in (*texts, texts[0])])
    assert [[x.place for x in each.sources] for each in found.findings] == [
        [3, 1, 2],
        [0, 2, 3],
        [0, 1, 3],
        [0, 1, 2],
    ]
    named = [[x.id for x in each.sources] for each in anonymise(found).findings]
    assert named[1] == ["document 1", "document 3", "document 4"]
    assert named[0] == ["document 4", "document 2", "document 3"]
    # Of texts that are only compared with, those that differ have names of their own.
    found = check([("essay", texts[0])], [("same", texts[1]), ("same", texts[2])])
    assert [x.place for x in found.findings[0].sources] == [None, None]
    assert [x.id for x in anonymise(found).findings[0].sources] == ["source 1", "source 2"]


def test_settings_hold_no_names() -> None:
    named = replace(copying(), settings={"exclude": ("li", "wang"), "against": "li", "bridge": 2})
    assert anonymise(named).settings == {"exclude": 2, "bridge": 2}
