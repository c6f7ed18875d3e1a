"""How a file is named to people and programs."""

from __future__ import annotations

import os


def shown(path: str) -> str:
    """Relative to the working directory; '' stays ''."""
    return os.path.relpath(path) if path else ""
