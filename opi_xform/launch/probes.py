"""Which compilations are a build system's questions about the compiler, not part of a program.

CMake, autoconf, Meson, SCons and waf compile little programs to learn what a compiler can do.  They run before there is
an index, and no program is linked with what they make, so `opicc --transform` compiles them as they stand.  They are
told by the place that the build system keeps for them and clears, or by the name that autoconf keeps for itself
(`configure` deletes `conftest*`), never by their content: a program's source is no question because it is short.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

_PLACES = re.compile(
    r"/CMakeFiles/(?:CMakeScratch|CMakeTmp|[0-9][^/]*/CompilerIdC|_CMakeLTOTest-C)/"
    r"|/(?:meson-private|\.sconf_temp|\.conf_check_[^/]*)/"
)
_NAME = "conftest.c"


def _within(path: str) -> bool:
    return _PLACES.search(os.path.abspath(path) + "/") is not None


def is_probe(source: str, output: str | None = None) -> bool:
    """Whether compiling ``source`` to ``output``, in the working directory, is such a question."""
    if os.path.basename(source) == _NAME:
        return output is None or "conftest" in output
    return _within(os.curdir) or _within(os.path.dirname(source)) or (output is not None and _within(output))


def asks_what_is_linked(arguments: Sequence[str]) -> bool:
    """Whether CMake reads from this link what the compiler links by itself, to name it where another compiler links.

    libopi has to stay out of that: it would be linked there without the half of it that no call leads to."""
    return "-v" in arguments and _within(os.curdir)
