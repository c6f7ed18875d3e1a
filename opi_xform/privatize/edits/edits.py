"""The byte edits that make variables private."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir.statics import Declared
from opi_xform.ownership.model.plan import LinkName
from opi_xform.privatize.edits.prologue import prologue
from opi_xform.privatize.edits.text import Text
from opi_xform.privatize.model import MINE, TLS, Decided, Variable
from opi_xform.rewrite.declare import link_edit
from opi_xform.text.edit import ByteEdit

Edits = dict[str, list[ByteEdit]]
"""By file, as it was parsed."""


def edits(text: Text, decided: Decided, form: str) -> Edits:
    """What turns the files into the program with private variables."""
    private = {
        key: decided.variables[key]
        for key, verdict in decided.verdicts.items()
        if verdict.decision == "private" and not decided.variables[key].done
    }
    own = {key for key, verdict in decided.verdicts.items() if verdict.decision == "private"}
    made = _Edits(text, private, own)
    if form == TLS:
        made.tls()
    else:
        made.struct()
    needs = set(made.marked)
    for unit in text.whole.units:
        if "main" in unit.routines:
            needs.add(unit.routines["main"].span.file)
    for file in sorted(needs):
        head = prologue(text.sources.text(file), form)
        if head is not None:
            made.found.setdefault(file, []).append(head)
    return {file: ones for file, ones in made.found.items() if ones}


class _Edits:
    def __init__(self, text: Text, private: Mapping[str, Variable], own: set[str]) -> None:
        self.text = text
        self.private = private
        self.own = own
        self.found: Edits = {}
        self.marked: set[str] = set()

    def add(self, file: str, edit: ByteEdit) -> None:
        self.found.setdefault(file, []).append(edit)

    # --- tls --------------------------------------------------------------------------------------

    def tls(self) -> None:
        after: dict[tuple[str, int], dict[int, str]] = {}
        for v in self.private.values():
            moves = any(self.holds(number, static.key) for number, static in v.parts)
            count = max((s.type.count or 0 for _, s in v.parts), default=0)
            const = any(s.type.const for _, s in v.parts)
            for d in v.declared:
                self._storage(d)
                if not moves:
                    continue
                for begin, end in (self.text.constants(d) or ()) if const else ():
                    self.add(d.statement.file, ByteEdit(begin, end))
                if d.has_init and d.init is not None:
                    self._take_out(d, count if v.first.type.is_array else 0)
                    initialiser = self.text.written(d.init).decode("utf-8", "surrogateescape")
                    place = (d.statement.file, d.after)
                    after.setdefault(place, {})[d.name.begin] = self._code(v, d, initialiser)
        for (file, at), ones in after.items():
            self._after(file, at, [ones[begin] for begin in sorted(ones)])

    def holds(self, number: int, key: str) -> bool:
        """Whether an initialiser takes the address of a private variable."""
        whole = self.text.whole
        return any(whole.key_of[number, held] in self.own for held in whole.units[number].variables[key].holds)

    def _storage(self, d: Declared) -> None:
        data = self.text.sources.data(d.statement.file)
        behind = d.specifier > 0 and data[d.specifier - 1 : d.specifier].isalpha() and d.specifier > d.statement.begin
        word = b" _Thread_local" if behind else b"_Thread_local "
        self.add(d.statement.file, ByteEdit(d.specifier, d.specifier, (0,), word))

    def _take_out(self, d: Declared, count: int) -> None:
        """The initialiser leaves the declaration; an array without a bound gets the one it gave."""
        assert d.init is not None
        data = self.text.sources.data(d.statement.file)
        begin = self.text.sources.text(d.statement.file).before(d.init.begin).end - 1
        while data[begin - 1] in b" \t\r\n":
            begin -= 1
        self.add(d.statement.file, ByteEdit(begin, d.init.end))
        if count and d.suffix is not None:
            opened = data.index(b"[", d.suffix.begin)
            close = data.index(b"]", opened)
            if not data[opened + 1 : close].strip():
                self.add(d.statement.file, ByteEdit(opened + 1, opened + 1, (0,), str(count).encode()))

    def _code(self, v: Variable, d: Declared, initialiser: str) -> str:
        name = v.name
        if initialiser.startswith("{") or v.first.type.is_array:
            wrapped = initialiser if initialiser.startswith("{") else f"{{{initialiser}}}"
            value = f"__builtin_memcpy(&{name}, &(__typeof__({name})){wrapped}, sizeof {name});"
        else:
            value = f"{name} = {initialiser};"
        if v.first.kind == "local-static":
            flag = f"opi_mine_set_{name}"
            return f"static _Thread_local char {flag};\nif (!{flag}) {{\n    {flag} = 1;\n    {value}\n}}"
        self.marked.add(d.statement.file)
        return f"OPI_RANK_INIT({name})\n{{\n    {value}\n}}"

    # --- struct -----------------------------------------------------------------------------------

    def struct(self) -> None:
        after: dict[tuple[str, int], dict[int, str]] = {}
        guarded: dict[tuple[str, int], set[str]] = {}
        for v in self.private.values():
            self._link(v)
            for number, static in v.parts:
                chosen = _definition(static.declared)
                for d in static.declared:
                    line = self._descriptor(number, v, d, d is chosen, static.key)
                    after.setdefault((d.statement.file, d.after), {})[d.name.begin] = line
                    self.marked.add(d.statement.file)
            for use in v.uses:
                kept = use.what in ("init", "type", "sizeof") or not use.function
                if use.span.macro is None and not kept:
                    self._use(use.span.file, use.span.begin, v.name)
            for file, at in self.text.macro_places(v):
                self._use(file, at, v.name)
            for place in self.text.guards(v):
                guarded.setdefault(place, set()).add(v.name)
        for (file, at), names in guarded.items():
            self._guard(file, at, sorted(names))
        for (file, at), ones in after.items():
            self._after(file, at, [ones[begin] for begin in sorted(ones)])

    def _link(self, v: Variable) -> None:
        """An external variable gets another name for the linker: a file that was left out must not find it.

        (With ``tls`` no linker takes one that is ``_Thread_local`` here and not there.)
        """
        written = all(d.plain and b"asm" not in self.text.written(d.statement) for d in v.declared)
        if v.first.kind != "extern" or not written:
            return
        for d in v.declared:
            name = LinkName(d.name, d.suffix, f"{MINE}at_{v.name}")
            self.add(d.statement.file, link_edit(self.text.sources.text(d.statement.file), name))

    def _use(self, file: str, at: int, name: str) -> None:
        end = at + len(name.encode("utf-8", "surrogateescape"))
        self.add(file, ByteEdit(at, end, (), f"OPI_MINE({name})".encode("utf-8", "surrogateescape")))
        self.marked.add(file)

    def _guard(self, file: str, at: int, names: list[str]) -> None:
        """After the directive that opens text of another configuration: it must not compile as it stands."""
        what = f"{', '.join(names)}: private for each rank in another configuration only"
        line = f"#error {what}; opi-xform --privatize has to see the flags of this one"
        self.add(
            file, ByteEdit(at, at, (3,), self.text.sources.text(file).eol + line.encode("utf-8", "surrogateescape"))
        )

    def _descriptor(self, number: int, v: Variable, d: Declared, chosen: bool, key: str) -> str:
        name = v.name
        if not chosen:
            if d.storage == "static":
                return f"static struct opi_rank_var opi_mine_of_{name} OPI_RANK_PLACE;"
            return f"extern struct opi_rank_var opi_mine_of_{name};"
        static = "" if v.first.kind == "extern" else "static "
        if not self.holds(number, key):
            return f"{static}OPI_RANK_VAR({name}, {0 if d.has_init else 1});"
        variables = self.text.whole.units[number].variables
        places = self.text.places(number, key, lambda k: k in self.own)
        rows = [f"{{{at}, {'0' if held == key else f'&opi_mine_of_{variables[held].name}'}}}" for at, held in places]
        table = ",\n    ".join(", ".join(rows[i : i + 4]) for i in range(0, len(rows), 4))
        refs = f"static const struct opi_rank_ref opi_mine_refs_{name}[] = {{\n    {table}}};"
        return f"{refs}\n{static}OPI_RANK_REFS({name});"

    # --- both -------------------------------------------------------------------------------------

    def _after(self, file: str, at: int, pieces: list[str]) -> None:
        """Lines after a declaration, indented as it is."""
        text = self.text.sources.text(file)
        data = text.data
        first = text.line_start(at)
        indent = data[first : len(data) - len(data[first:].lstrip(b" \t"))]
        lines = [indent + line for piece in pieces for line in _lines(piece)]
        new = b"".join(text.eol + line for line in lines)
        end = text.tail_end(at)
        if end is not None:  # after a comment on the same line
            self.add(file, ByteEdit(end, end, (2,), new))
            return
        rest = at
        while data[rest : rest + 1] in (b" ", b"\t"):
            rest += 1
        self.add(file, ByteEdit(at, rest, (2,), new + text.eol + indent))


def _lines(piece: str) -> list[bytes]:
    return [line.encode("utf-8", "surrogateescape") for line in piece.replace("\r\n", "\n").split("\n")]


def _definition(declared: tuple[Declared, ...]) -> Declared | None:
    """The declaration that becomes the definition: the one with an initialiser, else the last tentative one."""
    defining = [d for d in declared if d.definition]
    return next((d for d in defining if d.has_init), defining[-1] if defining else None)
