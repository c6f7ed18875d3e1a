"""Bugs in messages that begin inside a buffer, and get a block of their own."""

from tests.planted.bug import Bug

_PASSAGES = "opi_xform.divide.passages.find"
_PROOF = "opi_xform.divide.passages.proof"
_STARTED = "opi_xform.attempts.computed_starts"

BUGS = (
    Bug(
        "realloc reads nothing of a block, nor does a persistent operation later",
        _PROOF,
        "    if held(program, o):\n",
        "    if False:\n",
        ("starts_regrown", "starts_persistent"),
        condition="starts",
    ),
    Bug(
        "what was sent is not needed any more",
        _PROOF,
        "for n in (one.enter, one.leave):",
        "for n in (one.enter,):",
        ("starts_read_after", "starts_read_later"),
        condition="starts",
    ),
    Bug(
        "what is sent was all written since the first statement",
        _PROOF,
        "for n in (one.enter, one.leave):",
        "for n in (one.leave,):",
        ("starts_first_contents",),
        condition="starts",
    ),
    Bug(
        "a message begins where its first statement says",
        _PROOF,
        "self.symbols.resolve(use.lo) != begin or ",
        "",
        ("starts_start_changed",),
        Bug(
            "what a message's call touches lies elsewhere",
            _PROOF,
            "if not all(self.brings(a.lo, a.length, one) or self.other(a.lo, a.length, n, one) for a in touching):",
            "if False:",
            (),
        ),
        condition="starts",
    ),
    Bug(
        "who touches the buffer meanwhile touches something else",
        _PROOF,
        """            if not all(self.other(a.lo, a.length, n, one) for a in touching):
                return None
""",
        "",
        ("starts_callee_looks", "starts_callee", "starts_other_name"),
        condition="starts",
    ),
    Bug(
        "each element by its number travels",
        _PROOF,
        "all(self.travels(a.lo, a.length, n, one) for a in touching)",
        "all(True for a in touching)",
        ("starts_below_only", "starts_beyond_only"),
        condition="starts",
    ),
    Bug(
        "the status of a message lies elsewhere",
        _PROOF,
        "if not all(self.brings(a.lo, a.length, one) or self.other(a.lo, a.length, n, one) for a in touching):",
        "if False:",
        ("starts_status",),
        condition="starts",
    ),
    Bug(
        "the pointer stays what it is",
        _PROOF,
        "if isinstance(action, ins.Define) and action.target == ins.Var(key):",
        "if False:",
        ("starts_moved",),
        condition="starts",
    ),
    Bug(
        "a message is complete at the last mark",
        _PROOF,
        "        if one.use.op.blocking:\n            return True\n",
        "        return True\n",
        ("starts_pending", "starts_pending_other"),
        condition="starts",
    ),
    Bug(
        "a send that pends behind its passage leaves nothing that is read behind it",
        _PROOF,
        "for n in (one.enter, one.leave):",
        "for n in (one.enter,) if one.use.op.blocking or one.use.side == 'recv' else ():",
        ("partners_read_after", "partners_second", "partners_some"),
        condition="starts",
    ),
    Bug(
        "a send that pends behind its passage is sent on every way",
        _PROOF,
        "return self.program.dominates(one.use.node, one.leave)",
        "return True",
        ("partners_not_always",),
        condition="starts",
    ),
    Bug(
        "no way leads out",
        _PROOF,
        "            if last or isinstance(action, Lost) or",
        "            if isinstance(action, Lost) or",
        ("starts_ends_first",),
        condition="starts",
    ),
    Bug(
        "text of other configurations is none of the packing",
        _STARTED,
        "if self.untouched(one)]",
        "if True]",
        ("starts_left_out",),
        condition="starts",
    ),
    Bug(
        "the type of elements means the same where their block is made",
        _PASSAGES,
        " or not _same_type(program, function, var, texts)",
        "",
        ("starts_type_shadowed",),
        condition="starts",
    ),
    Bug(
        "memory that is asked for again and again has one name",
        _PROOF,
        "if holding is None or len(holding) != 1:\n        return False\n",
        "return True\n",
        ("anew_kept",),
        also=Bug("and is that of this turn", _PROOF, " or o in values.lazy:\n", ":\n", ()),
        condition="starts",
    ),
)
