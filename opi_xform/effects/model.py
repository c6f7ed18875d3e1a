"""What library functions do to memory, as values.

A function that has no entry here is *unknown*: it may read, write, keep and free everything it can reach.  The entries
come from the tables in ``analyses/effects/*.toml`` and from the user's own configuration; ``table`` reads them,
and docs/effects.md describes their syntax.  Argument indices start at 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor of a length in bytes.

    kind: ``const`` (``value`` itself), ``arg`` (the value of argument ``value``), ``elem`` (the size of what the
    parameter points to, as the called function declares it), ``extent`` (the extent in bytes of the MPI datatype in
    argument ``value``), ``string`` (up to and including the terminating zero; always the only factor).
    """

    kind: str
    value: int = 0


Length = tuple[Factor, ...]


@dataclass(frozen=True, slots=True)
class ArgRegion:
    """Bytes reached through one argument: ``[0, product of length)`` from the address passed.

    length None: any bytes of the whole object, before and behind the address too.  A length with an ``extent`` factor
    is the region of ``count`` elements of a datatype: exactly ``[0, count x extent)`` for predefined types, the type
    map's bytes for derived ones (which may start before the address).
    indirect: not the argument's object, but the objects that pointers stored in it point to (``struct iovec``).
    rest: the argument and every later pointer argument (variadic functions).
    in_place: the access happens only where argument ``in_place`` is MPI_IN_PLACE.
    """

    arg: int
    length: Length | None = None
    indirect: bool = False
    rest: bool = False
    in_place: int | None = None


@dataclass(frozen=True, slots=True)
class AllocSpec:
    """A fresh object per call.

    size: product in bytes, None when the arguments do not tell.  zeroed: all its bytes are zero.  into: the pointer is
    stored through this argument, else it is the function's result.  copies_from: the argument whose object's bytes move
    into the new one (realloc).  contents: its bytes are written by the call (strdup), neither zero nor indeterminate.
    shared: others have the memory as well, under other addresses too (a window, a mapping).
    alignment: product in bytes that the caller was promised, where that may be more than malloc promises.
    """

    size: Length | None = None
    zeroed: bool = False
    into: int | None = None
    copies_from: int | None = None
    contents: bool = False
    shared: bool = False
    alignment: Length | None = None


@dataclass(frozen=True, slots=True)
class FreeSpec:
    """The object that argument ``arg`` points to dies; ``indirect``: the one whose pointer is stored there."""

    arg: int
    indirect: bool = False


@dataclass(frozen=True, slots=True)
class Callback:
    """The function calls its argument ``arg``.

    when: ``now`` (before it returns), ``exit`` (when the program ends), ``later`` (any time after it was passed, inside
    some library call: MPI's callbacks), ``concurrent`` (at the same time as everything after it: threads, signals).
    passes: per parameter of the callback, the argument whose object it points into; None: nothing of the program's.
    """

    arg: int
    when: str = "now"
    passes: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class PointerFlow:
    """A pointer value that moves.

    kind ``copies``: pointers stored in the source argument's object are also stored in the target's (memcpy);
    ``stores``: a pointer into the source argument's object is stored through the target (strtol's end).  ``source``
    None: a pointer that some library call retained earlier.
    """

    kind: str
    target: int
    source: int | None


@dataclass(frozen=True, slots=True)
class Format:
    """Argument ``arg`` is a format for the arguments from ``first`` on.

    scans: it is read by them (``scanf``), else printed.  listed: ``first`` is a ``va_list`` that leads to them.
    """

    arg: int
    first: int
    scans: bool = False
    listed: bool = False


