"""A check whose documents go by numbers instead of their names."""

from __future__ import annotations

from dataclasses import replace

from neardup.evidence.findings import Copying, Finding

# Settings that may name people's documents: their number is told instead.
_NAMING = ("exclude", "own", "inputs", "against")


def anonymised(
    found: Copying, *, document: str = "document {n}", source: str = "source {n}"
) -> Copying:
    """The same findings; documents are called by their number in the order they came, other texts
    by theirs in the order they are met. Texts stay as they are.

    >>> from neardup.evidence.findings import Figures
    >>> none = Figures(0.0, 0.0, 0.0)
    >>> essay = Finding("li-hua.txt", "…", 1, 1, none, none, ())
    >>> anonymised(Copying((essay,), True, {})).findings[0].id
    'document 1'
    """
    names: dict[str, str] = {}
    for n, finding in enumerate(found.findings, 1):
        names.setdefault(finding.id, document.format(n=n))
    itself = tuple(names[id_] for id_ in found.itself)
    if not found.among:
        # What is only compared with has names of its own, equal or not.
        names = {}
    others = 0
    findings: list[Finding] = []
    for n, finding in enumerate(found.findings, 1):
        sources = []
        for each in finding.sources:
            if each.id not in names:
                others += 1
                names[each.id] = source.format(n=others)
            sources.append(replace(each, id=names[each.id]))
        findings.append(
            replace(finding, id=document.format(n=n), sources=tuple(sources)),
        )
    settings = {
        name: len(value) if name in _NAMING and isinstance(value, list | tuple) else value
        for name, value in found.settings.items()
        if name not in _NAMING or not isinstance(value, str)
    }
    return replace(found, findings=tuple(findings), settings=settings, itself=itself)
