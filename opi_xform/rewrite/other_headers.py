"""Headers that only other compilers read: named by an ``#include`` under a condition that is false here.

The result has to build wherever the program does, so they go where the rest of it goes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

from opi_xform.file_names import standing

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


def other_headers(files: Iterable[str], folders: Sequence[str], root: str, data: Callable[[str], bytes]) -> list[str]:
    """What ``files`` name in an ``#include``, and what that names, as far as it lies below ``root``; without ``files``.

    folders: where headers are looked for, after the folder of the file that names one.  data: the bytes of a file.
    What cannot be read is not there.
    """
    top = os.path.realpath(root)
    seen = {standing(file) for file in files}
    found: list[str] = []
    work = sorted(seen)
    while work:
        file = work.pop()
        for quoted, angled in _INCLUDE.findall(data(file)):
            name = os.fsdecode(quoted or angled)
            for folder in ([os.path.dirname(file)] if quoted else []) + [*folders]:
                path = standing(os.path.join(folder, name))
                if os.path.isfile(path) and os.access(path, os.R_OK):
                    if path not in seen and os.path.commonpath([top, path]) == top:
                        seen.add(path)
                        found.append(path)
                        work.append(path)
                    break
    return sorted(found)
