"""Odd ways that an address takes through a program, and odd ways in which a number changes.

Each is correct C and MPI that people write; an analysis that overlooks one believes what is no longer so.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Way:
    """How a pointer ``q`` comes to hold an address.

    outside: lines at file level; make: lines in the function, after which ``q`` is there.  In all of them NAME is the
    function's name, TYPE what is pointed to and FROM the address.
    """

    title: str
    outside: tuple[str, ...]
    make: tuple[str, ...]


WAYS = (
    Way("volatile", ("static TYPE *volatile NAME_way;",), ("NAME_way = FROM;", "TYPE *q = NAME_way;")),
    Way(
        "volatile struct",
        ("static struct { TYPE *p; int n; } *volatile NAME_way, NAME_held;",),
        ("NAME_held.p = FROM;", "NAME_way = (void *)&NAME_held;", "TYPE *q = NAME_way->p;"),
    ),
    Way("atomic", ("static TYPE *_Atomic NAME_way;",), ("NAME_way = FROM;", "TYPE *q = NAME_way;")),
    Way(
        "bytes one by one",
        (
            "static void NAME_copy(void *to, const void *from, int k)",
            "{",
            "    for (int i = 0; i < k; i++)",
            "        ((char *)to)[i] = ((const char *)from)[i];",
            "}",
        ),
        ("TYPE *first = FROM, *q;", "NAME_copy(&q, &first, sizeof q);"),
    ),
    Way(
        "union of bytes",
        ("union NAME_bytes { TYPE *p; unsigned char b[sizeof(TYPE *)]; };",),
        (
            "union NAME_bytes first, second;",
            "first.p = FROM;",
            "for (unsigned i = 0; i < sizeof first.b; i++)",
            "    second.b[i] = first.b[i];",
            "TYPE *q = second.p;",
        ),
    ),
    Way(
        "two halves",
        (),
        (
            "TYPE *first = FROM, *q;",
            "unsigned half[2];",
            "memcpy(half, &first, sizeof half);",
            "unsigned low = half[0], high = half[1];",
            "half[0] = low; half[1] = high;",
            "memcpy(&q, half, sizeof q);",
        ),
    ),
    Way(
        "exclusive or",
        (),
        (
            "unsigned long key = 0x5aUL + zero, mixed = (unsigned long)FROM ^ key;",
            "TYPE *q = (TYPE *)(mixed ^ key);",
        ),
    ),
    Way(
        "pipe",
        ("#include <unistd.h>",),
        (
            "int ends[2];",
            "TYPE *first = FROM, *q = NULL;",
            "if (pipe(ends) || write(ends[1], &first, sizeof first) < 0 || read(ends[0], &q, sizeof q) < 0)",
            "    MPI_Abort(MPI_COMM_WORLD, 3);",
            "close(ends[0]);",
            "close(ends[1]);",
        ),
    ),
    Way(
        "file",
        (),
        (
            "TYPE *first = FROM, *q = NULL;",
            "FILE *file = tmpfile();",
            "fwrite(&first, sizeof first, 1, file);",
            "rewind(file);",
            "if (fread(&q, sizeof q, 1, file) != 1)",
            "    MPI_Abort(MPI_COMM_WORLD, 3);",
            "fclose(file);",
        ),
    ),
    Way(
        "message",
        (),
        (
            "TYPE *first = FROM, *q = NULL;",
            "MPI_Sendrecv(&first, sizeof first, MPI_BYTE, 0, 1, &q, sizeof q, MPI_BYTE, 0, 1, MPI_COMM_SELF,",
            "             MPI_STATUS_IGNORE);",
        ),
    ),
    Way(
        "packed",
        (),
        (
            "TYPE *first = FROM, *q = NULL;",
            "char packed[64];",
            "int at = 0;",
            "MPI_Pack(&first, sizeof first, MPI_BYTE, packed, 64, &at, MPI_COMM_SELF);",
            "at = 0;",
            "MPI_Unpack(packed, 64, &at, &q, sizeof q, MPI_BYTE, MPI_COMM_SELF);",
        ),
    ),
    Way(
        "text",
        (),
        (
            "char text[40];",
            "void *found = NULL;",
            'snprintf(text, sizeof text, "%p", (void *)FROM);',
            'sscanf(text, "%p", &found);',
            "TYPE *q = found;",
        ),
    ),
    Way(
        "variable arguments",
        (
            "#include <stdarg.h>",
            "static void *NAME_second(int n, ...)",
            "{",
            "    va_list list;",
            "    va_start(list, n);",
            "    void *p = va_arg(list, void *);",
            "    p = va_arg(list, void *);",
            "    va_end(list);",
            "    return p;",
            "}",
        ),
        ("TYPE *q = NAME_second(2, (void *)0, (void *)FROM);",),
    ),
    Way(
        "thread's own",
        ("#include <pthread.h>", "static pthread_key_t NAME_key;"),
        (
            "pthread_key_create(&NAME_key, NULL);",
            "pthread_setspecific(NAME_key, FROM);",
            "TYPE *q = pthread_getspecific(NAME_key);",
        ),
    ),
    Way(
        "attribute",
        (),
        (
            "int key, there;",
            "TYPE *q = NULL;",
            "MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);",
            "MPI_Comm_set_attr(MPI_COMM_SELF, key, FROM);",
            "MPI_Comm_get_attr(MPI_COMM_SELF, key, &q, &there);",
        ),
    ),
    Way(
        "search tree",
        (
            "#include <search.h>",
            "static int NAME_order(const void *a, const void *b)",
            "{",
            "    return (a > b) - (a < b);",
            "}",
        ),
        (
            "void *root = NULL;",
            "tsearch(FROM, &root, NAME_order);",
            "TYPE *q = *(TYPE **)tfind(FROM, &root, NAME_order);",
        ),
    ),
    Way(
        "struct of bytes",
        ("struct NAME_raw { unsigned char b[sizeof(TYPE *)]; };",),
        (
            "struct NAME_raw first, second;",
            "TYPE *q, *given = FROM;",
            "memcpy(first.b, &given, sizeof first.b);",
            "second = first;",
            "memmove(&q, second.b, sizeof q);",
        ),
    ),
    Way(
        "double",
        (),
        (
            "TYPE *given = FROM, *q;",
            "double bits[2];",
            "memcpy(bits, &given, sizeof given);",
            "bits[1] = bits[0];",
            "memcpy(&q, bits + 1, sizeof q);",
        ),
    ),
    Way("kept by a static", ("static TYPE *NAME_kept;",), ("NAME_kept = FROM;", "TYPE *q = NAME_kept;")),
    Way(
        "bytes of an array",
        (),
        (
            "TYPE *sorted[2] = {NULL, FROM};",
            "unsigned char *bytes = (unsigned char *)sorted;",
            "for (unsigned i = 0; i < sizeof sorted[0]; i++)",
            "    bytes[i] = bytes[i + sizeof sorted[0]];",
            "TYPE *q = sorted[0];",
        ),
    ),
)


def drawn(rng: random.Random, name: str, type_: str, address: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lines at file level and lines in the function, after which ``q`` is the address."""
    way = rng.choice(WAYS)
    words = {"NAME": name, "TYPE": type_, "FROM": f"({address})"}
    return _filled(way.outside, words), _filled(way.make, words)


