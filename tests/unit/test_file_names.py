"""One name of each file, as a compiler sees it: folders are real ones, a link's own name stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opi_xform.file_names import standing


def test_a_folder_that_is_a_link_is_the_real_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert standing(str(tmp_path / "link" / "a.c")) == str(tmp_path.resolve() / "real" / "a.c")


def test_a_file_that_is_a_link_keeps_its_name(tmp_path: Path) -> None:
    """``#include "x.h"`` in it is looked for beside the link."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a.c").write_text("")
    (tmp_path / "b.c").symlink_to("there/a.c")
    assert standing(str(tmp_path / "b.c")) == str(tmp_path.resolve() / "b.c")


@pytest.mark.parametrize("end", ["", ".", ".."])
def test_a_folder_has_no_name_of_its_own(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "f"
    inside.mkdir()
    monkeypatch.chdir(inside)
    assert standing(os.path.join("..", "f", end)) == str((inside / end).resolve())
