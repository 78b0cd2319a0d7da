"""CONTRIBUTING.md's map names every module, and each imports only from its left."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "neardup"


def mapped() -> list[str]:
    """The modules in the order of the map; a package comes after what is in it."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = text.split("<!-- the map -->\n```text\n")[1].split("\n```")[0]
    names: list[str] = []
    for line in block.splitlines():
        package, colon, rest = line.partition(":")
        if not colon:
            names += line.split()
            continue
        names += [f"{package}.{name}" for name in rest.split()]
        names.append(package)
    return names


def modules() -> dict[str, Path]:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        # The package itself hands out what is public.
        if name:
            found[name] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the package that run when this one does, sooner or later."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unused = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in set(ast.walk(tree)) - unused:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("neardup"):
            base = str(node.module).removeprefix("neardup").lstrip(".")
            for alias in node.names:
                full = f"{base}.{alias.name}".lstrip(".")
                found.add(full if full in known else base)
        elif isinstance(node, ast.Import):
            names = (alias.name for alias in node.names)
            found |= {
                name.removeprefix("neardup.") for name in names if name.startswith("neardup.")
            }
    return found & set(known)


def test_the_map_names_every_module_once() -> None:
    assert sorted(mapped()) == sorted(modules())


def test_a_module_imports_only_from_its_left() -> None:
    known, place = modules(), {name: at for at, name in enumerate(mapped())}
    wrong = [
        f"{name} imports {other}"
        for name, path in known.items()
        for other in imported(path, known)
        if place[other] > place[name]
    ]
    assert wrong == []
