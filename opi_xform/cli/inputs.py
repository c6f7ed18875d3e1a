"""Which files are the program: paths given, directories searched, a build's database; the root they share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from opi_xform.cli.beside import CPLUSPLUS, FORTRAN
from opi_xform.cli.build_flags import open_database
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import Failure, Problem, fail
from opi_xform.cli.shown import shown
from opi_xform.rewrite.kept import read_kept
from opi_xform.rewrite.write import OutputError
from opi_xform.standing import standing

_SKIPPED_DIRECTORIES = frozenset((".git", ".hg", ".svn"))


def collect_sources(options: Options) -> tuple[str, ...]:
    """The C files of the run, each once, in the order given; those of a directory or of a database sorted.

    Raises Failure for a path that does not exist, cannot be read, holds no C or is not C.
    """
    if not options.paths:
        if options.build_dir is None:
            raise fail("no input; name C files or directories, or see opi-xform --help", code="OPI902")
        return _listed(options.build_dir)
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for path in options.paths:
        if os.path.isdir(path):
            hidden: list[OSError] = []
            files = [file for file in below(path, options, hidden.append) if file.endswith(".c")]
            problems += [_hidden(error) for error in hidden]
            if not files and not hidden:
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


def _listed(build_dir: str) -> tuple[str, ...]:
    """The C files that a database compiles.  Raises FrontendError, Failure."""
    database = open_database(build_dir)
    files = sorted(file for file in database.names if file.endswith(".c"))
    if not files:
        raise fail("compiles no .c file; name the sources", shown(database.path), code="OPI902")
    problems = []
    for file in files:
        problem = _unusable(file)
        if problem is not None and not os.path.exists(file):
            problem = f"no such file, though {shown(database.path)} compiles it; build first, or configure again"
        if problem is not None:
            problems.append(Problem(problem, shown(file), code="OPI902"))
    if problems:
        raise Failure(problems)
    return tuple(shown(file) for file in files)


def _hidden(error: OSError) -> Problem:
    message = f"cannot be read ({error.strerror}); check its permissions, or name the directories to take"
    return Problem(message, shown(str(error.filename)), code="OPI902")


def files_beside(options: Options, sources: tuple[str, ...]) -> list[str]:
    """The files in the directories given, and in those of the sources."""
    found: list[str] = []
    for path in options.paths:
        if os.path.isdir(path):
            found += below(path, options, lambda _: None)
    for folder in dict.fromkeys(os.path.dirname(source) or os.curdir for source in sources):
        try:
            found += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        except OSError:  # a directory that may be entered but not listed
            continue
    return found


def foreign(options: Options) -> list[str]:
    """C files in the directory that is written to, inside one that was given, that no earlier run wrote.

    Without a manifest nobody knows who wrote what is there.
    """
    output = options.output if options.output is not None else options.index
    if output is None or not os.path.isdir(output):
        return []
    top = os.path.realpath(output)
    if not any(os.path.commonpath([os.path.realpath(path), top]) == os.path.realpath(path) for path in options.paths):
        return []
    try:
        kept = read_kept(output)
    except OutputError:  # it is told where the output is written
        return []
    walk = (os.path.join(folder, name) for folder, _, names in os.walk(output) for name in names)
    return [
        file for file in walk if file.endswith(".c") and kept.files and os.path.relpath(file, output) not in kept.files
    ]


def common_root(sources: tuple[str, ...], options: Options) -> str:
    """The directory that ``-o`` mirrors, a real path: ``--root``, else the deepest that holds all sources.

    A source counts where it stands; with ``-i`` also the file that a link leads to, which is the one that is edited.
    """
    places = (standing, os.path.realpath) if options.in_place else (standing,)
    folders = [os.path.dirname(place(source)) for source in sources for place in places]
    shared = os.path.commonpath(folders)
    if options.root is None:
        return shared
    root = os.path.realpath(options.root)
    if not os.path.isdir(root):
        raise fail("no such directory; --root names one that holds all sources", options.root)
    for source in sources:
        if any(os.path.commonpath([root, place(source)]) != root for place in places):
            raise fail(f"lies outside --root {options.root}; name a directory that holds all sources", source)
    return root


def below(directory: str, options: Options, hidden: Callable[[OSError], None]) -> Iterator[str]:
    """All files below ``directory``, sorted; what an earlier run wrote (``-o``, ``--index``) is not input."""
    output = options.output or options.index
    avoided = os.path.realpath(output) if output is not None else None
    for folder, folders, files in os.walk(directory, onerror=hidden):
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED_DIRECTORIES and os.path.realpath(os.path.join(folder, name)) != avoided
        )
        for name in sorted(files):
            yield os.path.join(folder, name)


def _unusable(path: str) -> str | None:
    if not os.path.exists(path):
        return "no such file; check the path"
    extension = os.path.splitext(path)[1]
    if extension in CPLUSPLUS:
        return "not a C file; opi-xform reads C (.c), not C++"
    if extension in FORTRAN:
        return "not a C file; opi-xform reads C (.c), not Fortran"
    if extension != ".c":
        return "not a C source file; name the .c files, their headers are found by themselves"
    if not os.path.isfile(path):
        return "not a regular file; name a C source file"
    try:
        with open(path, "rb"):
            return None
    except OSError as error:
        return f"cannot be read ({error.strerror}); check its permissions"
