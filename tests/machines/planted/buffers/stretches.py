"""Bugs in receives in a loop, each into a stretch of one buffer, which get blocks of their own."""

from tests.machines.planted.bug import Bug

_TABLES = "opi_xform.divide.passages.tables"
_PROOF = "opi_xform.divide.passages.table_proof"

BUGS = (
    Bug(
        "a pointer that walks along memory ends before its last step",
        "opi_xform.ownership.model.stretches",
        "left.constant * step + length",
        "left.constant * step",
        ("handle_walks_on",),
        condition="members and tables",
    ),
    Bug(
        "what is read by a number of the buffer is of the message whose place the number names",
        _PROOF,
        """        if not stays_inside(self.program, n, access, (begin, end)):
            return False
""",
        "",
        ("stretches_beyond", "stretches_below"),
        condition="stretches",
    ),
    Bug(
        "where messages are, and how many, stays as it is until they are read",
        _PROOF,
        "return out if self.lasting(out, (turns, at, count), inside) else None",
        "return out",
        ("stretches_moved", "stretches_longer", "stretches_block_named"),
        condition="stretches",
    ),
    Bug(
        "messages of a loop lie beside one another, whenever they come",
        _PROOF,
        "if loop is None or self.waits(one.use.node):",
        "if loop is None:",
        ("stretches_waited",),
        condition="stretches",
    ),
    Bug(
        "nobody else touches what came, or changes it",
        _PROOF,
        "            if len(places) != 1 or not places[0][1] or places[0][0] not in rows or not touching:\n"
        "                return None\n",
        "            if len(places) != 1 or not places[0][1] or places[0][0] not in rows or not touching:\n"
        "                continue\n",
        ("stretches_helper_looks", "stretches_other_name", "stretches_helper_writes"),
        condition="stretches",
    ),
    Bug(
        "what came is not needed after the last statement that reads it",
        _PROOF,
        "one.around.leave not in self.rested and live is not None and live.is_empty()",
        "one.around.leave not in self.rested and live is not None",
        ("stretches_read_after", "stretches_read_next", "stretches_sent_next"),
        condition="stretches",
    ),
    Bug(
        "each message comes from somebody",
        _PROOF,
        "return not self.null.possible(use.node, use.buffer.peer)",
        "return True",
        ("stretches_nobody",),
        condition="stretches",
    ),
    Bug(
        "what is put into a buffer before messages ends nothing that is read of them",
        _PROOF,
        "            return {}  # what",
        "            pass  # what",
        ("stretches_marked",),
        also=Bug("", _PROOF, "or buffer.swaps or self.ended(buffer):", "or buffer.swaps:", ()),
        condition="stretches",
    ),
    Bug(
        "a name means the same in all of a function",
        _TABLES,
        "if any(v.name == name and v.key != inner.var for v in others):",
        "if False:",
        ("stretches_shadowed",),
        condition="stretches",
    ),
    Bug(
        "a constant means the same in all of a function",
        _TABLES,
        " or not declares_none(function, read):",
        ":",
        ("stretches_enumeration",),
        condition="stretches",
    ),
    Bug(
        "no name means something else after a directive",
        _TABLES,
        " or _directives(read(use.call.span.file), whole.span, behind[0].span)",
        "",
        ("stretches_named_anew",),
        condition="stretches",
    ),
    Bug(
        "a variable still is what it was set to in the turn, where the message names it",
        _PROOF,
        "if self.value(at).scaled(elem.size) != self.symbols.resolve(use.lo) or self.value(count) != many:",
        "if False:",
        ("stretches_set_later", "stretches_set_before", "stretches_block_sets"),
        condition="stretches",
    ),
    Bug(
        "behind messages of a loop only what one of them brings is asked about",
        _PROOF,
        "    def bytes(self) -> None:",
        "    def bytes_(self) -> None:",
        ("stretches_read_after",),
        condition="stretches",
    ),
)
