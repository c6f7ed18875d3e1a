"""A project's usual run, as its opi.toml says it: sources, flags, where the result goes.  The command line wins."""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from opi_xform.cli.options import Options
from opi_xform.cli.outcome import Failure
from opi_xform.record import dataclass
from opi_xform.rewrite.manifest import NAME as MANIFEST

KEYS = ("sources", "flags", "output", "root", "build-dir")
_NAMES = ("output", "root", "build-dir")
_PATTERN = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Usual:
    """None: the file says nothing of it.  Paths are relative to the working directory, those in ``flags`` absolute.

    wrong: the failure of a key, with a message.
    """

    wrong: Callable[[str, str], Failure]
    sources: tuple[str, ...] = ()
    flags: tuple[str, ...] | None = None
    output: str | None = None
    root: str | None = None
    build_dir: str | None = None

    def paths(self) -> tuple[str, ...]:
        """The sources, with the files that a pattern stands for: not those in directories that runs wrote.

        Raises Failure for a pattern without any.
        """
        found: dict[str, None] = {}
        for path in self.sources:
            if not _PATTERN & set(path) or os.path.exists(path):
                found[path] = None
                continue
            first = path[: min(path.index(mark) for mark in _PATTERN if mark in path)]
            top = os.path.dirname(first) or os.curdir
            files = (file for file in glob.glob(path, recursive=True) if file.endswith(".c"))
            matching = sorted(file for file in files if not _made(os.path.dirname(file), top))
            if not matching:
                raise self.wrong("sources", f"no .c file is like `{path}`; name files, directories or other patterns")
            found.update(dict.fromkeys(matching))
        return tuple(found)


def read_usual(table: Mapping[str, Any], folder: str, wrong: Callable[[str, str], Failure]) -> Usual:
    """The keys of a table; ``folder``: that of its file."""
    names: dict[str, str] = {}
    for key in _NAMES:
        given = table.get(key)
        if given is None:
            continue
        if not isinstance(given, str) or not given:
            raise wrong(key, f'`{key}` has to be the name of a directory: "{key.removesuffix("-dir")}"')
        names[key] = within(folder, given)
    return Usual(
        wrong,
        _sources(table.get("sources"), folder, wrong),
        _flags(table.get("flags"), folder, wrong),
        names.get("output"),
        names.get("root"),
        names.get("build-dir"),
    )


def _sources(given: object, folder: str, wrong: Callable[[str, str], Failure]) -> tuple[str, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or not given or not all(isinstance(name, str) and name for name in given):
        raise wrong("sources", '`sources` has to be a list of files, directories and patterns: ["src", "lib/*.c"]')
    return tuple(within(folder, name) for name in given)


def _made(folder: str, top: str) -> bool:
    """Whether a run wrote a directory below ``top``, or one that it is in."""
    inside = os.path.relpath(folder, top)
    while inside != os.curdir:
        if os.path.isfile(os.path.join(top, inside, MANIFEST)):
            return True
        inside = os.path.dirname(inside) or os.curdir
    return False


def _flags(given: object, folder: str, wrong: Callable[[str, str], Failure]) -> tuple[str, ...] | None:
    if given is None:
        return None
    message = '`flags` has to be a list of compiler flags: ["-Iinclude", "-DNDEBUG"]'
    try:
        words = shlex.split(given) if isinstance(given, str) else given
    except ValueError as error:
        raise wrong("flags", message) from error
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise wrong("flags", message)
    from opi_xform.frontend.flags import clean

    return tuple(clean(words, directory=os.path.abspath(folder)))


def within(folder: str, name: str) -> str:
    """A name in a file of ``folder``, relative to the working directory."""
    return name if folder == os.curdir or os.path.isabs(name) else os.path.normpath(os.path.join(folder, name))


class Configured(Protocol):
    """What opi.toml says of options (``cli.config.Configuration``)."""

    @property
    def usual(self) -> Usual | None: ...

    @property
    def strict(self) -> bool: ...

    @property
    def baseline(self) -> str | None: ...

    @property
    def privatize(self) -> str | None: ...

    @property
    def select(self) -> tuple[str, ...] | None: ...

    @property
    def ignore(self) -> tuple[str, ...] | None: ...

    @property
    def min_bytes(self) -> int | None: ...


def with_configuration(options: Options, known: Configured) -> Options:
    """The options with what opi.toml says; the command line wins."""
    options = _with_usual(options, known.usual) if known.usual is not None else options
    baseline = options.baseline if options.baseline is not None or not options.check else known.baseline
    return replace(
        options,
        strict=options.strict or known.strict,
        baseline=baseline,
        privatize=options.privatize or known.privatize,
        select=known.select if options.select is None else options.select,
        ignore=known.ignore if options.ignore is None else options.ignore,
        min_bytes=known.min_bytes if options.min_bytes is None else options.min_bytes,
    )


def _with_usual(options: Options, usual: Usual) -> Options:
    """Paths on the command line are another run: its result does not go where the usual one's does.

    Nor does a run write that asks for something else, a report for instance.  ``-p`` stands for all flags.
    """
    named = bool(options.paths)
    flags = usual.flags if options.flags is None and options.build_dir is None else options.flags
    writes = options.check or (options.shows_diff and not options.diff)
    elsewhere = options.output is not None or options.index is not None or options.in_place or options.fix is not None
    output = usual.output if writes and not elsewhere and not named else options.output
    return replace(
        options,
        paths=options.paths or usual.paths(),
        build_dir=usual.build_dir if options.build_dir is None and not named else options.build_dir,
        usual_build=usual.build_dir,
        flags=flags,
        output=output,
        root=usual.root if options.root is None else options.root,
    )