@dataclass(frozen=True, slots=True)
class Change:
    """How a number NUMBER, which is LESS, becomes MORE behind the program's back.

    outside: at file level; before: when the number has been set, before the packing; event: it changes; after: what has
    to be given back.  number: the lvalue, where it is the C library's own or has to be at file level ('': any integer).
    """

    title: str
    outside: tuple[str, ...]
    before: tuple[str, ...]
    event: tuple[str, ...]
    after: tuple[str, ...] = ()
    number: str = ""


_STATIC = "NAME_n"

CHANGES = (
    Change(
        "thread",
        (
            "#include <pthread.h>",
            "static pthread_barrier_t NAME_bar;",
            "static void *NAME_work(void *a)",
            "{",
            "    pthread_barrier_wait(&NAME_bar);",
            "    *(int *)a = MORE;",
            "    return NULL;",
            "}",
        ),
        (
            "pthread_t worker;",
            "pthread_barrier_init(&NAME_bar, NULL, 2);",
            "pthread_create(&worker, NULL, NAME_work, &NUMBER);",
        ),
        ("pthread_barrier_wait(&NAME_bar);", "pthread_join(worker, NULL);"),
    ),
    Change(
        "signal",
        (
            "#include <signal.h>",
            "int NAME_n;",
            "static void NAME_on(int s)",
            "{",
            "    NAME_n = MORE + 0 * s;",
            "}",
        ),
        ("signal(SIGUSR2, NAME_on);",),
        ("raise(SIGUSR2);",),
        ("signal(SIGUSR2, SIG_DFL);",),
        _STATIC,
    ),
    Change(
        "window",
        (),
        (
            "MPI_Win win;",
            "MPI_Win_create(&NUMBER, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &win);",
            "MPI_Win_fence(0, win);",
        ),
        ("int more = MORE;", "MPI_Put(&more, 1, MPI_INT, 0, 0, 1, MPI_INT, win);", "MPI_Win_fence(0, win);"),
        ("MPI_Win_free(&win);",),
    ),
    Change(
        "dynamic window",
        (),
        (
            "MPI_Win win;",
            "MPI_Aint place;",
            "MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &win);",
            "MPI_Win_attach(win, &NUMBER, sizeof(int));",
            "MPI_Get_address(&NUMBER, &place);",
            "MPI_Win_fence(0, win);",
        ),
        ("int more = MORE;", "MPI_Put(&more, 1, MPI_INT, 0, place, 1, MPI_INT, win);", "MPI_Win_fence(0, win);"),
        ("MPI_Win_detach(win, &NUMBER);", "MPI_Win_free(&win);"),
    ),
    Change(
        "persistent receive",
        (),
        ("MPI_Request kept;", "MPI_Recv_init(&NUMBER, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &kept);"),
        (
            "int more = MORE;",
            "MPI_Start(&kept);",
            "MPI_Send(&more, 1, MPI_INT, 0, 5, MPI_COMM_SELF);",
            "MPI_Wait(&kept, MPI_STATUS_IGNORE);",
        ),
        ("MPI_Request_free(&kept);",),
    ),
    Change(
        "persistent reduction",
        (),
        (
            "MPI_Request kept;",
            "int more = 0;",
            "MPI_Allreduce_init(&more, &NUMBER, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &kept);",
        ),
        ("more = MORE;", "MPI_Start(&kept);", "MPI_Wait(&kept, MPI_STATUS_IGNORE);"),
        ("MPI_Request_free(&kept);",),
    ),
    Change(
        "attribute's delete function",
        (
            "static int NAME_gone(MPI_Comm c, int k, void *value, void *extra)",
            "{",
            "    *(int *)value = MORE;",
            "    return MPI_SUCCESS;",
            "}",
        ),
        (
            "int key;",
            "MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, NAME_gone, &key, NULL);",
            "MPI_Comm_set_attr(MPI_COMM_SELF, key, &NUMBER);",
        ),
        ("MPI_Comm_delete_attr(MPI_COMM_SELF, key);",),
        ("MPI_Comm_free_keyval(&key);",),
    ),
    Change(
        "operation",
        (
            "static int NAME_n;",
            "static void NAME_op(void *in, void *inout, int *n, MPI_Datatype *t)",
            "{",
            "    NAME_n = MORE;",
            "}",
        ),
        ("MPI_Op op;", "MPI_Op_create(NAME_op, 1, &op);"),
        ("int one = 1, two = 2;", "MPI_Reduce_local(&one, &two, 1, MPI_INT, op);"),
        ("MPI_Op_free(&op);",),
        _STATIC,
    ),
    Change(
        "error handler",
        (
            "static int NAME_n;",
            "static void NAME_wrong(MPI_Comm *c, int *code, ...)",
            "{",
            "    NAME_n = MORE;",
            "}",
        ),
        (
            "MPI_Errhandler handler;",
            "MPI_Comm own;",
            "MPI_Comm_dup(MPI_COMM_SELF, &own);",
            "MPI_Comm_create_errhandler(NAME_wrong, &handler);",
            "MPI_Comm_set_errhandler(own, handler);",
        ),
        ("MPI_Comm_call_errhandler(own, MPI_ERR_OTHER);",),
        ("MPI_Errhandler_free(&handler);", "MPI_Comm_free(&own);"),
        _STATIC,
    ),
    Change(
        "generalized request",
        (
            "static int NAME_query(void *extra, MPI_Status *st)",
            "{",
            "    *(int *)extra = MORE;",
            "    MPI_Status_set_elements(st, MPI_INT, 0);",
            "    MPI_Status_set_cancelled(st, 0);",
            "    return MPI_SUCCESS;",
            "}",
            "static int NAME_free(void *extra) { return MPI_SUCCESS; }",
            "static int NAME_cancel(void *extra, int done) { return MPI_SUCCESS; }",
        ),
        ("MPI_Request kept;", "MPI_Grequest_start(NAME_query, NAME_free, NAME_cancel, &NUMBER, &kept);"),
        ("MPI_Grequest_complete(kept);", "MPI_Wait(&kept, MPI_STATUS_IGNORE);"),
    ),
    Change(
        "absolute type",
        (),
        (
            "MPI_Datatype there;",
            "MPI_Aint place;",
            "int ones = 1;",
            "MPI_Get_address(&NUMBER, &place);",
            "MPI_Type_create_hindexed(1, &ones, &place, MPI_INT, &there);",
            "MPI_Type_commit(&there);",
        ),
        (
            "int more = MORE;",
            "MPI_Sendrecv(&more, 1, MPI_INT, 0, 7, MPI_BOTTOM, 1, there, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);",
        ),
        ("MPI_Type_free(&there);",),
    ),
    Change("format", (), ("char line[80];",), ('snprintf(line, sizeof line, "%*d%n", MORE, 7, &NUMBER);',)),
    Change(
        "format in a variable",
        (),
        ("char line[80];", 'const char *form = seven == 7 ? "%*d%n" : "%*d";'),
        ("snprintf(line, sizeof line, form, MORE, 7, &NUMBER);",),
    ),
    Change("scanned", (), ("char line[80];",), ('sprintf(line, "%d", MORE);', 'sscanf(line, "%d", &NUMBER);')),
    Change(
        "options",
        ("#include <unistd.h>",),
        (),
        (
            'char *words[] = {"x", "-a", "-a", "-a", "-a", "-a", "-a", "-a", "-a", "-a", "-a", "-a", "y", NULL};',
            'while (optind < MORE && getopt(13, words, "a") != -1)',
            "    ;",
        ),
        ("optind = 1;",),
        "optind",
    ),
    # Not errno: any call of MPI may set it, so no program can count by it over one.
    Change(
        "calendar",
        ("#include <time.h>", "static struct tm *NAME_tm;"),
        ("time_t then = 86400 * (LESS - 1);", "NAME_tm = gmtime(&then);"),
        ("then = 86400 * (MORE - 1);", "gmtime(&then);"),
        (),
        "NAME_tm->tm_mday",
    ),
)


def change(rng: random.Random, name: str, number: str, less: int, more: int) -> tuple[Change, str]:
    """One of them with its words filled in, and the lvalue of the number it changes."""
    one = rng.choice(CHANGES)
    place = one.number.replace("NAME", name) or number
    words = {"NAME": name, "NUMBER": place, "LESS": str(less), "MORE": str(more)}
    filled = (_filled(lines, words) for lines in (one.outside, one.before, one.event, one.after))
    return Change(one.title, *filled, number=one.number), place


def _filled(lines: tuple[str, ...], words: dict[str, str]) -> tuple[str, ...]:
    out = []
    for line in lines:
        for word, text in words.items():
            line = line.replace(word, text)
        out.append(line)
    return tuple(out)
