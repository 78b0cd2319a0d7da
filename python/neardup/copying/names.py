"""Documents of a check by their numbers, and by nothing else where nobody is to be named."""

from __future__ import annotations

from dataclasses import replace

from neardup.copying.findings import Copying, Finding, Source

# Settings that may name people's documents: their number is told instead.
_NAMING = ("exclude", "own", "inputs", "against")


class Places:
    """Numbers for documents and sources, whatever they are called: findings have the number of
    their place, other texts those after them, in the order they are asked for.

    An id may be there twice, so that it does not say who is meant.
    """

    def __init__(self, found: Copying) -> None:
        self._findings = len(found.findings)
        self._places: dict[tuple[str, str], int] = {}
        # What is only compared with is another text, however it is called.
        if found.among:
            for at, finding in enumerate(found.findings):
                self._places.setdefault((finding.id, finding.text), at)
        self._next = self._findings
        self._among = found.among

    def of(self, source: Source) -> int:
        if self._among and source.place is not None and source.place < self._findings:
            return source.place
        key = (source.id, source.text)
        if key not in self._places:
            self._places[key] = self._next
            self._next += 1
        return self._places[key]


def anonymised(
    found: Copying, *, document: str = "document {n}", source: str = "source {n}"
) -> Copying:
    """The same findings; documents are called by their number in the order they came, other texts
    by theirs in the order they are met. Texts stay as they are.

    >>> from neardup.copying.findings import Figures
    >>> none = Figures(0.0, 0.0, 0.0)
    >>> essay = Finding("li-hua.txt", "…", 1, 1, none, none, ())
    >>> anonymised(Copying((essay,), True, {})).findings[0].id
    'document 1'
    """
    places = Places(found)
    names: dict[int, str] = {}
    numbers = {finding.id: n for n, finding in reversed(list(enumerate(found.findings, 1)))}
    itself = tuple(document.format(n=numbers[id_]) for id_ in found.itself)
    findings: list[Finding] = []
    for n, finding in enumerate(found.findings, 1):
        sources = []
        for each in finding.sources:
            at = places.of(each)
            if at < len(found.findings):
                name = document.format(n=at + 1)
            else:
                name = names.setdefault(at, source.format(n=len(names) + 1))
            sources.append(replace(each, id=name))
        findings.append(
            replace(finding, id=document.format(n=n), sources=tuple(sources)),
        )
    settings = {
        name: len(value) if name in _NAMING and isinstance(value, list | tuple) else value
        for name, value in found.settings.items()
        if name not in _NAMING or not isinstance(value, str)
    }
    return replace(found, findings=tuple(findings), settings=settings, itself=itself)
