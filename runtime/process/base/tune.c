/* tune.c - the numbers that decide between the paths of a message, and how long to spin.
 *
 * An environment variable wins, then what `opi-bench tune` measured on this machine, then what is written here. */
#include "process/base/tune.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define AWAKE_US 5000 /* to wake a rank takes some 50 us: its wait becomes one percent longer at most */

/* "4096", "4k", "1.5m", "2g"; `otherwise` when it is nothing of the kind. */
static size_t bytes_of(const char *s, size_t otherwise) {
    char *end;
    if (!s || !*s)
        return otherwise;
    double v = strtod(s, &end);
    if (end == s || !(v >= 0))
        return otherwise;
    switch (tolower((unsigned char)*end)) {
    case 'k': v *= 1024; break;
    case 'm': v *= 1048576; break;
    case 'g': v *= 1073741824; break;
    default: break;
    }
    return (size_t)v;
}

/* A number of bytes from the environment. */
size_t opi_size_setting(const char *name, size_t otherwise) {
    return bytes_of(getenv(name), otherwise);
}

/* The thresholds that can be measured; opi-bench's tune knows them by these names. */
static const struct {
    const char *name;
    size_t *at, otherwise;
} thresholds[] = {
    {"OPI_INLINE_LIMIT", &opi.inline_limit, 256},
    {"OPI_EAGER_LIMIT", &opi.eager_limit, (size_t)256 << 10},
    {"OPI_KERNEL_MIN", &opi.kernel_min, (size_t)32 << 20},
    {"OPI_CO_MIN", &opi.co_min, (size_t)512 << 10},
    {"OPI_PIPE_MIN", &opi.pipe_min, (size_t)128 << 10},
};

/* Reads the file of measured thresholds: lines `NAME value`, anything else is passed over. */
static void read_measured(void) {
    char path[4096], line[256], name[64], value[64];
    const char *file = getenv("OPI_TUNE_FILE"), *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (file)
        snprintf(path, sizeof path, "%s", file);
    else if (base && *base)
        snprintf(path, sizeof path, "%s/opi-xform/tune", base);
    else if (home && *home)
        snprintf(path, sizeof path, "%s/.config/opi-xform/tune", home);
    else
        return;
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%63s %63s", name, value) != 2)
            continue;
        for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++)
            if (strcmp(name, thresholds[i].name) == 0)
                *thresholds[i].at = bytes_of(value, *thresholds[i].at);
    }
    fclose(f);
}

void opi_tune(void) {
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1 && CPU_COUNT(&set) < cpus)
        cpus = CPU_COUNT(&set);
    bool crowded = opi.node_ranks_phys > cpus;
    opi.spin_limit = (uint32_t)opi_size_setting("OPI_SPIN", crowded ? 32 : 1000);
    opi.yield_limit = (uint32_t)opi_size_setting("OPI_YIELD", 64);
    opi.awake_ns = 1000 * (uint64_t)opi_size_setting("OPI_AWAKE", crowded ? 0 : AWAKE_US);
    opi.ring_slots = opi.nlocal <= 32 ? 128 : opi.nlocal <= 128 ? 32 : 16;
    for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++)
        *thresholds[i].at = thresholds[i].otherwise;
    read_measured();
    for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++)
        *thresholds[i].at = opi_size_setting(thresholds[i].name, *thresholds[i].at);
    if (opi.inline_limit > OPI_LONG_MAX)
        opi.inline_limit = OPI_LONG_MAX;
    size_t cap = opi_size_setting("OPI_BUFFER_CAP", (size_t)256 << 20); /* per receiver */
    opi.cap = cap / (size_t)(opi.nlocal > 1 ? opi.nlocal - 1 : 1);
}
