"""The house: the order of its packages, no circle between modules, folders and files that a person can read.

The order is that of opi_xform.  Folders have at most 15 files everywhere, but for those of data, which ``DATA`` names.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from itertools import pairwise
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "opi_xform"
RUNTIME = ROOT / "runtime"
HOUSE = ("opi_xform", "tests", "docs", "analyses", "testdata")
"""The folders of the checkout that people read."""

DATA = (
    "analyses/effects",
    "docs/codes",
    "tests/cases/*/*",
    "tests/privatize_cases",
)
"""Folders with as many files as there are things: a header, a code, a case each."""

NOT_OURS = (".*", "__pycache__", "build", "_data", "node_modules")
"""Folders that tools make, in a checkout or beside it."""

MADE = (".o", ".a", ".so", ".pyc")
"""Ends of files that compilers make."""

LIBRARIES = ("process", "ranks", "malloc", "shared")
"""Of the runtime: each includes headers of its own, of `shared`, and those of programs."""

ORDER = (
    "record",
    "once",
    "kept",
    "toml",
    "codes",
    "resources",
    "file_names",
    "budget",
    "parallel",
    "ir",
    "dataflow",
    "effects",
    "program",
    "graph",
    "memory",
    "calls",
    "pointsto",
    "values",
    "regions",
    "frontend",
    "text",
    "ownership",
    "rewrite",
    "changes",
    "analysis",
    "divide",
    "attempts",
    "pipeline",
    "privatize",
    "report",
    "bindings",
    "launch",
    "cli",
    "bench",
    "demo",
)
"""Each imports those before it only."""

COMMANDS = {"opi_xform.bindings.__main__"}
"""Modules that are run by themselves: they may use what comes later."""

CONSTANTS = {"opi_xform.ownership.model.endings:NOTHING"}
"""Empty, and stay so."""

NO_NAMES = {
    "told",
    "together",
    "elsewhere",
    "unseen",
    "words",
    "apart",
    "strays",
    "rows",
    "twins",
    "util",
    "misc",
    "helpers",
}
"""Names that tell a reader nothing of what is in a module."""


@cache
def modules() -> dict[str, Path]:
    out = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        out[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return out


@dataclass(frozen=True)
class Module:
    """What a module says of itself, and the modules of the package that it imports, those for type hints, too."""

    doc: str | None
    imported: tuple[str, ...]


@cache
def read(path: Path) -> Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return Module(ast.get_docstring(tree), tuple(_imported(tree)))


def imported(path: Path) -> tuple[str, ...]:
    return read(path).imported


def _imported(tree: ast.Module) -> Iterator[str]:
    known = modules()
    worklist: list[ast.AST] = [tree]
    while worklist:
        node = worklist.pop()
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("opi_xform"):
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        worklist.extend(n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.expr))  # none imports


def top(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_the_order_has_every_package() -> None:
    assert sorted({top(m) for m in modules()} - {""}) == sorted(ORDER)


def test_packages_import_those_before_them_only() -> None:
    later = [
        f"{module} imports {other}"
        for module, path in modules().items()
        if top(module) and module not in COMMANDS
        for other in imported(path)
        if top(other) and ORDER.index(top(other)) > ORDER.index(top(module))
    ]
    assert later == []


def test_no_circle_between_modules() -> None:
    graph = nx.DiGraph((m, other) for m, path in modules().items() for other in imported(path) if other != m)
    circles = [
        {m.rpartition(".")[2] for m in found} for found in nx.strongly_connected_components(graph) if len(found) > 1
    ]
    assert [sorted(c) for c in circles] == []


def test_no_circle_between_the_folders_of_ownership() -> None:
    def folder(module: str) -> str:
        return module if modules()[module].name == "__init__.py" else module.rpartition(".")[0]

    graph = nx.DiGraph()
    for module, path in modules().items():
        for other in imported(path):
            if top(module) == top(other) == "ownership" and folder(module) != folder(other):
                graph.add_edge(folder(module), folder(other))
    assert [sorted(found) for found in nx.strongly_connected_components(graph) if len(found) > 1] == []


def folders() -> Iterator[Path]:
    """Those that people read, but for what stands in ones that a tool made."""
    worklist = [ROOT / name for name in HOUSE]
    while worklist:
        folder = worklist.pop()
        yield folder
        worklist.extend(f for f in folder.iterdir() if f.is_dir() and not any(fnmatch(f.name, p) for p in NOT_OURS))


def files_of(folder: Path) -> int:
    return sum(1 for f in folder.iterdir() if f.is_file() and f.suffix not in MADE and not f.name.startswith("."))


def test_folders_of_at_most_15_files() -> None:
    many = {folder.relative_to(ROOT).as_posix(): files_of(folder) for folder in folders()}
    data = {folder for folder in many if any(fnmatch(folder, pattern) for pattern in DATA)}
    assert {folder: n for folder, n in many.items() if n > 15 and folder not in data} == {}


def test_folders_of_data_are_there_and_need_to_be_named() -> None:
    """Each name stands for a folder with more files than a folder of a program has."""
    large = [folder.relative_to(ROOT).as_posix() for folder in folders() if files_of(folder) > 15]
    assert [pattern for pattern in DATA if not any(fnmatch(folder, pattern) for folder in large)] == []


def test_files_of_at_most_500_lines() -> None:
    lines = {m: len(path.read_text(encoding="utf-8").splitlines()) for m, path in modules().items()}
    assert {m: n for m, n in lines.items() if n > 500} == {}


def test_names_of_test_files_are_unique() -> None:
    """pytest takes two files of one name, in folders that are no packages, for one module."""
    names = sorted(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, other in pairwise(names) if name == other] == []


def test_one_conftest() -> None:
    """Tests take names from it by ``from conftest import``: a second one is found in its place."""
    assert [p.relative_to(ROOT).as_posix() for p in sorted((ROOT / "tests").rglob("conftest.py"))] == [
        "tests/conftest.py"
    ]


def test_names_say_what_is_in_a_module() -> None:
    assert [m for m in modules() if m.rpartition(".")[2] in NO_NAMES] == []


def test_every_module_says_what_it_is() -> None:
    assert [m for m, path in modules().items() if not read(path).doc] == []


KEPT_BY_MODULES = {"opi_xform.ir.calls:_known": "calls of functions, which have no place for them"}
"""What a module keeps, and why no value can: all else that is found out belongs to a value (``once.py``)."""

TEXTS = {"str", "bytes", "int", "bool", "None", "tuple", "Headers", "Path", "Mpi"}
"""What functions may be given whose results the standard library's caches keep: nothing that belongs to a program."""

