/* check_line.c - OPI_CHECK: which line of the program is running. */
#include "process/tools/check.h"

#include <execinfo.h>
#include <string.h>

/* Is this line libopi's own? */
static bool ours(const char *text) {
    static const char *const folders[] = {"runtime/process/", "runtime/malloc/", "runtime/shared/", "opi_"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strstr(text, folders[i]) != NULL)
            return true;
    return false;
}

/* The innermost frame of the program: the first with a line that is not libopi's.  frames[0] is exact, the others are return addresses. */
bool opi_check_line(void **frames, int n, bool exact, char *text, size_t room) {
    for (int i = 0; i < n && i < 24; i++)
        if (opi_line_of((char *)frames[i] - (exact && i == 0 ? 0 : 1), text, room) && !ours(text))
            return true;
    return false;
}

void opi_check_here(char *text, size_t room) {
    void *frames[32];
    int n = backtrace(frames, 32);
    if (!opi_check_line(frames, n, false, text, room))
        opi_where(n > 3 ? frames[3] : NULL, true, text, room);
}
