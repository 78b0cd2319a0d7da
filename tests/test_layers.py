"""Modules import only from lower layers, and from another package only what its __all__ lists.

layers.txt has a line for each layer, lowest first. `_core` is below all layers, and `neardup`
itself, the public surface, above them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "python" / "neardup"
LAYERS = {
    name: number
    for number, line in enumerate((TESTS / "layers.txt").read_text(encoding="utf-8").splitlines())
    for name in line.split()
}
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").strip("."): (
        path.read_text(encoding="utf-8")
    )
    for path in PACKAGE.rglob("*.py")
}


def imports(source: str) -> Iterator[str]:
    """Yield the names that a module imports from neardup, also inside functions and for types:
    "text.recipe.Recipe" for `from neardup.text.recipe import Recipe`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name[8:] for name in names if name.startswith("neardup."))


def against_the_layers(module: str, source: str) -> list[str]:
    """Return the imports of a module that are not from its own package or a lower layer."""
    package = module.partition(".")[0]
    top = len(LAYERS)
    return [
        f"{module} imports {name}"
        for name in imports(source)
        if (other := name.partition(".")[0]) not in (package, "_core")
        and LAYERS.get(other, top) >= LAYERS[package]
    ]


def public_names(package: str) -> set[str]:
    """Return the `__all__` of a package."""
    for node in ast.parse(MODULES[package]).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def private_imports(module: str, source: str, public: dict[str, set[str]]) -> list[str]:
    """Return the imports of a module from other packages that their `__all__` does not list.

    A module of a sub-package is listed as "reading.batch".
    """
    wrong = []
    for name in imports(source):
        package, _, rest = name.partition(".")
        names = public.get(package)
        if package == module.partition(".")[0] or not names or not rest:
            continue
        if not any(rest == each or rest.startswith(f"{each}.") for each in names):
            wrong.append(f"{module} imports {name}")
    return wrong


def test_every_package_has_a_layer() -> None:
    assert {name.partition(".")[0] for name in MODULES if name} == set(LAYERS)


def test_modules_import_only_from_lower_layers() -> None:
    wrong = [
        each
        for name, source in MODULES.items()
        if name
        for each in against_the_layers(name, source)
    ]
    assert wrong == []


def test_packages_are_used_only_by_their_public_names() -> None:
    public = {package: public_names(package) for package in LAYERS if package in MODULES}
    assert any(public.values())
    wrong = [
        each
        for name, source in MODULES.items()
        if name
        for each in private_imports(name, source, public)
    ]
    assert wrong == []


def test_imports_in_functions_and_for_types_are_seen() -> None:
    source = """
from neardup import Collection
import neardup.near.dedup
if TYPE_CHECKING:
    from neardup.jobs.job import Job
def lazily():
    from neardup.text.recipe import Recipe
    from neardup import _core
"""
    assert against_the_layers("near.search", source) == [
        "near.search imports Collection",
        "near.search imports jobs.job.Job",
    ]
    # The packages of one layer do not import each other.
    assert against_the_layers("copying.check", source)[1:] == [
        "copying.check imports near.dedup",
        "copying.check imports jobs.job.Job",
    ]
    assert private_imports("cli.dedup", source, {"near": {"dedup"}, "text": {"rec", "views"}}) == [
        "cli.dedup imports text.recipe.Recipe"
    ]
