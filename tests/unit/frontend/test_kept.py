"""What is kept from run to run counts only while nothing that it was made of has changed."""

from __future__ import annotations

import os
import pickle
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from opi_xform.cli.inputs.parsing import Job, parse_sources
from opi_xform.effects import table as effects_table
from opi_xform.frontend import flags as flags_module
from opi_xform.frontend import parse, parse_outline
from opi_xform.frontend.headers import kept_headers
from opi_xform.frontend.headers.precompiled import with_beginnings
from opi_xform.frontend.headers.system_part import beginnings, known_part
from opi_xform.frontend.probe import _probe
from opi_xform.kept import Kept, digest
from opi_xform.record import dataclass

TEXT = '#include <math.h>\n#include <stdio.h>\n#include "mine.h"\nint f@(void) { return MINE + (int)sizeof(FILE *); }\n'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPI_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def work(folder: Path, flags: tuple[str, ...] = (), count: int = 4) -> list[Job]:
    (folder / "inc").mkdir(exist_ok=True)
    (folder / "mine.h").write_text("#define MINE 3\n")
    for i in range(count):
        (folder / f"f{i}.c").write_text(TEXT.replace("@", str(i)))
    return [(str(folder / f"f{i}.c"), flags) for i in range(count)]


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("headers/made-*"))


def test_headers_are_precompiled_once(tmp_path: Path, cache: Path) -> None:
    jobs = work(tmp_path)
    first = beginnings(jobs, str(tmp_path / "missing"))
    assert set(first) == {path for path, _ in jobs}
    (made,) = kept(cache)
    assert first[jobs[0][0]].precompiled.file.startswith(str(made))
    again = beginnings(jobs[:1], str(tmp_path / "missing"))  # one file is enough where they are there
    assert again == {jobs[0][0]: first[jobs[0][0]]}
    assert kept(cache) == [made]
    path, flags = os.path.realpath(jobs[0][0]), list(jobs[0][1])
    headers = flags_module.headers(flags)
    plain = parse.on_big_stack(lambda: parse._parse_unit(path, path, flags, headers))
    assert parse.on_big_stack(lambda: parse._parse_unit(path, path, flags, headers, again[jobs[0][0]])) == plain


def test_other_flags_have_others(tmp_path: Path, cache: Path) -> None:
    beginnings(work(tmp_path), str(tmp_path))
    beginnings(work(tmp_path, ("-DN=1",)), str(tmp_path))
    assert len(kept(cache)) == 2
    beginnings(work(tmp_path, ("-isystem", str(tmp_path / "inc"))), str(tmp_path))
    assert len(kept(cache)) == 2  # what lies in such a folder is not known


def test_only_those_last_used_are_kept(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_headers, "_MOST", 2)
    for i in range(4):
        beginnings(work(tmp_path, (f"-DN={i}",)), str(tmp_path))
    assert len(kept(cache)) == kept_headers._MOST


def test_a_header_of_the_program_that_comes_first(tmp_path: Path) -> None:
    flags = (f"-I{tmp_path}/inc",)
    jobs = work(tmp_path, flags)
    assert len(beginnings(jobs, str(tmp_path))) == 4
    (tmp_path / "inc" / "bits").mkdir()
    for name in ("math.h", "stdio.h", "bits/types.h", "types.h"):
        assert len(beginnings(jobs[:1], str(tmp_path))) == 1
        (tmp_path / "inc" / name).write_text("#define MY 1\n")
        assert beginnings(jobs[:1], str(tmp_path)) == {}
        (tmp_path / "inc" / name).unlink()


def test_damaged_entries_are_as_good_as_none(tmp_path: Path, cache: Path) -> None:
    jobs = work(tmp_path)
    beginnings(jobs, str(tmp_path))
    (entry,) = [p for p in (cache / "headers").iterdir() if p.is_file()]
    for junk in (b"", b"[]\n", b"{}\n", b"{}\nno pickle", b"{}\n" + pickle.dumps(3), b"\xff\n"):
        entry.write_bytes(junk)
        assert beginnings(jobs[:1], str(tmp_path)) == {}
    assert len(beginnings(jobs, str(tmp_path))) == 4


