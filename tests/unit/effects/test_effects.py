"""The tables of library effects: complete, in agreement with the installed mpi.h, and checked while they are read."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from effects_support import Param, mpicc, problems, prototypes

from opi_xform.effects.datatypes import load_datatypes
from opi_xform.effects.formats import _kinds, _moves
from opi_xform.effects.model import ArgRegion, Callback, Completion, Factor, Format, FreeSpec, MpiBuffer, PointerFlow
from opi_xform.effects.table import (
    _ALLOC_KEYS,
    _BUFFER_KEYS,
    _COMPLETION_KEYS,
    _ENTRY_KEYS,
    _OP_KEYS,
    EffectsError,
    load_effects,
    parse_effect,
    parse_length,
    parse_region,
)
from opi_xform.resources import analyses_dir

EFFECTS = load_effects()
MPI_NAMES = sorted(n for n in EFFECTS if n.startswith("MPI_"))

# --- the installed mpi.h -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def declared() -> dict[str, tuple[Param, ...]]:
    """Every MPI_ function that the installed mpi.h declares, with its parameters."""
    found = prototypes(mpicc(), ["mpi.h"])
    found = {name: params for name, params in found.items() if name.startswith("MPI_")}
    assert len(found) > 300
    return found


def test_every_mpi_function_has_an_entry(declared: dict[str, tuple[Param, ...]]) -> None:
    assert sorted(set(declared) - set(EFFECTS)) == []


def test_entries_agree_with_the_prototypes(declared: dict[str, tuple[Param, ...]]) -> None:
    found = [p for name in sorted(declared) for p in problems(name, EFFECTS[name], declared[name])]
    assert found == []


def test_every_request_that_is_made_is_declared(declared: dict[str, tuple[Param, ...]]) -> None:
    """A call with a request parameter says what the request is for: a pending operation must not go unseen."""
    exempt = {"MPI_Grequest_start"}  # no buffer is attached to a generalised request
    for name, params in declared.items():
        makes = [i for i, p in enumerate(params) if p.type == "MPI_Request" and p.stars == 1 and not p.const]
        op = EFFECTS[name].mpi
        if makes and name not in exempt and not re.search(r"flush|idup", name):
            assert op is not None, name
            assert op.request in makes or (op.completes is not None and op.completes.requests in makes), name


def test_nonblocking_calls_retain_their_buffers(declared: dict[str, tuple[Param, ...]]) -> None:
    for name in declared:
        op = EFFECTS[name].mpi
        if op is not None and not op.blocking and op.kind in ("send", "recv", "sendrecv", "collective", "rma", "io"):
            buffers = {s.buf for s in (op.send, op.recv) if s is not None}
            buffers |= {i for i, p in enumerate(declared[name]) if p.type == "void" and p.stars == 1}
            if name.endswith("_end"):
                continue
            assert buffers <= set(EFFECTS[name].retains), name


def test_the_check_finds_wrong_entries(declared: dict[str, tuple[Param, ...]]) -> None:
    """The comparison itself can fail, in each of its ways."""
    send = declared["MPI_Send"]
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"reads": ["9"]}, "out of range"),
        ({"writes": ["0"]}, "const void"),
        ({}, "is not read"),
        ({"reads": ["0", "1"]}, "no pointer"),
        ({"reads": ["0[extent(1, 3)]"]}, "datatype"),
        ({"reads": ["0[elem]"]}, "no element size"),
        ({"reads": ["0"], "mpi": {"kind": "send", "reason": "x", "send": {"buf": 0, "peer": 4}}}, "send.peer"),
    ]
    for entry, text in wrong:
        found = problems("MPI_Send", parse_effect("MPI_Send", entry), send)
        assert any(text in p for p in found), (entry, found)
    assert problems("MPI_Send", EFFECTS["MPI_Send"], send) == []


# --- what the tables say ----------------------------------------------------------------------------------------------


def test_memory_functions() -> None:
    n = (Factor("arg", 2),)
    assert EFFECTS["memcpy"].overwrites == (ArgRegion(0, n),)
    assert EFFECTS["memcpy"].reads == (ArgRegion(1, n),)
    assert (EFFECTS["memcpy"].returns_arg, EFFECTS["memcpy"].returns_inside) == (0, False)
    assert EFFECTS["memcpy"].flows == (PointerFlow("copies", 0, 1),)
    assert EFFECTS["__builtin_memcpy"].overwrites == EFFECTS["memcpy"].overwrites
    calloc = EFFECTS["calloc"].allocates
    assert calloc is not None
    assert calloc.zeroed
    assert calloc.size == (Factor("arg", 0), Factor("arg", 1))
    realloc = EFFECTS["realloc"]
    assert realloc.frees == FreeSpec(0)
    assert realloc.allocates is not None
    assert realloc.allocates.copies_from == 0
    assert EFFECTS["posix_memalign"].allocates is not None
    assert EFFECTS["posix_memalign"].allocates.into == 0
    assert EFFECTS["free"].frees == FreeSpec(0)
    assert EFFECTS["qsort"].calls == (Callback(3, "now", (0, 0)),)
    assert EFFECTS["atexit"].calls == (Callback(0, "exit", ()),)
    assert EFFECTS["sscanf"].writes == (ArgRegion(2, rest=True),)
    assert EFFECTS["snprintf"].writes == (ArgRegion(0, (Factor("arg", 1),)),)


@pytest.mark.parametrize("name", ["exit", "abort", "_Exit", "MPI_Abort", "longjmp", "__assert_fail"])
def test_functions_that_do_not_return(name: str) -> None:
    assert EFFECTS[name].noreturn


@pytest.mark.parametrize("name", ["sqrt", "pow", "fabs", "sinf", "cexp", "abs"])
def test_pure_functions(name: str) -> None:
    effect = EFFECTS[name]
    assert effect.pure
    assert not effect.reads
    assert not effect.all_writes


def test_an_unlisted_function_is_unknown() -> None:
    assert EFFECTS.get("some_function_of_the_program") is None


def test_point_to_point() -> None:
    blocking = [("MPI_Send", "OPI_Give"), ("MPI_Ssend", "OPI_Sgive"), ("MPI_Rsend", "OPI_Give")]
    for name, opi in [*blocking, ("MPI_Isend", "OPI_Igive")]:
        op = EFFECTS[name].mpi
        assert op is not None
        assert (op.opi_send, op.convertible, op.send) == (opi, True, MpiBuffer(0, 1, 2, 3, 4))
    for name, opi in [("MPI_Recv", "OPI_Take"), ("MPI_Irecv", "OPI_Itake")]:
        op = EFFECTS[name].mpi
        assert op is not None
        assert (op.opi_recv, op.convertible, op.recv) == (opi, True, MpiBuffer(0, 1, 2, 3, 4))
    both = EFFECTS["MPI_Sendrecv"].mpi
    assert both is not None
    assert (both.opi_send, both.opi_recv, both.opi_both) == ("OPI_Giverecv", "OPI_Sendtake", "OPI_Givetake")
    one = EFFECTS["MPI_Sendrecv_replace"].mpi
    assert one is not None
    assert (one.opi_send, one.opi_recv, one.opi_both) == ("", "", "OPI_Givetake_replace")
    assert one.replaces
    assert not both.replaces
    for name in "MPI_Issend MPI_Bsend MPI_Send_init MPI_Isendrecv_replace MPI_Mrecv MPI_Send_c PMPI_Send".split():  # noqa: SIM905
        op = EFFECTS[name].mpi
        assert op is not None
        assert not op.convertible
        assert op.reason


def test_completions() -> None:
    def of(name: str) -> Completion:
        op = EFFECTS[name].mpi
        assert op is not None
        assert op.completes is not None
        return op.completes

    assert of("MPI_Wait") == Completion(0, "one", True, status=1)
    assert of("MPI_Waitall") == Completion(1, "all", True, count=0, status=2)
    assert of("MPI_Waitany") == Completion(1, "any", True, count=0, index=2, status=3)
    assert not of("MPI_Test").definite
    assert of("MPI_Testall").flag == 2
    assert not of("MPI_Request_get_status").releases


def test_collectives_in_place() -> None:
    """The receive buffer is an input only under MPI_IN_PLACE."""
    region = ArgRegion(1, (Factor("arg", 2), Factor("extent", 3)), in_place=0)
    assert region in EFFECTS["MPI_Allreduce"].reads
    assert EFFECTS["MPI_Cart_shift"].may_yield_proc_null == (3, 4)
    assert EFFECTS["MPI_Comm_rank"].nonnegative == (1,)
    assert EFFECTS["MPI_Comm_rank"].repeatable
    assert EFFECTS["MPI_Comm_rank"].overwrites == (ArgRegion(1, (Factor("elem"),)),)
    assert (EFFECTS["MPI_Pack"].appends, EFFECTS["MPI_Pack_external"].appends) == ((3, 5), (4, 6))
    assert EFFECTS["MPI_Unpack"].appends is None


def test_opi_calls_match_their_originals() -> None:
    """Each OPI counterpart exists and takes its buffers where the MPI call has them, by address."""
    seen = set()
    for name in MPI_NAMES:
        op = EFFECTS[name].mpi
        if op is None or not op.convertible:
            continue
        takes = [(op.opi_recv, False, True), (op.opi_recv_replace, False, True)]
        for opi, send, recv in [(op.opi_send, True, False), *takes, (op.opi_both, True, True)]:
            if not opi:
                continue
            seen.add(opi)
            new = EFFECTS[opi].mpi
            assert new is not None
            for old_side, new_side, passes in [(op.send, new.send, send), (op.recv, new.recv, recv)]:
                if old_side is None or new_side is None:
                    assert old_side is new_side
                    continue
                assert new_side.indirect == passes
                assert (old_side.buf, old_side.count, old_side.type) == (new_side.buf, new_side.count, new_side.type)
                assert (old_side.peer, old_side.tag) == (new_side.peer, new_side.tag)
            assert (op.comm, op.request, op.status) == (new.comm, new.request, new.status)
    assert seen == {
        "OPI_Give", "OPI_Sgive", "OPI_Take", "OPI_Igive", "OPI_Itake", "OPI_Givetake",
        "OPI_Giverecv", "OPI_Sendtake", "OPI_Givetake_replace", "OPI_Take_replace", "OPI_Itake_replace",
    }  # fmt: skip


# --- the syntax -------------------------------------------------------------------------------------------------------


def test_regions() -> None:
    assert parse_region("0") == ArgRegion(0)
    assert parse_region("1[string]") == ArgRegion(1, (Factor("string"),))
    assert parse_region("*1") == ArgRegion(1, indirect=True)
    assert parse_region("2..") == ArgRegion(2, rest=True)
    assert parse_region("3[8 * elem]?0") == ArgRegion(3, (Factor("const", 8), Factor("elem")), in_place=0)
    assert parse_length("extent(1, 2)") == parse_length("arg1 * extent(2)") == (Factor("arg", 1), Factor("extent", 2))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('reads = ["x"]', "bad region"),
        ('reads = ["0[n]"]', "bad length"),
        ('reads = ["0[string * 2]"]', "bad length"),
        ('raeds = ["0"]', "unknown key"),
        ('reads = "0"', "wrong type"),
        ('overwrites = ["0"]', "needs a length"),
        ('writes = ["3"]\nappends = "3"', "bad appends"),
        ('writes = ["2"]\nappends = "3 at 5"', "nothing is written"),
        ('pure = true\nreads = ["0"]', "pure function"),
        ("pure = 1", "wrong type"),
        ("computes = true", "reads, and nothing else"),
        ('computes = true\nreads = ["0"]\nwrites = ["1"]', "reads, and nothing else"),
        ('repeatable = true\nreads = ["0"]', "reads no memory"),
        ('returns = "arg"', "bad returns"),
        ('calls = ["0"]', "bad callback"),
        ('copies = ["0 - 1"]', "bad copies"),
        ('frees = "x"', "bad frees"),
        ('retains = ["0"]', "argument numbers"),
        ('like = "nothing"', "no entry"),
        ('mpi = { kind = "gossip" }', "bad mpi.kind"),
        ('mpi = { kind = "send" }', "reason"),
        ('mpi = { kind = "send", convertible = true }', "opi_send"),
        ('mpi = { kind = "send", buf = 0 }', "unknown key"),
        ('allocates = { size = "arg0", zero = true }', "unknown key"),
        ("retains = [0]\nretains_unwritten = [0, 1]", "not retained"),
    ],
)
def test_mistakes_in_a_table_are_refused(entry: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "opi.toml"
    path.write_text(f"[effects.f]\n{entry}\n", encoding="utf-8")
    with pytest.raises(EffectsError, match=message) as caught:
        load_effects(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_users_add_and_override(tmp_path: Path) -> None:
    path = tmp_path / "opi.toml"
    path.write_text(
        'strict = false\n[effects.fill]\noverwrites = ["0[arg1 * elem]"]\n'
        '[effects.fill2]\nlike = "fill"\nreturns = "arg0"\n'
        '[effects.strlen]\nreads = ["0"]\n',
        encoding="utf-8",
    )
    effects = load_effects(path)
    assert effects["fill"].overwrites == (ArgRegion(0, (Factor("arg", 1), Factor("elem"))),)
    assert effects["fill2"].overwrites == effects["fill"].overwrites
    assert effects["fill2"].returns_arg == 0
    assert effects["fill"].user
    assert effects["strlen"].reads == (ArgRegion(0),)
    assert not EFFECTS["strlen"].user
    strict = load_effects(path, strict=True)
    assert "fill" not in strict
    assert strict["strlen"] == EFFECTS["strlen"]


def test_unreadable_tables(tmp_path: Path) -> None:
    with pytest.raises(EffectsError, match=r"missing\.toml: No such file"):
        load_effects(tmp_path / "missing.toml")
    broken = tmp_path / "opi.toml"
    broken.write_bytes(b"[effects\n")
    with pytest.raises(EffectsError, match=r"opi\.toml"):
        load_effects(broken)
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(EffectsError, match=r"opi\.toml"):
        load_effects(broken)


def test_names_come_in_order() -> None:
    assert list(EFFECTS) == sorted(EFFECTS)


# --- datatypes --------------------------------------------------------------------------------------------------------


@pytest.mark.mpi
def test_datatype_sizes(tmp_path: Path) -> None:
    """Sizes and extents as the installed MPI reports them."""
    table = load_datatypes()
    lines = [f'#ifdef {n}\n  show({n}, "{n}");\n#elif defined OPEN_MPI\n  show({n}, "{n}");\n#endif' for n in table]
    program = (
        """#include <mpi.h>