@dataclass(frozen=True, slots=True)
class MpiBuffer:
    """One message buffer of an MPI call, by argument indices.

    peer is the destination, source or partner; tag None: the call has none.  vector: ``count`` (and ``displs``, and
    ``type`` where ``type_vector``) is an array with one entry per rank.  per_rank: one block of ``count`` per rank.
    indirect: the argument is the address of the carrier (the OPI interface).
    """

    buf: int
    count: int | None = None
    type: int | None = None
    peer: int | None = None
    tag: int | None = None
    displs: int | None = None
    vector: bool = False
    type_vector: bool = False
    per_rank: bool = False
    indirect: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """Which requests a call completes.

    which: ``one``, ``all``, ``any``, ``some`` of the ``count`` requests at argument ``requests``.  definite: on return
    they are complete (Wait, Waitall; Waitany and Waitsome: those that ``index`` names); otherwise only where the
    ``flag`` (or the index, the count of indices) says so.  releases: completed requests become MPI_REQUEST_NULL (not
    for MPI_Request_get_status).
    """

    requests: int
    which: str
    definite: bool
    count: int | None = None
    flag: int | None = None
    index: int | None = None
    outcount: int | None = None
    status: int | None = None
    releases: bool = True


BEGINS = frozenset(("send", "recv", "sendrecv", "collective", "rma", "io"))
"""Kinds of MPI calls that begin an operation."""


@dataclass(frozen=True, slots=True)
class MpiOp:
    """What an MPI call is for message passing.

    kind: ``send``, ``recv``, ``sendrecv``, ``collective``, ``rma``, ``io``, ``complete``, ``start``, ``free_request``,
    ``cancel``, ``probe``.  mode: ``standard``, ``synchronous``, ``buffered``, ``ready``, ``partitioned``.  request: the
    request that the call creates (or starts, frees, cancels); until it completes, every region in the function's reads
    and writes, the request itself excepted, stays in use.  persistent: the call only prepares the operation, which
    MPI_Start begins.  requests_count: argument with the number of requests (MPI_Startall).
    opi_send, opi_recv, opi_both: the OPI call that replaces it when that side (both sides) passes ownership, or ''.
    opi_recv_replace: that for the receiving side which keeps the buffer where the source is MPI_PROC_NULL.
    convertible: there is one, with the same meaning; else ``reason`` says why not, in a form fit for a report.
    """

    kind: str
    mode: str = "standard"
    blocking: bool = True
    persistent: bool = False
    send: MpiBuffer | None = None
    recv: MpiBuffer | None = None
    comm: int | None = None
    root: int | None = None
    peer: int | None = None
    tag: int | None = None
    request: int | None = None
    requests_count: int | None = None
    status: int | None = None
    message: int | None = None
    flag: int | None = None
    completes: Completion | None = None
    opi_send: str = ""
    opi_recv: str = ""
    opi_both: str = ""
    opi_recv_replace: str = ""
    convertible: bool = False
    reason: str = ""

    @property
    def numbers(self) -> frozenset[int]:
        """Arguments that are numbers, and neither places nor lengths: ranks and tags."""
        ends = (end for end in (self.send, self.recv) if end is not None)
        found = {self.root, self.peer, self.tag, *(n for end in ends for n in (end.peer, end.tag))}
        return frozenset(n for n in found if n is not None)

    @property
    def at_root(self) -> frozenset[int]:
        """The buffer of a collective call that counts in its root only: what is scattered, or gathered, or reduced."""
        if self.root is None or self.send is None or self.recv is None or self.replaces:
            return frozenset()
        scatters = self.send.per_rank or self.send.vector
        return frozenset((self.send.buf if scatters else self.recv.buf,))

    @property
    def read_at_root(self) -> frozenset[int]:
        """Buffers that a collective call reads in its root only; that of a broadcast it writes elsewhere."""
        same = self.root is not None and self.send is not None and self.replaces
        return self.at_root | ({self.send.buf} if same and self.send is not None else frozenset())

    @property
    def replaces(self) -> bool:
        """What is received comes into the buffer that is sent: both sides pass ownership, or none."""
        return self.send is not None and self.recv is not None and self.send.buf == self.recv.buf


