"""The tables of the C library and POSIX against the headers of the C library at hand (GNU's; elsewhere: skipped)."""

from __future__ import annotations

import platform
import shutil

import pytest
from effects_support import Param, problems, prototypes

from opi_xform.effects.table import load_effects, parse_effect

EFFECTS = load_effects()
TABLES = ("libc.toml", "libm.toml", "posix.toml")
HEADERS = """
assert complex ctype dirent err errno execinfo fcntl fenv fnmatch ftw getopt glob grp iconv inttypes langinfo libgen
libintl locale malloc math mcheck netdb poll pthread pwd regex sched search semaphore setjmp signal spawn stdio stdlib
string strings syslog termios threads time unistd utime wchar wctype arpa/inet netinet/in sys/epoll sys/eventfd
sys/file sys/ioctl sys/ipc sys/mman sys/msg sys/random sys/resource sys/select sys/sem sys/sendfile sys/shm sys/socket
sys/stat sys/statvfs sys/sysinfo sys/time sys/timeb sys/times sys/types sys/uio sys/utsname sys/vfs sys/wait
"""
# Without a prototype in those headers: compiler built-ins, other names that headers give functions, and functions that
# older or newer C libraries have.
OTHER = ("__builtin_", "__assume", "__isoc", "_mm_", "__printf", "__fprintf", "__sprintf", "__snprintf", "__mem")
ELSEWHERE = {"basename", "gets", "strlcpy", "strlcat", "alloca", "arc4random", "arc4random_uniform"}


@pytest.fixture(scope="module")
def declared() -> dict[str, tuple[Param, ...]]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or platform.libc_ver()[0] != "glibc":
        pytest.skip("needs a C compiler and the GNU C library")
    found = prototypes(compiler, [f"{h}.h" for h in HEADERS.split()], ["-D_GNU_SOURCE", "-std=gnu11"])
    assert len(found) > 1500
    return found


def _listed() -> list[str]:
    return [n for n in EFFECTS if EFFECTS[n].source in TABLES and not n.startswith(OTHER)]


def test_entries_name_functions_that_exist(declared: dict[str, tuple[Param, ...]]) -> None:
    assert [n for n in _listed() if n not in declared and n not in ELSEWHERE] == []


def test_entries_agree_with_the_prototypes(declared: dict[str, tuple[Param, ...]]) -> None:
    found = [p for name in _listed() if name in declared for p in problems(name, EFFECTS[name], declared[name])]
    assert found == []


def test_the_tables_are_wide() -> None:
    """Functions that ordinary C programs call, each known."""
    everyday = """
    malloc calloc realloc free memcpy memmove memset memcmp strlen strcpy strncpy strcmp strncmp strcat strchr
    strstr strtok printf fprintf sprintf snprintf puts putchar fopen fclose fread fwrite fgets fputs fscanf
    sscanf fflush fseek ftell rewind remove rename perror feof getline exit abort atexit atoi atol atof strtol
    strtoul strtod strtoll rand srand random qsort bsearch abs labs getenv setenv system time clock difftime
    localtime gmtime strftime mktime isdigit isspace toupper sqrt pow exp log log10 sin cos tan atan2 floor ceil
    fabs fmod round fmin fmax hypot cbrt isnan clock_gettime gettimeofday getpid usleep sleep nanosleep
    gethostname open close read write lseek unlink mkdir stat access getopt getopt_long getrusage sysconf
    posix_memalign aligned_alloc mmap munmap pthread_create pthread_join pthread_mutex_lock signal
    """
    known = set(EFFECTS)
    assert [n for n in everyday.split() if n not in known] == []
    assert len(_listed()) > 800


def test_the_check_finds_wrong_entries(declared: dict[str, tuple[Param, ...]]) -> None:
    for name, entry in [
        ("strlen", {}),
        ("strlen", {"writes": ["0"]}),
        ("strlen", {"reads": ["1"]}),
        ("memcpy", {"reads": ["1[arg0]"], "writes": ["0"]}),
        ("printf", {"reads": ["0"]}),
        ("gettimeofday", {"writes": ["0[elem]"]}),
    ]:
        assert problems(name, parse_effect(name, entry), declared[name]), (name, entry)


def test_blas_writes_are_read_too_unless_only_copied() -> None:
    """Every BLAS result is an update, a copy's excepted: forgetting that it is read would let live bytes die."""
    names = [n for n in EFFECTS if EFFECTS[n].source == "blas.toml"]
    assert len(names) > 40
    for name in names:
        read = {r.arg for r in EFFECTS[name].reads}
        assert all(w.arg in read or "copy" in name for w in EFFECTS[name].all_writes), name
        assert not EFFECTS[name].overwrites, name


def test_openmp_functions_agree_with_the_header() -> None:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs GCC's omp.h")
    options = ["-fopenmp", "-D__GOMP_NOTHROW=", "-D__GOMP_DEFAULT_NULL_ALLOCATOR=", "-D__malloc__="]
    found = prototypes(compiler, ["omp.h"], options)
    names = [n for n in EFFECTS if EFFECTS[n].source == "openmp.toml"]
    assert [n for n in names if n not in found] == []
    assert [p for n in names for p in problems(n, EFFECTS[n], found[n])] == []


def test_memory_that_others_know_is_no_allocation() -> None:
    """What is mapped may be a file or shared, and mapped twice: no other memory can stand in its place."""
    for name in ("mmap", "mmap64", "mremap"):
        assert EFFECTS[name].allocates is None, name
    for name in ("shmat", "MPI_Win_allocate", "MPI_Win_allocate_shared"):
        made = EFFECTS[name].allocates
        assert made is not None, name
        assert made.shared, name
    for name in ("mprotect", "madvise", "mlock", "munlock", "munmap", "msync", "mincore", "malloc_usable_size"):
        assert 0 in EFFECTS[name].retains, name
    for name in ("aligned_alloc", "memalign", "valloc", "pvalloc", "posix_memalign", "_mm_malloc"):
        made = EFFECTS[name].allocates
        assert made is not None, name
        assert made.alignment, name