#include <stdio.h>
static void show(MPI_Datatype t, const char *name) {
  int size = -1;
  MPI_Aint lb = 0, extent = -1;
  if (t == MPI_DATATYPE_NULL) return;
  MPI_Type_size(t, &size);
  MPI_Type_get_extent(t, &lb, &extent);
  printf("%s %d %ld\\n", name, size, (long)extent);
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
"""
        + "\n".join(lines)
        + "\n  MPI_Finalize();\n  return 0;\n}\n"
    )
    (tmp_path / "types.c").write_text(program, encoding="utf-8")
    exe = tmp_path / "types"
    subprocess.run([mpicc(), "-w", "-o", exe, tmp_path / "types.c"], check=True, timeout=60)
    out = subprocess.run([exe], capture_output=True, text=True, check=True, timeout=60).stdout
    reported = {n: (int(s), int(e)) for n, s, e in (line.split() for line in out.splitlines())}
    assert len(reported) > 35
    assert {n: (table[n].size, table[n].extent) for n in reported} == {
        # without Fortran in the MPI, Fortran's types have no size
        n: v if v[0] > 0 else (table[n].size, table[n].extent)
        for n, v in reported.items()
    }


# --- docs/effects.md -----------------------------------------------------------------------------------------------

DOCUMENT = (Path(__file__).parents[3] / "docs" / "effects.md").read_text(encoding="utf-8")


def test_the_documented_examples_are_read(tmp_path: Path) -> None:
    examples = re.findall(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(examples) == 2
    for i, text in enumerate(examples):
        path = tmp_path / f"{i}.toml"
        path.write_text(text, encoding="utf-8")
        assert any(effect.user for effect in load_effects(path).values())


def test_every_key_is_documented() -> None:
    for key in [*_ENTRY_KEYS, *_OP_KEYS, *_BUFFER_KEYS, *_COMPLETION_KEYS, *_ALLOC_KEYS]:
        assert re.search(rf"\b{key}\b", DOCUMENT), key
    for region in re.findall(r'^\| `"([^"]+)"` \|', DOCUMENT, re.MULTILINE):
        parse_region(region)


def test_every_table_is_documented() -> None:
    listed = re.findall(r"^\| `([\w-]+\.toml)` \|", DOCUMENT, re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in (analyses_dir() / "effects").iterdir())


# --- what a result may point to, and formats -----------------------------------------------------------------------


def test_or_leaves_nothing_out() -> None:
    got = parse_effect("f", {"reads": ["0", "1"], "returns": "inside arg0 or stored at arg1 or library or retained"})
    assert (got.returns_arg, got.returns_inside, got.returns_stored) == (0, True, 1)
    assert got.returns_library
    assert got.returns_retained
    assert got.returns == 4


@pytest.mark.parametrize(
    ("text", "want"),
    [("0 prints 1..", Format(0, 1)), ("2 scans 3..", Format(2, 3, True)), ("0 prints *1", Format(0, 1, listed=True))],
)
def test_formats(text: str, want: Format) -> None:
    assert parse_effect("f", {"format": text}).format == want


@pytest.mark.parametrize("text", ["0", "0 prints 1", "prints 1..", "0 writes 1.."])
def test_what_is_no_format(text: str) -> None:
    with pytest.raises(ValueError, match="bad format"):
        parse_effect("f", {"format": text})


PLAIN = ["", "%d %5.3lf%%", "%zu %lld %#x %'d %-*.*f", "%m", r"\n%s\n", "%wf32d %hhd %Lg"]
MOVING = ["%n", "%hhn", "%1$d %2$n", "%p", "%", "%Z", r"%\n", "%w32n"]


@pytest.mark.parametrize(("text", "want"), [*((t, False) for t in PLAIN), *((t, True) for t in MOVING)])
def test_conversions_that_move_addresses_or_write(text: str, want: bool) -> None:
    assert _moves(text, False) is want


@pytest.mark.parametrize(
    ("text", "want"), [("%d%n", False), ("%[^,]%c", False), ("%ms", True), ("%mls", True), ("%p", True)]
)
def test_conversions_that_are_read(text: str, want: bool) -> None:
    assert _moves(text, True) is want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("%d: %p%%\n", "dp"),
        ("%s %-20p%lu", "spu"),
        ("%*p %s", ""),
        ("%2$p %1$s", ""),
        ("%m %p", ""),
        ("%Z %p", ""),
        ("%", ""),
    ],
)
def test_which_conversion_prints_which_argument(text: str, want: str) -> None:
    assert _kinds(text) == want
