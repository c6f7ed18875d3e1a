"""Receives with which the life of a block begins."""

from tests.machines.planted.bug import Bug

_FRESH = "opi_xform.ownership.last.fresh"
_BLOCKS = "opi_xform.ownership.last.blocks"
_EDITS = "opi_xform.ownership.last.edits"

BUGS = (
    Bug(
        "what a block contains before its receive does not count",
        _FRESH,
        "if known and not self.only_moves(node):",
        "if False:",
        ("first_marked", "first_marked_inside"),
        condition="first use",
    ),
    Bug(
        "a block is touched by one name only",
        _FRESH,
        "touched = {used, *(b if a == used else a for a, b in pairs if used in (a, b))}",
        "touched = {used}",
        ("first_marked_inside",),
        condition="first use",
    ),
    Bug(
        "what one way brings to a place all ways bring",
        _FRESH,
        "for name, made in a.items() if name in b}",
        "for name, made in a.items() if name in b} or a",
        ("first_maybe",),
        condition="first use",
    ),
    Bug(
        "of calloc's zeros nobody reads any after a text",
        _EDITS,
        "if self.options.strict or not is_numbers(self.program, block):",
        "if self.options.strict:",
        ("first_zeros", "first_zeros_member", "first_zeros_wide"),
        condition="first use",
    ),
    Bug(
        "calloc is asked for as many bytes as elements",
        _FRESH,
        "values.symbols.resolve(reduce(mul, asked))",
        "values.symbols.resolve(asked[0])",
        ("first_larger_elements",),
        condition="first use",
    ),
    Bug(
        "a receive makes room for all that malloc was asked for",
        _FRESH,
        "return self.sends.facts.at(block).nonneg(length - size)",
        "return True",
        ("first_larger", "first_size_changes"),
        condition="first use",
    ),
    Bug(
        "a block that is received into has no other name",
        _EDITS,
        "if sends.used_after(use.node, name, given=False) is not None:",
        "if False:",
        ("first_old_name", "first_old_free"),
        condition="first use",
    ),
    Bug(
        "memory of an earlier iteration is of this one",
        _FRESH,
        "return state if state is None or target > source else self.from_outside(source, target, state)",
        "return state",
        ("first_earlier_turn",),
        condition="first use",
    ),
    Bug(
        "a pool in a function that calls itself is that of one activation",
        _BLOCKS,
        "if function not in run_unwatched(self.program) and function not in self.graph.levels:",
        "if True:",
        ("first_level_outer",),
        also=Bug(
            "what is written in a function that calls itself runs at one level",
            _EDITS,
            "return levels_written(self.program, buffer, edits) is None and not",
            "return not",
            ("first_level_outer",),
        ),
        condition="first use",
    ),
    Bug(
        "a receive that goes on finds its pointer where it was",
        _EDITS,
        'return use.op.opi_recv_replace if use.op.blocking else ""',
        "return use.op.opi_recv_replace",
        ("first_behind",),
        condition="first use",
    ),
    Bug(
        "nobody has another text for a function that frees",
        _EDITS,
        "        self.in_other_words(pool)\n",
        "",
        ("first_other_words",),
        condition="first use",
    ),
    Bug(
        "macros that are left out name no pointer",
        _EDITS,
        "(skipped.identifiers if inside else skipped.bodies)",
        '(skipped.identifiers if inside else "")',
        ("first_other_macro",),
        condition="first use",
    ),
    Bug(
        "what free returns may be returned",
        _EDITS,
        "if info is None or not isinstance(info.stmt, ast.ExprStmt) or not _for_nothing(info.stmt.expr, call):",
        "if False:",
        ("first_returned_free",),
        condition="first use",
    ),
)
