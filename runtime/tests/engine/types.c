/* Datatypes that are not contiguous, on either side and on both, in each protocol and form, against a reference built by hand. */
#include "check.h"

static int type_size(MPI_Datatype t) {
    int n;
    MPI_Type_size(t, &n);
    return n;
}

/* Sends `count` of `st` and receives as `rt`, in every form; both have the same number of ints. */
static void exchange(MPI_Datatype st, int scount, MPI_Datatype rt, int rcount, const char *what) {
    int peer = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Aint lb, sext, rext;
    MPI_Type_get_extent(st, &lb, &sext);
    MPI_Type_get_extent(rt, &lb, &rext);
    size_t slen = (size_t)sext * (size_t)scount + 64, rlen = (size_t)rext * (size_t)rcount + 64;
    int packed_bytes = type_size(st) * scount;
    char *want = malloc((size_t)packed_bytes), *got = malloc((size_t)packed_bytes);
    for (int form = 0; form < 4; form++) {
        int *s, *r = NULL;
        OPI_Alloc(&s, slen);
        for (size_t i = 0; i < slen / 4; i++)
            s[i] = (int)(i * 7 + 1);
        int at = 0;
        MPI_Pack(s, scount, st, want, packed_bytes, &at, MPI_COMM_SELF);
        MPI_Request q;
        if (form & 1)
            OPI_Igive(&s, scount, st, peer, 8, MPI_COMM_WORLD, &q);
        else
            MPI_Isend(s, scount, st, peer, 8, MPI_COMM_WORLD, &q);
        MPI_Status status;
        if (form & 2) {
            OPI_Take(&r, rcount, rt, from, 8, MPI_COMM_WORLD, &status);
        } else {
            OPI_Alloc(&r, rlen);
            memset(r, 0x55, rlen);
            MPI_Recv(r, rcount, rt, from, 8, MPI_COMM_WORLD, &status);
        }
        int n;
        MPI_Get_elements(&status, rt, &n);
        if (n * 4 != packed_bytes)
            fprintf(stderr, "%s form %d: %d elements\n", what, form, n);
        CHECK(n * 4 == packed_bytes);
        at = 0;
        MPI_Pack(r, rcount, rt, got, packed_bytes, &at, MPI_COMM_SELF);
        if (memcmp(want, got, (size_t)packed_bytes))
            fprintf(stderr, "%s form %d differs\n", what, form);
        CHECK(memcmp(want, got, (size_t)packed_bytes) == 0);
        if (!(form & 2)) { /* nothing outside the type map was touched: unpack over the pattern gives the same */
            char *ref = malloc(rlen);
            memset(ref, 0x55, rlen);
            at = 0;
            MPI_Unpack(want, packed_bytes, &at, ref, rcount, rt, MPI_COMM_SELF);
            CHECK(memcmp(ref, r, rlen) == 0);
            free(ref);
        }
        OPI_Free(&r);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        OPI_Free(&s);
    }
    free(want);
    free(got);
}

int main(int argc, char **argv) {
    start(&argc, &argv);
    static const int counts[] = {1, 3, 40, 5000};
    MPI_Datatype t[6];
    const char *names[] = {"vector", "indexed", "subarray", "resized", "struct", "ints"};
    int lens[] = {1, 2, 1}, at[] = {5, 0, 9};
    MPI_Type_vector(2, 2, 5, MPI_INT, &t[0]);
    MPI_Type_indexed(3, lens, at, MPI_INT, &t[1]);
    int sizes[] = {4, 4}, sub[] = {2, 2}, starts[] = {1, 1};
    MPI_Type_create_subarray(2, sizes, sub, starts, MPI_ORDER_C, MPI_INT, &t[2]);
    MPI_Datatype four;
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_create_resized(four, 0, 24, &t[3]);
    MPI_Aint disp[] = {8, 0};
    int blk[] = {2, 2};
    MPI_Datatype ints[] = {MPI_INT, MPI_INT};
    MPI_Type_create_struct(2, blk, disp, ints, &t[4]);
    MPI_Type_contiguous(4, MPI_INT, &t[5]);
    for (int i = 0; i < 6; i++)
        MPI_Type_commit(&t[i]);
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++)
                exchange(t[i], counts[c], t[j], counts[c], names[i]);
    /* A partial element arrives. */
    int v[40], peer = (rank + 1) % size, from = (rank + size - 1) % size, n;
    int three[3] = {1, 2, 3};
    memset(v, 0, sizeof v);
    MPI_Request q;
    MPI_Isend(three, 3, MPI_INT, peer, 0, MPI_COMM_WORLD, &q);
    MPI_Status st;
    MPI_Recv(v, 2, t[0], from, 0, MPI_COMM_WORLD, &st);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Get_count(&st, t[0], &n);
    CHECK(n == MPI_UNDEFINED && v[0] == 1 && v[1] == 2 && v[5] == 3 && v[6] == 0);
    /* The type is freed while a receive is pending. */
    MPI_Datatype late;
    MPI_Type_vector(2, 1, 3, MPI_INT, &late);
    MPI_Type_commit(&late);
    memset(v, 0, sizeof v);
    MPI_Irecv(v, 1, late, from, 4, MPI_COMM_WORLD, &q);
    MPI_Type_free(&late);
    MPI_Send(three, 2, MPI_INT, peer, 4, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(v[0] == 1 && v[3] == 2);
    for (int i = 0; i < 6; i++)
        MPI_Type_free(&t[i]);
    MPI_Type_free(&four);
    return finish();
}