@dataclass(frozen=True, slots=True)
class FunctionEffect:
    """Everything a library function does that the analyses care about.

    reads: bytes it may read.  writes: bytes it may write.  overwrites: bytes it writes on every return (also "may").
    returns_arg: the result points into that argument's object; returns_inside: not necessarily at the address passed.
    returns_library: the result may point to storage of the library's own, no object of the program.
    These add up: the result is any of those that are set, of the argument, and of what is allocated.
    returns_retained: it may be a pointer that a library call retained earlier (strtok(NULL, ...)).
    returns_stored: it may be a pointer that was stored in that argument's object (strsep).
    retains: arguments whose address is kept after the return; where ``mpi.request`` is set, until that completes.
    retains_unwritten: those of them through which nothing is written but by calls that are given the address again.
    retains_stored: arguments in whose objects addresses, also such as numbers, are stored that are kept.
    may_yield_proc_null: arguments through which ranks are written that may be MPI_PROC_NULL (assumption A2).
    nonnegative: arguments through which integers are written that are never negative; positive: those of them that are
    never zero.  below: what it writes through such an argument is less than what that function writes through the same
    one, for the same other arguments (a rank is below the size).
    errors: what it has to do with how errors of messages are told: ``sets`` (a handler takes effect), ``makes`` (one of
    the program's own).  outside: messages may then come from another program.
    repeatable: called again with equal arguments it writes equal values (MPI_Comm_rank).
    format: what a format says is done beyond reads and writes, where it cannot be read in the text (``formats.py``).
    operation: argument with an operation of MPI's: one that the program made is a function of the program, which gets
    addresses in the buffers.
    fills: all bytes that it writes are this one (``const``, ``arg``).
    appends: on every return it has written through the first of these arguments, from the number of bytes on that it
    found through the second, and has added to that how many they are (MPI_Pack).
    pure: the result depends on the arguments' values alone; nothing is touched but ``errno``, where ``errno`` is set.
    computes: its result is a number that is made of its arguments' values and of what it reads, and of nothing else.
    lets_errors_return: after it a call of MPI that fails may return an error, where it would have ended the job.
    source: the table it comes from; user: supplied by the user, dropped under ``--strict``.
    """

    name: str
    reads: tuple[ArgRegion, ...] = ()
    writes: tuple[ArgRegion, ...] = ()
    overwrites: tuple[ArgRegion, ...] = ()
    returns_arg: int | None = None
    returns_inside: bool = False
    returns_library: bool = False
    returns_retained: bool = False
    returns_stored: int | None = None
    allocates: AllocSpec | None = None
    frees: FreeSpec | None = None
    flows: tuple[PointerFlow, ...] = ()
    retains: tuple[int, ...] = ()
    retains_unwritten: tuple[int, ...] = ()
    retains_stored: tuple[int, ...] = ()
    calls: tuple[Callback, ...] = ()
    noreturn: bool = False
    lets_errors_return: bool = False
    pure: bool = False
    computes: bool = False
    errno: bool = False
    may_yield_proc_null: tuple[int, ...] = ()
    nonnegative: tuple[int, ...] = ()
    positive: tuple[int, ...] = ()
    below: str = ""
    errors: str = ""
    outside: bool = False
    repeatable: bool = False
    operation: int | None = None
    fills: Factor | None = None
    appends: tuple[int, int] | None = None
    format: Format | None = None
    mpi: MpiOp | None = None
    source: str = ""
    user: bool = False

    @property
    def returns(self) -> int:
        """How many kinds of things its result may point to, what is allocated left out (0: anything, or only that)."""
        others = (self.returns_arg is not None, self.returns_stored is not None)
        return sum((*others, self.returns_library, self.returns_retained))

    @property
    def all_writes(self) -> tuple[ArgRegion, ...]:
        """Every region that may be written, the certainly overwritten ones first."""
        return self.overwrites + self.writes


class Effects(Mapping[str, FunctionEffect]):
    """Function name to effect; iteration is in name order.  ``effects.get(name)`` is None for an unknown function."""

    __slots__ = ("_table",)

    def __init__(self, table: Mapping[str, FunctionEffect]) -> None:
        self._table = dict(sorted(table.items()))

    def __getitem__(self, name: str) -> FunctionEffect:
        return self._table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)