CACHES = {"lru_cache", "cache"}


def kept_by(module: str, path: Path) -> Iterator[str]:
    """Lists and dictionaries of a module that are empty at first, and caches of what belongs to programs."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and _empty(statement.value):
            target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
            yield f"{module}:{ast.unparse(target)}"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(_caches(d) for d in node.decorator_list):
            given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            words = {n.id for a in given if a.annotation for n in ast.walk(a.annotation) if isinstance(n, ast.Name)}
            if words - TEXTS or any(a.annotation is None for a in given):
                yield f"{module}:{node.name}"


def _empty(value: ast.expr | None) -> bool:
    match value:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]):
            return name in ("list", "dict", "set", "defaultdict", "OrderedDict", "Counter", "WeakKeyDictionary")
        case ast.Call(func=ast.Subscript(value=ast.Name(id=name)), args=[]):
            return name in ("list", "dict", "set")
        case _:
            return False


def _caches(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (isinstance(named, ast.Name) and named.id in CACHES) or (
        isinstance(named, ast.Attribute) and named.attr in CACHES
    )


def test_what_is_found_out_belongs_to_the_value_it_is_about() -> None:
    """No module keeps what is known of a program, a graph, a buffer: it is a finding of theirs, and ends with them."""
    found = {one for module, path in modules().items() for one in kept_by(module, path)}
    assert found - CONSTANTS == KEPT_BY_MODULES.keys()


def test_what_a_module_keeps_is_found(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        "_latest: list[int] = []\n_by = dict[int, int]()\nTABLE = {'a': 1}\n"
        "@lru_cache(maxsize=1)\ndef of(program: Program) -> int: ...\n"
        "@functools.cache\ndef also(a: tuple[Poly, ...]) -> int: ...\n"
        "@cache\ndef text(name: str, more: tuple[str, ...]) -> str: ...\n@once\ndef fine(p: Program) -> int: ...\n"
    )
    assert set(kept_by("m", path)) == {"m:_latest", "m:_by", "m:of", "m:also"}


def test_the_page_of_ownership_has_a_line_for_each_file() -> None:
    """What its docstring says first: a file that is new, gone or about something else changes the page."""
    folder = PACKAGE / "ownership"
    told = {
        path.relative_to(folder).as_posix(): " ".join((read(path).doc or "").split("\n\n")[0].split())
        for path in sorted(folder.rglob("*.py"))
    }
    page = (folder / "README.md").read_text(encoding="utf-8")
    lines = dict(re.findall(r"^- `(.*?)`: (.*)$", page, re.M))
    assert lines == {name: said for name, said in told.items() if not name.endswith("__init__.py")}
    sections = dict(re.findall(r"^## `(.*?)/`\n\n(.*)$", page, re.M))
    folders = {name.rpartition("/")[0]: said for name, said in told.items() if name.endswith("/__init__.py")}
    assert sections == folders


def c_files(*folders: Path) -> list[Path]:
    """Sources and headers below these folders, but for what a build has left there."""
    found = sorted(path for folder in folders for path in folder.rglob("*.[ch]"))
    return [path for path in found if path.relative_to(PACKAGE.parent).parts[:2] != ("runtime", "build")]


def test_folders_of_the_runtime_have_at_most_15_files() -> None:
    many = Counter(path.parent for path in c_files(RUNTIME))
    assert {str(folder.relative_to(RUNTIME)): n for folder, n in many.items() if n > 15} == {}


def test_c_files_have_at_most_500_lines() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in c_files(RUNTIME, PACKAGE)}
    assert {str(path.relative_to(PACKAGE.parent)): n for path, n in lines.items() if n > 500} == {}


def test_every_folder_of_the_runtime_is_one_that_a_library_is_made_of() -> None:
    folders = {path.relative_to(RUNTIME).parts[0] for path in c_files(RUNTIME)}
    assert folders == {*LIBRARIES, "include", "tests", "bench"}


def test_headers_of_the_runtime_are_included_by_their_paths() -> None:
    """No library includes another's, so that each is made of its folder and `shared` alone."""
    public = {path.name for path in (RUNTIME / "include").iterdir()} | {"opir_have.h"}  # made when libopi_ranks is
    wrong = []
    for library in LIBRARIES:
        for path in c_files(RUNTIME / library):
            for name in re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.M):
                if name not in public and not (
                    name.startswith((f"{library}/", "shared/")) and (RUNTIME / name).is_file()
                ):
                    wrong.append(f"{path.relative_to(RUNTIME)} includes {name}")
    assert wrong == []
