"""Whether anything but the MPI's own headers has a name of the MPI."""

import pytest

from opi_xform.frontend.clang.source import File
from opi_xform.frontend.headers.mpi_headers import named_elsewhere

MPI = File("/mpi/include/mpi.h", b"#define MPI_PROC_NULL (-1)\n", True)
PART = File("/mpi/include/mpi_more.h", b"/* MPI_PROC_NULL */\n", True)
READ = ["/mpi/include/mpi.h", "/mpi/include/mpi_more.h", "/a/a.c"]


def named(text: bytes, flags: tuple[str, ...] = (), known: tuple[str, ...] = ()) -> bool:
    return named_elsewhere("MPI_PROC_NULL", flags, [MPI, PART, File("/a/a.c", text, False)], READ, known)


def test_its_own_headers_do_not_count() -> None:
    assert not named(b"int n;\n")
    assert not named(b"int n;\n", known=("/mpi/include/mpi_more.h",))


@pytest.mark.parametrize(
    ("text", "flags", "known"),
    [
        (b"int n = MPI_PROC_NULL;\n", (), ()),
        (b"int n;\n", ("-DNOBODY=MPI_PROC_NULL",), ()),
        (b"int n;\n", (), ("/usr/include/nobody.h",)),
    ],
)
def test_files_and_flags_do(text: bytes, flags: tuple[str, ...], known: tuple[str, ...]) -> None:
    assert named(text, flags, known)
