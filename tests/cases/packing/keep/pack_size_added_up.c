/* Two functions send from one buffer, and the size of one message is added up elsewhere: it is more than what is packed,
 * so the rest is what the other message has left there. */
#include <mpi.h>
#include <stdio.h>

#define N 1024
#define FACES 4

static double u[N], v[N];
static double out[N], in[N];
static int begin[FACES], length[FACES], total;

static void add_face(int f, int size)
{
    length[f] = size;
    total += size;
}

static void send_all(void)
{
    for (int i = 0; i < N; i++)
        out[i] = u[i];
    MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI102
}

static void send_faces(void)
{
    int at = 0;
    for (int f = 0; f < FACES; f++)
        for (int i = 0; i < length[f]; i++)
            out[at++] = 2 * u[begin[f] + i];
    MPI_Send(out, total, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int f = 0; f < FACES; f++) {
        begin[f] = f * 200;
        add_face(f, 100);
    }
    add_face(0, 150); /* again, and the first time still counts */
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            u[i] = rank + 0.5 * i + turn;
        if (rank == 0) {
            send_all();
            send_faces();
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                v[i] += in[i];
            MPI_Recv(in, total, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < total; i++)
                v[i] -= in[i];
        }
    }
    if (rank == 1) {
        double sum = 0.0;
        for (int i = 0; i < N; i++)
            sum += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, sum);
    }
    MPI_Finalize();
    return 0;
}
