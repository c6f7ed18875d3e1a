"""The name of a file: where it stands, as a compiler sees it."""

from __future__ import annotations

import os


def standing(path: str) -> str:
    """One absolute name of a file: its folder is a real one, its own name stays, also that of a symbolic link.

    So ``#include "x.h"`` is looked for beside a link, not beside what it leads to, as compilers do.
    """
    folder, name = os.path.split(path)
    if name in ("", os.curdir, os.pardir):
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(folder), name)
