"""Reads TOML files, with the standard library's parser where there is one (Python 3.11 and later)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class TomlError(Exception):
    """A file is unreadable or no TOML; the message is one line that starts with the file's name."""


def load_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file.  Raises TomlError."""
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        return data
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TomlError(f"{path}: {reason}") from error
