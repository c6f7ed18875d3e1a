/* Long copies of windows: each way to copy, and opiw_copy, at lengths and places that no line, step or run divides, and where source and target overlap. */
#include "shared/onesided/copy.c"

#include "unit.h"

#define ROOM (3 * RUN + 1000)

static char source[ROOM + 256], target[ROOM + 256], want[ROOM + 256];

static void fill(void) {
    for (size_t i = 0; i < sizeof source; i++) {
        source[i] = (char)(i * 31 + i / 251);
        target[i] = want[i] = (char)(i * 17 + 5);
    }
}

static void apart(void (*way)(char *to, const char *from, size_t n), size_t n, size_t to, size_t from) {
    fill();
    for (size_t i = 0; i < n; i++)
        want[to + i] = source[from + i];
    way(target + to, source + from, n);
    CHECK(memcmp(target, want, sizeof target) == 0); /* and nothing around it */
}

static void by_call(char *to, const char *from, size_t n) {
    opiw_copy(to, from, n);
}

static void overlapping(size_t n, size_t to, size_t from) {
    fill();
    memcpy(want, source, sizeof want);
    for (size_t i = 0; i < n; i++)
        want[to + i] = source[from + i];
    opiw_copy(source + to, source + from, n);
    CHECK(memcmp(source, want, sizeof source) == 0);
}

static bool can_by_lines(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx2");
#else
    return true;
#endif
}

int main(void) {
    static const size_t lengths[] = {0, 1, 63, OPIW_LONG - 1, OPIW_LONG, OPIW_LONG + 1, OPIW_LONG + 127, 2 * RUN, 2 * RUN + 1, 3 * RUN + 999};
    static const size_t places[] = {0, 1, 8, 31, 32, 63, 64, 65};
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            size_t other = places[(p * 3 + l) % (sizeof places / sizeof places[0])];
            apart(by_call, lengths[l], places[p], other);
            apart(by_runs, lengths[l], places[p], other);
            if (can_by_lines() && lengths[l] >= OPIW_LONG)
                apart(by_lines, lengths[l], places[p], other);
            overlapping(lengths[l], places[p], other);
        }
    overlapping(ROOM - OPIW_LONG, OPIW_LONG, 0);
    overlapping(ROOM - OPIW_LONG, 0, OPIW_LONG);
    puts("copy: ok");
    return 0;
}
