/* out.c - standard output, whole lines of each rank.
 *
 * opicc --ranks links a program with --wrap for these functions.  What goes to stdout is kept, rank by rank, until its line is complete, and then written by
 * one call; so lines of several ranks never mix.  Other streams are left alone. */
#include "ranks/program/out.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_MAX_KEPT ((size_t)1 << 20) /* a longer line is written in parts */

/* The C library's functions, as the linker renames them: without the prefix, calls in this file would come back to it. */
int __real_vfprintf(FILE *f, const char *format, va_list ap);
int __real_fputs(const char *s, FILE *f);
int __real_fputc(int c, FILE *f);
size_t __real_fwrite(const void *p, size_t size, size_t n, FILE *f);
int __real_fflush(FILE *f);

struct opir_line {
    size_t used, room;
    char text[];
};

/* Whole lines.  With several processes they leave this one at once: the launcher puts together what it reads. */
static void out(const char *text, size_t n) {
    __real_fwrite(text, 1, n, stdout);
    if (opir.several)
        __real_fflush(stdout);
}

static void keep(struct opir_rank *r, const char *data, size_t n) {
    struct opir_line *line = r->line;
    size_t used = line ? line->used : 0;
    if (!line || line->room - used < n) {
        size_t room = (used + n) * 2 < 120 ? 120 : (used + n) * 2;
        line = realloc(line, sizeof *line + room);
        if (!line)
            opir_die("out of memory for a line of output");
        line->room = room;
        r->line = line;
    }
    memcpy(line->text + used, data, n);
    line->used = used + n;
}

static void drop_kept(struct opir_rank *r) {
    if (r->line && r->line->used) {
        out(r->line->text, r->line->used);
        r->line->used = 0;
    }
}

static void put(const char *data, size_t n) {
    struct opir_rank *r = opir_self;
    const char *end = memrchr(data, '\n', n);
    if (end) {
        size_t whole = (size_t)(end - data) + 1;
        if (r->line && r->line->used) {
            keep(r, data, whole);
            drop_kept(r);
        } else {
            out(data, whole);
        }
        data += whole;
        n -= whole;
    }
    if (n)
        keep(r, data, n);
    if (r->line && r->line->used > LINE_MAX_KEPT)
        drop_kept(r);
}

void opir_out_end(struct opir_rank *r) {
    drop_kept(r);
    free(r->line);
    r->line = NULL;
}

static bool kept(const FILE *f) {
    return f == stdout && opir_self != NULL;
}

static int print(const char *format, va_list ap) {
    char small[512], *text = small;
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(small, sizeof small, format, ap);
    if (n >= (int)sizeof small) {
        text = malloc((size_t)n + 1);
        n = text ? vsnprintf(text, (size_t)n + 1, format, again) : -1;
    }
    va_end(again);
    if (n > 0)
        put(text, (size_t)n);
    if (text != small)
        free(text);
    return n;
}

#define WRAPS __attribute__((format(printf, 1, 2)))
int __wrap_printf(const char *format, ...) WRAPS;
int __wrap_vprintf(const char *format, va_list ap);
int __wrap_fprintf(FILE *f, const char *format, ...);
int __wrap_vfprintf(FILE *f, const char *format, va_list ap);
int __wrap___printf_chk(int flag, const char *format, ...);
int __wrap___vprintf_chk(int flag, const char *format, va_list ap);
int __wrap___fprintf_chk(FILE *f, int flag, const char *format, ...);
int __wrap___vfprintf_chk(FILE *f, int flag, const char *format, va_list ap);
int __wrap_puts(const char *s);
int __wrap_fputs(const char *s, FILE *f);
int __wrap_putchar(int c);
int __wrap_putc(int c, FILE *f);
int __wrap_fputc(int c, FILE *f);
size_t __wrap_fwrite(const void *p, size_t size, size_t n, FILE *f);
int __wrap_fflush(FILE *f);

int __wrap_vfprintf(FILE *f, const char *format, va_list ap) {
    return kept(f) ? print(format, ap) : __real_vfprintf(f, format, ap);
}

int __wrap_vprintf(const char *format, va_list ap) {
    return __wrap_vfprintf(stdout, format, ap);
}

int __wrap___vfprintf_chk(FILE *f, int flag, const char *format, va_list ap) {
    (void)flag;
    return __wrap_vfprintf(f, format, ap);
}

int __wrap___vprintf_chk(int flag, const char *format, va_list ap) {
    (void)flag;
    return __wrap_vfprintf(stdout, format, ap);
}

#define FORWARD(stream, last)                         \
    va_list ap;                                       \
    va_start(ap, last);                               \
    int n = __wrap_vfprintf((stream), format, ap);    \
    va_end(ap);                                       \
    return n

int __wrap_printf(const char *format, ...) {
    FORWARD(stdout, format);
}

int __wrap_fprintf(FILE *f, const char *format, ...) {
    FORWARD(f, format);
}

int __wrap___printf_chk(int flag, const char *format, ...) {
    (void)flag;
    FORWARD(stdout, format);
}

int __wrap___fprintf_chk(FILE *f, int flag, const char *format, ...) {
    (void)flag;
    FORWARD(f, format);
}

int __wrap_fputs(const char *s, FILE *f) {
    if (!kept(f))
        return __real_fputs(s, f);
    put(s, strlen(s));
    return 1;
}

int __wrap_puts(const char *s) {
    return __wrap_printf("%s\n", s);
}

int __wrap_fputc(int c, FILE *f) {
    if (!kept(f))
        return __real_fputc(c, f);
    char one = (char)c;
    put(&one, 1);
    return (unsigned char)c;
}

int __wrap_putc(int c, FILE *f) {
    return __wrap_fputc(c, f);
}

int __wrap_putchar(int c) {
    return __wrap_fputc(c, stdout);
}

size_t __wrap_fwrite(const void *p, size_t size, size_t n, FILE *f) {
    if (!kept(f))
        return __real_fwrite(p, size, n, f);
    put(p, size * n);
    return n;
}

/* A line that is not complete stays kept. */
int __wrap_fflush(FILE *f) {
    return __real_fflush(f);
}
