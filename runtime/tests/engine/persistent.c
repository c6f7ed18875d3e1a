/* Persistent requests against plain receives, takes and gives, in each completion call; mixed with the MPI's own requests. */
#include "check.h"

#define N 3000

int main(int argc, char **argv) {
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, *in, out[N], plain[N];
    OPI_Alloc(&in, sizeof(int) * N);
    MPI_Request r[4];
    MPI_Status st[4];
    MPI_Datatype half;
    MPI_Type_vector(N / 2, 1, 2, MPI_INT, &half);
    MPI_Type_commit(&half);
    MPI_Recv_init(in, N, MPI_INT, from, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(out, N, MPI_INT, to, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Recv_init(plain, 1, half, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &r[2]);
    MPI_Ssend_init(out, 1, half, to, 2, MPI_COMM_WORLD, &r[3]);
    MPI_Type_free(&half); /* the requests keep it */
    CHECK(MPI_Wait(&r[0], &st[0]) == MPI_SUCCESS && r[0] != MPI_REQUEST_NULL); /* inactive: returns at once */
    for (int round = 0; round < 40; round++) {
        fill(out, N, round * 10 + rank);
        memset(in, 0, sizeof(int) * N);
        memset(plain, 0, sizeof plain);
        MPI_Startall(4, r);
        int index, flag = 0, done = 0, got, at[4];
        switch (round % 5) {
        case 0: MPI_Waitall(4, r, st); break;
        case 1:
            while (!flag)
                MPI_Testall(4, r, &flag, st);
            break;
        case 2:
            for (int i = 0; i < 4; i++) {
                MPI_Status one;
                MPI_Waitany(4, r, &index, &one);
                CHECK(index >= 0 && index < 4);
                st[index] = one;
            }
            MPI_Waitany(4, r, &index, st + 1);
            CHECK(index == MPI_UNDEFINED);
            break;
        case 3: {
            MPI_Status some[4];
            for (; done < 4; done += got) {
                MPI_Waitsome(4, r, &got, at, some);
                for (int i = 0; i < got; i++)
                    st[at[i]] = some[i];
            }
            break;
        }
        default:
            for (int i = 3; i >= 0; i--)
                for (flag = 0; !flag;)
                    MPI_Test(&r[i], &flag, &st[i]);
        }
        int n;
        MPI_Get_count(&st[0], MPI_INT, &n);
        CHECK(n == N && st[0].MPI_SOURCE == from && st[2].MPI_SOURCE == from && st[2].MPI_TAG == 2);
        CHECK(same(in, N, round * 10 + from));
        for (int i = 0; i < N; i++)
            CHECK(plain[i] == (i % 2 ? 0 : round * 10 + from + i));
        for (int i = 0; i < 4; i++)
            CHECK(r[i] != MPI_REQUEST_NULL);
    }
    /* Partners of other forms. */
    for (int round = 0; round < 10; round++) {
        int *g, *t;
        fill(out, N, round);
        MPI_Start(&r[1]);
        OPI_Take(&t, N, MPI_INT, from, 1, MPI_COMM_WORLD, st);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        CHECK(same(t, N, round));
        OPI_Free(&t);
        OPI_Alloc(&g, sizeof(int) * N);
        fill(g, N, -round);
        MPI_Start(&r[0]);
        OPI_Give(&g, N, MPI_INT, to, 1, MPI_COMM_WORLD);
        MPI_Wait(&r[0], st);
        CHECK(same(in, N, -round));
    }
    /* Cancelled and freed while running. */
    MPI_Start(&r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], st);
    int cancelled = 0;
    MPI_Test_cancelled(st, &cancelled);
    CHECK(cancelled);
    for (int i = 0; i < 4; i++) {
        MPI_Request_free(&r[i]);
        CHECK(r[i] == MPI_REQUEST_NULL);
    }
    OPI_Free(&in);
    return finish();
}