def test_what_went_away_or_was_damaged(tmp_path: Path, cache: Path) -> None:
    jobs = work(tmp_path)
    beginnings(jobs, str(tmp_path))
    (made,) = kept(cache)
    (pch,) = made.glob("*.pch")
    pch.write_bytes(pch.read_bytes()[:1000])
    results = parse_sources(jobs[:2], 1, lambda: None)
    assert [list(unit.functions) for unit in results if not isinstance(unit, Exception)] == [["f0"], ["f1"]]
    pch.unlink()
    assert beginnings(jobs[:1], str(tmp_path)) == {}


def test_the_check_of_the_result_uses_them(tmp_path: Path) -> None:
    jobs = work(tmp_path)
    assert with_beginnings(jobs[:2], [flags for _, flags in jobs[:2]]) == jobs[:2]
    beginnings(jobs, str(tmp_path))
    assert with_beginnings(jobs[:2]) == jobs[:2]
    quick = with_beginnings(jobs[:2], [flags for _, flags in jobs[:2]])
    assert [flags[-2] for _, flags in quick] == ["-include-pch"] * 2
    assert parse_outline(*quick[0]) == parse_outline(*jobs[0])
    other = tmp_path / "other.c"
    other.write_text("#include <stdio.h>\n#include <math.h>\nint g;\n")
    assert known_part(str(other), (), ()) == ""  # in another order
    other.write_text("#include <math.h>\n#include <stdio.h>\n#include <mpi.h>\nint g;\n")
    assert known_part(str(other), (), ()) != ""


def test_tables_are_read_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    real = effects_table.read_tables
    monkeypatch.setattr(effects_table, "read_tables", lambda paths: read.append(1) or real(paths))
    found = []
    for _ in range(2):
        effects_table.read_shipped.cache_clear()
        found.append(effects_table.read_shipped())
    assert (len(read), found[0] == found[1], list(found[0]) == list(found[1])) == (1, True, True)
    (entry,) = [p for p in (cache / "effects").rglob("*") if p.is_file()]
    head, _, _ = entry.read_bytes().partition(b"\n")
    for junk in (b"no pickle", pickle.dumps({}), pickle.dumps([1])):
        entry.write_bytes(head + b"\n" + junk)
        effects_table.read_shipped.cache_clear()
        assert effects_table.read_shipped() == found[0]
    assert len(read) == 4


def test_constants_of_a_header_are_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = tmp_path / "mpi.h"
    header.write_text('#define MPI_ONE 1\n#define MPI_TEXT "x"\n')
    os.utime(header, (1, 1))
    empty = flags_module.headers(())
    assert _probe.__wrapped__(str(header), (), empty) == (("MPI_ONE", 1),)
    monkeypatch.setattr("opi_xform.frontend.probe._probed", lambda *_: pytest.fail("it was known"))
    assert _probe.__wrapped__(str(header), (), empty) == (("MPI_ONE", 1),)
    monkeypatch.undo()
    header.write_text("#define MPI_ONE 2\n")  # just now: it might change while it is read
    monkeypatch.setenv("OPI_CACHE", str(tmp_path / "cache"))
    for value in (2, 2):
        assert _probe.__wrapped__(str(header), (), empty) == (("MPI_ONE", value),)


def test_an_entry_of_other_files_is_none(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("1")
    entry = Kept("some", "key")
    assert entry.load() is None
    assert entry.store(b"bytes", {str(file): digest(str(file))})
    assert (entry.load(), Kept("some", "other").load(), Kept("others", "key").load()) == (b"bytes", None, None)
    file.write_text("22")
    assert entry.load() is None
    file.unlink()
    assert entry.load() is None


@dataclass(frozen=True, slots=True)
class Sample:
    """For the test below."""

    a: int
    b: tuple[int, ...] = ()


def test_records_are_frozen_dataclasses() -> None:
    one = Sample(1, (2,))
    assert (one, hash(one), repr(one)) == (Sample(b=(2,), a=1), hash((1, (2,))), "Sample(a=1, b=(2,))")
    assert Sample(1) != Sample(2)
    assert Sample(1) != (1, ())
    assert replace(one, a=3) == Sample(3, (2,))
    assert pickle.loads(pickle.dumps(one)) == one
    assert not hasattr(one, "__dict__")
    for wrong in (lambda: setattr(one, "a", 2), lambda: delattr(one, "a"), lambda: setattr(one, "c", 2)):
        with pytest.raises((FrozenInstanceError, AttributeError)):
            wrong()
    with pytest.raises(TypeError):
        Sample()  # type: ignore[call-arg]
