/* helped.c [late] - posted receives complete sends while their rank is in a collective of the MPI, without membarrier (two ranks).
 *
 * The launcher starts it under `deny membarrier`.  `late`: the calls are refused only after MPI_Init, by a filter of the program's own. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 300000

static int rank, errors;

/* For all threads: libopi's own has been started. */
static void refuse_membarrier(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        errors++;
}

/* Rank 0 posts and is then in a barrier; what rank 1 sends ends before it comes there. */
static void posted(char *in, char *out, int bytes, int turn)
{
    MPI_Request q;
    if (rank == 0) {
        memset(in, -1, (size_t)bytes);
        MPI_Irecv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &q);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        for (int i = 0; i < bytes; i++)
            errors += in[i] != (char)(turn + i);
    } else {
        for (int i = 0; i < bytes; i++)
            out[i] = (char)(turn + i);
        MPI_Ssend(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 0 is in and out of MPI all the time, and others kick its helper as often. */
static void busy(int turns)
{
    int sent = 0;
    for (int k = 0; k < turns; k++) {
        int x = k, y = -1;
        MPI_Request q;
        MPI_Irecv(&y, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &q);
        for (volatile int i = 0; i < 200 * (k % 7); i++)
            ;
        MPI_Ssend(&x, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        errors += y != k;
        sent++;
    }
    errors += sent != turns;
}

int main(int argc, char **argv)
{
    static char in[MOST], out[MOST];
    int late = argc > 1 && strcmp(argv[1], "late") == 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (late) {
        posted(in, out, 100, 0);
        refuse_membarrier();
    }
    for (int turn = 1; turn <= 4; turn++) {
        busy(200);
        posted(in, out, 10, turn);
        posted(in, out, MOST, turn);
    }
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("helped: %s, %d failures\n", all ? "failed" : "ok", all);
    MPI_Finalize();
    return 0;
}
