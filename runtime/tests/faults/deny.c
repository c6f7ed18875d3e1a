/* deny NAME[,NAME...] PROGRAM ARGUMENTS - runs a program that may not use these system calls: they fail with EPERM, as in a container that forbids them.
 * With DENY_RANK in the environment, only that rank is refused them. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"memfd_create", SYS_memfd_create},
    {"membarrier", SYS_membarrier},
    {"fallocate", SYS_fallocate},
};

static int chosen(void)
{
    const char *only = getenv("DENY_RANK"), *rank = getenv("PMI_RANK");
    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    return !only || (rank && strcmp(only, rank) == 0);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    for (char *name = strtok(argv[1], ","); name && chosen(); name = strtok(NULL, ",")) {
        size_t i = 0;
        while (i < sizeof calls / sizeof calls[0] && strcmp(calls[i].name, name) != 0)
            i++;
        if (i == sizeof calls / sizeof calls[0])
            return 2;
        code[1].k = calls[i].number;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
            perror("deny");
            return 3;
        }
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
