"""Units that are kept on disk, and the code that they are made by."""

from __future__ import annotations

import re
from pathlib import Path

from opi_xform.frontend.cache import makers

_USED = re.compile(r"^ *from opi_xform\.((?:frontend|ir)(?:\.\w+)+|record) import", re.M)


def test_units_are_kept_by_all_the_code_that_makes_them() -> None:
    """A unit of another version of any of it must not be taken for one of this version."""
    package = Path(__file__).resolve().parents[3] / "opi_xform"
    work = sorted((package / "frontend").rglob("*.py"))
    seen: set[Path] = set()
    while work:
        file = work.pop()
        if file not in seen:
            seen.add(file)
            names = _USED.findall(file.read_text(encoding="utf-8"))
            for place in (package / name.replace(".", "/") for name in names):
                work += [place.with_suffix(".py")] if place.with_suffix(".py").exists() else place.glob("*.py")
    assert package / "ir" / "lowering" / "memalign.py" in seen
    assert seen <= set(makers())
