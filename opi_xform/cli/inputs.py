"""Which files are the program: paths given, directories searched, the root they share."""

from __future__ import annotations

import os
from collections.abc import Iterator

from opi_xform.cli.options import Options
from opi_xform.cli.outcome import Failure, Problem, fail

_SKIPPED_DIRECTORIES = frozenset((".git", ".hg", ".svn"))
_CPLUSPLUS = frozenset((".C", ".cc", ".cpp", ".cxx", ".c++", ".cu"))


def collect_sources(options: Options) -> tuple[str, ...]:
    """The C files of the run, each once, in the order given; those of a directory sorted.

    Raises Failure for a path that does not exist, cannot be read, holds no C or is not C.
    """
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for path in options.paths:
        if os.path.isdir(path):
            files = list(_c_files(path, options.output or options.index))
            if not files:
                message = "no .c file in this directory; name one that has C sources"
                problems.append(Problem(message, path, code="OPI902"))
        else:
            problem = _unusable(path)
            files = [path] if problem is None else []
            if problem is not None:
                problems.append(Problem(problem, path or "''", code="OPI902"))
        for file in files:
            found.setdefault(os.path.realpath(file), os.path.normpath(file))
    if problems:
        raise Failure(problems)
    return tuple(found.values())


def common_root(sources: tuple[str, ...], options: Options) -> str:
    """The directory that ``-o`` mirrors, a real path: ``--root``, else the deepest that holds all sources."""
    folders = [os.path.dirname(os.path.realpath(source)) for source in sources]
    shared = os.path.commonpath(folders)
    if options.root is None:
        return shared
    root = os.path.realpath(options.root)
    if not os.path.isdir(root):
        raise fail("no such directory; --root names one that holds all sources", options.root)
    for source in sources:
        if os.path.commonpath([root, os.path.realpath(source)]) != root:
            raise fail(f"lies outside --root {options.root}; name a directory that holds all sources", source)
    return root


def _c_files(directory: str, output: str | None) -> Iterator[str]:
    """All ``*.c`` below ``directory``, sorted; what an earlier run wrote (``-o``, ``--index``) is not input."""
    avoided = os.path.realpath(output) if output is not None else None
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED_DIRECTORIES and os.path.realpath(os.path.join(folder, name)) != avoided
        )
        for name in sorted(files):
            if name.endswith(".c"):
                yield os.path.join(folder, name)


def _unusable(path: str) -> str | None:
    if not os.path.exists(path):
        return "no such file; check the path"
    extension = os.path.splitext(path)[1]
    if extension in _CPLUSPLUS:
        return "not a C file; opi-xform reads C (.c), not C++"
    if extension != ".c":
        return "not a C source file; name the .c files, their headers are found by themselves"
    if not os.path.isfile(path):
        return "not a regular file; name a C source file"
    try:
        with open(path, "rb"):
            return None
    except OSError as error:
        return f"cannot be read ({error.strerror}); check its permissions"
