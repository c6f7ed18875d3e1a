"""Bugs in what is known of sources, of loops' turns, of messages in rows, and of receives that fail."""

from tests.planted.bug import Bug

_FAILURES = "opi_xform.ownership.failures"
_RANKS = "opi_xform.ownership.real_ranks"
_TAINT = "opi_xform.ownership.taint"
_TRIPS = "opi_xform.memory.trips"
_USES = "opi_xform.ownership.uses"

NULL = (
    Bug(
        "what messages bring is a real rank",
        _TAINT,
        "            return False\n        return self.carried",
        "            return False\n        return False",
        ("recv_null_scanned", "recv_null_scattered", "recv_null_gathered"),
    ),
    Bug(
        "a status tells a real rank",
        _TAINT,
        "return not self.shown(n, self.values.args[n][peer]) and",
        "return False and",
        ("recv_null_status",),
    ),
    Bug(
        "the statuses of completed receives tell real ranks",
        _TAINT,
        "return self.absent if i == op.completes.status else False",
        "return False",
        ("recv_null_status_waited",),
    ),
    Bug(
        "what is computed with MPI_PROC_NULL is a real rank",
        _TAINT,
        "if op not in COMPARED:",
        'if op == "cast":',
        ("recv_null_product", "recv_null_product_names", "recv_null_xor"),
    ),
    Bug(
        "what is read from a file is a real rank",
        _TAINT,
        "dirty = taken if moved else not zero",
        "dirty = taken",
        ("recv_null_file", "recv_null_text_scanned", "recv_null_sorted"),
    ),
    Bug(
        "what a library function makes of a text is a real rank",
        _TAINT,
        "result = any(arguments) if effect.pure else not message",
        "result = any(arguments)",
        ("recv_null_text",),
    ),
    Bug(
        "a number that was a floating one is a real rank",
        _TAINT,
        "                        if self.floating:\n                            return True",
        "                        pass",
        ("recv_null_scaled_float",),
        condition="real source",
    ),
    Bug(
        "no initialiser holds MPI_PROC_NULL",
        _TAINT,
        "info.frame < 0 and self.initially(",
        "info.frame < 0 and False and self.initially(",
        ("recv_null_initialiser",),
        condition="real source",
    ),
    Bug(
        "topology queries give real ranks",
        _TAINT,
        "                dirty = True",
        "                dirty = False",
        ("recv_cart_shift", "recv_cart_shift_table", "recv_graph_neighbour"),
    ),
    Bug(
        "structs are assigned without MPI_PROC_NULL",
        _TAINT,
        "                self.copy(n)",
        "                pass",
        ("recv_null_struct_copied", "recv_null_struct_copy"),
        condition="real source",
    ),
    Bug(
        "memory that is made larger holds nothing",
        _TAINT,
        "if spec.contents or any(self.holds(o, None) for o in old):",
        "if False:",
        ("recv_null_moved",),
    ),
    Bug(
        "all that was ever in memory that is made larger was stored there",
        _RANKS,
        'info.kind == "heap" and not self.fresh(info.node)',
        "False",
        ("recv_null_moved",),
    ),
    Bug(
        "what is not negative hides nothing",
        _TAINT,
        "if self.null is None or value is None:",
        "if value is None:",
        ("recv_null_shifted_up", "recv_null_enumerator"),
    ),
    Bug(
        "a loop is left as soon as its condition holds, whether it is looked at or not",
        _TRIPS,
        " or not tested_each_turn(nest, loop, edge[0])",
        "",
        ("send_exit_untested_turn", "send_exit_in_branch", "send_exit_goto_around"),
    ),
    Bug(
        "a message ends in the row in which it begins",
        _USES,
        "or not _ends_in_row(program, use, row)",
        "",
        ("send_rows_at_once", "send_rows_at_once_by_name", "recv_rows_at_once"),
    ),
    Bug(
        "what begins in a row ends in it",
        _USES,
        "found is None or not _stays_in_row(program, a, found, row)",
        "found is None",
        ("send_rows_flat_loop", "send_rows_copied", "send_rows_by_pointer"),
    ),
    Bug(
        "no receive fails",
        _FAILURES,
        "        if not self.set:",
        "        if True:",
        ("recv_error_looked_at", "recv_error_kept", "recv_error_nonblocking"),
    ),
    Bug(
        "a status does not tell that a receive failed",
        _FAILURES,
        "or self.status_given(use.node, use.op.status):",
        "or False:",
        ("recv_error_status",),
    ),
)
