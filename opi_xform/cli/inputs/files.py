"""Which files are the program: paths given, directories searched, a build's database; the root they share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from opi_xform.cli.inputs.build_flags import databases_near, open_database
from opi_xform.cli.inputs.shown import shown
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import Failure, Problem, fail
from opi_xform.file_names import standing
from opi_xform.record import dataclass
from opi_xform.rewrite.manifest import NAME as MANIFEST
from opi_xform.rewrite.manifest import read_kept
from opi_xform.rewrite.write import OutputError

CPLUSPLUS = frozenset((".C", ".cc", ".cpp", ".cxx", ".c++", ".cu"))
FORTRAN = frozenset(
    (".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".F", ".F77", ".F90", ".F95", ".F03", ".F08")
)
_LOCK = ".#"
"""How a link begins that an editor leaves beside a file being edited."""
_SKIPPED_DIRECTORIES = frozenset((".git", ".hg", ".svn"))


@dataclass(frozen=True, slots=True)
class Inputs:
    """The C files of a run, each once.  twice: other names of one of them, with the one that counts.

    left: directories in those given that an earlier run wrote (``-o``, ``--index``): no input.  unlisted: files in
    those given that the build of ``-p`` does not compile.
    """

    sources: tuple[str, ...]
    twice: tuple[tuple[str, str], ...] = ()
    left: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()


def collect_sources(options: Options) -> Inputs:
    """The C files in the order given; those of a directory or of a database sorted.  With ``-p`` a directory stands for
    those of its files that the build compiles.

    Raises FrontendError for a database that cannot be read; Failure for a path that does not exist, cannot be read,
    holds no C or is not C.
    """
    if not options.paths:
        if options.build_dir is None:
            near = " or ".join(f"opi-xform -p {os.path.relpath(folder)}" for folder in databases_near(os.getcwd()))
            how = f"{near} takes what was built there" if near else "or say `sources` in an opi.toml"
            raise fail(f"no input; name C files or directories ({how}); see opi-xform --help", code="OPI902")
        return _once(_listed(options.build_dir))
    directories = any(map(os.path.isdir, options.paths))
    database = open_database(options.build_dir) if options.build_dir is not None and directories else None
    known = None if database is None else frozenset(database.files)
    found: list[str] = []
    left: list[str] = []
    unlisted: list[str] = []
    problems: list[Problem] = []
    for path in options.paths:
        if os.path.isdir(path):
            hidden: list[OSError] = []
            files = [file for file in below(path, options, hidden.append, left.append) if file.endswith(".c")]
            files = [file for file in files if not os.path.basename(file).startswith(_LOCK)]
            wrong = [(file, problem) for file in files if (problem := _unusable(file)) is not None]
            problems += [_hidden(error) for error in hidden]
            problems += [Problem(problem, file, code="OPI902") for file, problem in wrong]
            if known is not None:
                unlisted += [file for file in files if os.path.realpath(file) not in known]
                files = [file for file in files if os.path.realpath(file) in known]
            if not files and not hidden:
                what = f" that {shown(database.path)} compiles" if database is not None else ""
                message = f"no .c file in this directory{what}; name one that has C sources"
                problems.append(Problem(message, path, code="OPI902"))
        else:
            problem = _unusable(path)
            files = [path] if problem is None else []
            if problem is not None:
                problems.append(Problem(problem, path or "''", code="OPI902"))
        found += files
    if problems:
        raise Failure(dict.fromkeys(problems))
    return _once(found, left, unlisted)


def _once(files: Iterable[str], left: Iterable[str] = (), unlisted: Iterable[str] = ()) -> Inputs:
    """Each file once: of several names that of the file itself counts, else the first of its links."""
    names: dict[str, list[str]] = {}
    for file in files:
        names.setdefault(os.path.realpath(file), []).append(os.path.normpath(file))
    first = [min(called, key=os.path.islink) for called in names.values()]
    twice = [
        (other, one)
        for one, called in zip(first, names.values(), strict=True)
        for other in dict.fromkeys(called)
        if standing(other) != standing(one)
    ]
    return Inputs(tuple(first), tuple(twice), tuple(dict.fromkeys(left)), tuple(dict.fromkeys(unlisted)))


def _listed(build_dir: str) -> list[str]:
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
    return [shown(file) for file in files]


def _hidden(error: OSError) -> Problem:
    message = f"cannot be read ({error.strerror}); check its permissions, or name the directories to take"
    return Problem(message, shown(str(error.filename)), code="OPI902")


def files_beside(options: Options, sources: tuple[str, ...]) -> list[str]:
    """The files in the directories given, and in those of the sources."""
    found: list[str] = []
    for path in options.paths:
        if os.path.isdir(path):
            found += below(path, options)
    for folder in dict.fromkeys(os.path.dirname(source) or os.curdir for source in sources):
        try:
            found += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        except OSError:  # a directory that may be entered but not listed
            continue
    return found


def foreign(folders: Iterable[str]) -> list[str]:
    """C files in directories that runs wrote that are not as any run left them.

    Without a manifest nobody knows who wrote what is there.
    """
    found: list[str] = []
    for folder in folders:
        try:
            kept = read_kept(folder)
            walk = (os.path.join(where, name) for where, _, names in os.walk(folder) for name in sorted(names))
            found += [file for file in walk if kept.files and file.endswith(".c") and not kept.wrote(file)]
        except (OutputError, OSError):  # it is told where the output is written
            continue
    return found


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


def below(
    directory: str,
    options: Options,
    hidden: Callable[[OSError], None] = lambda _: None,
    left: Callable[[str], None] = lambda _: None,
) -> Iterator[str]:
    """All files below ``directory``, sorted.

    ``left`` gets the directories that are no input, since runs write there: this one, or an earlier one by its
    manifest.  ``hidden`` gets what cannot be looked into.
    """
    output = options.output or options.index
    avoided = os.path.realpath(output) if output is not None else None
    for folder, folders, files in os.walk(directory, onerror=hidden):
        inside = []
        for name in sorted(folders):
            path = os.path.join(folder, name)
            if os.path.realpath(path) == avoided or os.path.isfile(os.path.join(path, MANIFEST)):
                left(path)
            elif name not in _SKIPPED_DIRECTORIES:
                inside.append(name)
        folders[:] = inside
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
