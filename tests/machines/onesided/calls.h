/* calls.h - the calls of one operation: its datatypes, its form, with large counts or without. */
#ifndef CALLS_H
#define CALLS_H

#include "plan.h"

#if MPI_VERSION >= 4
#define EITHER(large, name, ...) ((large) ? name##_c(__VA_ARGS__) : name(__VA_ARGS__))
#else
#define EITHER(large, name, ...) name(__VA_ARGS__)
#endif

/* A layout that is 1 or an array of `n` elements with a free place after each. */
static MPI_Datatype spaced(MPI_Datatype element, int n, int by_extent, int size, int *count)
{
    MPI_Datatype made;

    if (by_extent)
        MPI_Type_create_resized(element, 0, 2 * size, &made);
    else
        MPI_Type_vector(n, 1, 2, element, &made);
    *count = by_extent ? n : 1;
    return made;
}

static MPI_Datatype origin_type(const struct op *op, MPI_Datatype element, int size, int *count)
{
    MPI_Datatype made = element;

    *count = op->n;
    if (op->gaps) {
        made = spaced(element, op->n, op->gaps == 2, size, count);
        MPI_Type_commit(&made);
    }
    return made;
}

static MPI_Datatype target_type(const struct op *op, MPI_Datatype element, int size, int *count)
{
    MPI_Datatype made = element;
    int at[BLOCK];

    for (int i = 0; i < op->n; i++)
        at[i] = op->cell[i] - op->block * BLOCK;
    *count = op->layout ? 1 : op->n;
    if (op->layout == 1 || op->layout == 4)
        made = spaced(element, op->n, op->layout == 4, size, count);
    else if (op->layout == 2)
        MPI_Type_create_indexed_block(op->n, 1, at, element, &made);
    else if (op->layout == 3)
        MPI_Type_create_hvector(op->n, 1, -size, element, &made);
    if (op->layout)
        MPI_Type_commit(&made);
    return made;
}

static MPI_Op operation_of(enum mode mode, const struct op *op)
{
    if (op->noop)
        return MPI_NO_OP;
    return mode == XOR ? MPI_BXOR : mode == MAX ? MPI_MAX : mode == PUT || mode == REPLACE ? MPI_REPLACE : MPI_SUM;
}

/* The request form starts `request`. */
static void call(const struct op *op, MPI_Op what, MPI_Datatype element, int size, int target, MPI_Aint at, MPI_Win win,
                 char *memory, char *result, MPI_Request *request)
{
    int oc, tc;
    MPI_Datatype from = origin_type(op, element, size, &oc), to = target_type(op, element, size, &tc);

    if (op->request)
        switch (op->kind) {
        case DO_PUT: EITHER(op->large, MPI_Rput, memory, oc, from, target, at, tc, to, win, request); break;
        case DO_GET: EITHER(op->large, MPI_Rget, result, oc, from, target, at, tc, to, win, request); break;
        case DO_ACC:
            EITHER(op->large, MPI_Raccumulate, memory, oc, from, target, at, tc, to, what, win, request);
            break;
        default:
            EITHER(op->large, MPI_Rget_accumulate, memory, oc, from, result, oc, from, target, at, tc, to, what, win,
                   request);
            break;
        }
    else
        switch (op->kind) {
        case DO_PUT: EITHER(op->large, MPI_Put, memory, oc, from, target, at, tc, to, win); break;
        case DO_GET: EITHER(op->large, MPI_Get, result, oc, from, target, at, tc, to, win); break;
        case DO_ACC: EITHER(op->large, MPI_Accumulate, memory, oc, from, target, at, tc, to, what, win); break;
        case DO_GET_ACC:
            EITHER(op->large, MPI_Get_accumulate, memory, oc, from, result, oc, from, target, at, tc, to, what, win);
            break;
        case DO_CAS: MPI_Compare_and_swap(memory, memory + 2 * size, result, element, target, at, win); break;
        default: MPI_Fetch_and_op(memory, result, element, target, at, what, win); break;
        }
    if (op->gaps)
        MPI_Type_free(&from);
    if (op->layout)
        MPI_Type_free(&to);
}

/* Completes all of them, in one of MPI's ways. */
static void complete(int n, MPI_Request *request, int way)
{
    int done = 0, some[MOST_OPS + 2];

    switch (way % 4) {
    case 0: MPI_Waitall(n, request, MPI_STATUSES_IGNORE); break;
    case 1:
        while (!done)
            MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE);
        break;
    case 2:
        do
            MPI_Waitany(n, request, &done, MPI_STATUS_IGNORE);
        while (done != MPI_UNDEFINED);
        break;
    default:
        do
            MPI_Testsome(n, request, &done, some, MPI_STATUSES_IGNORE);
        while (done != MPI_UNDEFINED);
        break;
    }
}

#endif
