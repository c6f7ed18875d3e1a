/* line.c - where in the source an address is (addr2line). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "shared/places/places.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* One line of a command's output, without its end.  Not through fork: its handlers copy the heap. */
static bool output_of(char *const *command, char *text, size_t room) {
    int ends[2];
    posix_spawn_file_actions_t actions;
    pid_t pid;
    char *env[512];
    size_t n = 0;
    for (char **e = environ; *e && n < 511; e++)
        if (strncmp(*e, "LD_PRELOAD=", 11) != 0 && strncmp(*e, "OPI_", 4) != 0)
            env[n++] = *e;
    env[n] = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int rc = posix_spawnp(&pid, command[0], &actions, NULL, command, env);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t got = 0;
    if (rc == 0) {
        ssize_t k;
        while (got < room - 1 && (k = read(ends[0], text + got, room - 1 - got)) > 0)
            got += (size_t)k;
        (void)waitpid(pid, NULL, 0);
    }
    close(ends[0]);
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return got > 0;
}

bool opi_line_of(const void *pc, char *text, size_t room) {
    Dl_info info;
    if (!dladdr(pc, &info) || !info.dli_fname || !info.dli_fbase)
        return false;
    const Elf64_Ehdr *elf = info.dli_fbase;
    uintptr_t at = (uintptr_t)pc - (elf->e_type == ET_DYN ? (uintptr_t)info.dli_fbase : 0);
    char hex[32], link[512];
    snprintf(hex, sizeof hex, "0x%zx", (size_t)at);
    const char *name = info.dli_fname;
    if (access(name, R_OK) != 0) { /* a program's own name may be relative to another directory */
        ssize_t n = readlink("/proc/self/exe", link, sizeof link - 1);
        if (n <= 0)
            return false;
        link[n] = '\0';
        name = link;
    }
    char *command[] = {(char[]){"addr2line"}, (char[]){"-e"}, (char *)(uintptr_t)name, hex, NULL};
    if (!output_of(command, text, room) || text[0] == '?' || strstr(text, ":?") != NULL)
        return false;
    text[strcspn(text, " ")] = '\0'; /* "(discriminator 2)" */
    return true;
}

void opi_where(void *pc, bool call, char *text, size_t room) {
    const char *at = (const char *)pc - (call ? 1 : 0);
    Dl_info info;
    if (!pc)
        snprintf(text, room, "an unknown place");
    else if (opi_line_of(at, text, room))
        return;
    else if (dladdr(at, &info) && info.dli_sname)
        snprintf(text, room, "%s+0x%zx", info.dli_sname, (size_t)(at - (const char *)info.dli_saddr));
    else if (dladdr(at, &info) && info.dli_fname)
        snprintf(text, room, "%s+0x%zx", info.dli_fname, (size_t)(at - (const char *)info.dli_fbase));
    else
        snprintf(text, room, "%p", pc);
}
