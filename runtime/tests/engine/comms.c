/* Every kind of communicator: messages in one are not seen in another, ranks are the communicator's, and freeing early is safe. */
#include "check.h"

/* Around a ring in comm, with takes and receives, specific and wild. */
static void ring(MPI_Comm comm, int mark) {
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    int to = (me + 1) % n, from = (me + n - 1) % n, *s, *t, v = -1;
    MPI_Request q;
    MPI_Status st;
    OPI_Alloc(&s, 4000);
    fill(s, 1000, mark + me);
    OPI_Igive(&s, 1000, MPI_INT, to, 1, comm, &q);
    OPI_Take(&t, 1000, MPI_INT, MPI_ANY_SOURCE, 1, comm, &st);
    CHECK(same(t, 1000, mark + from) && st.MPI_SOURCE == from);
    OPI_Free(&t);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    int out = mark * 3 + me;
    MPI_Sendrecv(&out, 1, MPI_INT, to, 2, &v, 1, MPI_INT, from, 2, comm, &st);
    CHECK(v == mark * 3 + from && st.MPI_SOURCE == from && st.MPI_TAG == 2);
    int r = out;
    MPI_Sendrecv_replace(&r, 1, MPI_INT, to, 3, from, 3, comm, &st);
    CHECK(r == mark * 3 + from);
}

int main(int argc, char **argv) {
    start(&argc, &argv);
    MPI_Comm c[12];
    int n = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &c[n++]);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &c[n++]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &c[n++]);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c[n++]);
    int dims[1] = {size}, periods[1] = {1}, remain[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &c[n++]);
    MPI_Cart_sub(c[n - 1], remain, &c[n]);
    n++;
    MPI_Group world, g;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int first[1][3] = {{0, size - 1, 1}};
    MPI_Group_range_incl(world, 1, first, &g);
    MPI_Comm_create(MPI_COMM_WORLD, g, &c[n++]);
    MPI_Comm_create_group(MPI_COMM_WORLD, g, 4, &c[n++]);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int weight = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, &weight, 1, &to, &weight, MPI_INFO_NULL, 0, &c[n++]);
    MPI_Request q, q2;
    MPI_Comm d1, d2;
    MPI_Comm_idup(MPI_COMM_WORLD, &d1, &q);
    MPI_Comm_idup(c[0], &d2, &q2);
    MPI_Wait(&q2, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    c[n++] = d1;
    c[n++] = d2;
    if (size > 1) {
        MPI_Comm inter;
        MPI_Comm_split(MPI_COMM_WORLD, rank >= size / 2, rank, &d1);
        MPI_Intercomm_create(d1, 0, MPI_COMM_WORLD, rank >= size / 2 ? 0 : size / 2, 7, &inter);
        int peers, v = -1, me;
        MPI_Comm_remote_size(inter, &peers);
        MPI_Comm_rank(inter, &me);
        if (me < peers) { /* native wholly, OPI calls included */
            int *s, *t;
            MPI_Request r;
            OPI_Alloc(&s, 4);
            *s = rank;
            OPI_Igive(&s, 1, MPI_INT, me, 5, inter, &r);
            OPI_Take(&t, 1, MPI_INT, me, 5, inter, MPI_STATUS_IGNORE);
            v = *t;
            OPI_Free(&t);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            CHECK(v == (rank >= size / 2 ? me : size / 2 + me));
        }
        MPI_Intercomm_merge(inter, 0, &c[n++]);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&d1);
    }
    MPI_Comm none;
    MPI_Comm_split(MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 0, 0, &none);
    CHECK((none == MPI_COMM_NULL) == (rank != 0));
    if (none != MPI_COMM_NULL)
        ring(none, 5), MPI_Comm_free(&none);
    for (int i = 0; i < n; i++)
        ring(c[i], 100 * i);
    ring(MPI_COMM_SELF, 77);
    ring(MPI_COMM_WORLD, 78);
    /* The same tag and peer in all of them at once, received in the opposite order. */
    for (int i = 0; i < n; i++) {
        int me, m;
        MPI_Comm_rank(c[i], &me);
        MPI_Comm_size(c[i], &m);
        if (m > 1) /* to oneself a send may wait, where the MPI below carries it */
            MPI_Send(&i, 1, MPI_INT, (me + 1) % m, 0, c[i]);
    }
    for (int i = n - 1; i >= 0; i--) {
        int v = -1, m;
        MPI_Comm_size(c[i], &m);
        if (m > 1) {
            MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, c[i], MPI_STATUS_IGNORE);
            CHECK(v == i);
        }
    }
    /* Freed while a receive is pending. */
    int v = -1, out = 42;
    MPI_Comm brief;
    MPI_Comm_dup(MPI_COMM_WORLD, &brief);
    MPI_Irecv(&v, 1, MPI_INT, from, 0, brief, &q);
    MPI_Send(&out, 1, MPI_INT, to, 0, brief);
    MPI_Comm_free(&brief);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(v == 42);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&c[i]);
    /* Context numbers are not reused: many short-lived communicators. */
    for (int i = 0; i < 100; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &brief);
        ring(brief, i);
        MPI_Comm_free(&brief);
    }
    MPI_Group_free(&g);
    MPI_Group_free(&world);
    return finish();
}
