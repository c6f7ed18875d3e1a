"""Planted bugs of functions that fill the memory that they hand out."""

from tests.machines.planted.bug import Bug

_FILLED = "opi_xform.ownership.allocation.filled"

BUGS = (
    Bug(
        "a function that allocates does not change its parameter through its address",
        "opi_xform.ownership.allocation.allocating",
        'program.variables[info.variable].kind != "param"',
        "True",
        ("malloc_wrapper_own_address",),
        condition="allocation and free",
    ),
    Bug(
        "what a function fills its memory with is still there when a taken buffer is in its place",
        "opi_xform.ownership.liveness.buffer_events",
        "        if n in self.filled:\n            return True\n",
        "",
        ("handed_once",),
        condition="first contents",
    ),
    Bug(
        "a function that fills memory and something else only fills memory",
        _FILLED,
        "elsewhere = values.accesses.touches_other(n, o)",
        "elsewhere = False",
        ("handed_elsewhere",),
        condition="allocation and free",
    ),
    Bug(
        "a loop with its test at the end is one with the same test before it",
        "opi_xform.ir.lowering.turned",
        " or not _alike(s.cond, inner.cond):\n        return None\n    return ast.While(s.span, s.cond, inner.body)",
        ":\n        return None\n    return ast.While(s.span, inner.cond, inner.body)",
        ("turned_other",),
        condition="packed",
    ),
    Bug(
        "a pointer stays what it was where posix_memalign has no memory",
        "opi_xform.ir.lowering.expressions",
        "self.branch(left.value, value, there, failure)",
        "self.close(there)",
        ("memalign_old",),
        condition="comparison with NULL",
    ),
    Bug(
        "what the alignment does is not missed where it is asked for no more",
        "opi_xform.ownership.placement.allocation_edits",
        "any(map(has_effect, self.alignments(allocation.call)))",
        "False",
        ("memalign_asks", "memalign_asks_plain"),
        condition="allocation and free",
    ),
    Bug(
        "a pointer that is handed out was nothing before it got its memory",
        "opi_xform.ir.lowering.memalign",
        "target.var in returned and only_there(target.var)",
        "target.var in returned",
        ("memalign_returned_old",),
        condition="comparison with NULL",
    ),
    Bug(
        "nothing names a pointer that is handed out before it gets its memory",
        "opi_xform.frontend.lower.stmts",
        "return all(self._names.referenced(cursor[k]).key != key for k in named)",
        "return True",
        ("memalign_returned_macro", "memalign_returned_pasted"),
        condition="comparison with NULL",
    ),
    Bug(
        "a pointer that is handed out is a local variable, nothing at each call",
        "opi_xform.frontend.lower.stmts",
        'if len(declared) != 1 or self._names.target(cursor[declared[0]]).kind != "local":',
        "if len(declared) != 1:",
        ("memalign_returned_static",),
        condition="comparison with NULL",
    ),
    Bug(
        "what is put before a `do` is not allocated again in it",
        "opi_xform.ownership.placement.allocation_edits",
        "if isinstance(around[at].stmt, ast.DoWhile):",
        "if False:",
        ("memalign_do_once",),
        condition="allocation and free",
    ),
    Bug(
        "a posix_memalign of the program's own is the C library's",
        "opi_xform.program.own_memalign",
        "if not own:",
        "if own or not own:",
        ("memalign_own",),
        condition="library functions",
    ),
)
