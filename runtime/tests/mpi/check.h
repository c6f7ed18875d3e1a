/*
 * What the black-box tests of libopi share: checks that count, a data pattern, and every form of sending and receiving
 * after one call each. A test is one program that ends with `return finish("name");`.
 */
#ifndef OPI_TEST_CHECK_H
#define OPI_TEST_CHECK_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opi.h"

#define MOST_PRINTED 20

static int failures;
static int world_rank = -1;
static char context[256];

/* Says what is being tried; printed with every failure. */
__attribute__((unused, format(printf, 1, 2))) static void trying(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
}

static void fail_at(const char *file, int line, const char *what)
{
    if (++failures <= MOST_PRINTED) {
        fprintf(stderr, "%s:%d: rank %d: %s [%s]\n", file, line, world_rank, what, context);
        fflush(stderr);
    }
}

#define CHECK(condition) ((condition) ? (void)0 : fail_at(__FILE__, __LINE__, #condition))

/* The class of an error code, MPI_SUCCESS included. */
__attribute__((unused)) static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

#define CHECK_CLASS(call, expected) check_class(__FILE__, __LINE__, #call, call, expected)
__attribute__((unused)) static void check_class(const char *file, int line, const char *what, int code, int expected)
{
    char text[MPI_MAX_ERROR_STRING + 512], got[MPI_MAX_ERROR_STRING];
    int length;

    if (class_of(code) == expected)
        return;
    MPI_Error_string(code, got, &length);
    snprintf(text, sizeof text, "%.200s: expected class %d, got %d: %.200s", what, expected, class_of(code), got);
    fail_at(file, line, text);
}

__attribute__((unused)) static void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
}

/* The exit code; rank 0 prints the verdict of all ranks. */
__attribute__((unused)) static int finish(const char *name)
{
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0) {
        printf("%s: %s, %d failures\n", name, all ? "FAILED" : "ok", all);
        fflush(stdout);
    }
    MPI_Finalize();
    return all != 0;
}

static unsigned char pattern_byte(unsigned seed, size_t i)
{
    return (unsigned char)(((uint32_t)i * 167u + (uint32_t)(i >> 8) * 13u + seed * 31u + 7u) & 0xff);
}

/* Most of the tests' time would go here. */
#if defined(__GNUC__) && !defined(__clang__)
#define OFTEN __attribute__((unused, optimize("O3")))
#else
#define OFTEN __attribute__((unused))
#endif

OFTEN static void fill(void *buffer, size_t bytes, unsigned seed)
{
    unsigned char *b = buffer;
    for (size_t at = 0; at < bytes; at += 256) {
        unsigned char first = pattern_byte(seed, at);
        size_t n = bytes - at < 256 ? bytes - at : 256;
        for (size_t i = 0; i < n; i++)
            b[at + i] = (unsigned char)(first + (unsigned char)i * 167u);
    }
}

/* The number of bytes that differ from the pattern. */
OFTEN static size_t differs(const void *buffer, size_t bytes, unsigned seed)
{
    const unsigned char *b = buffer;
    size_t wrong = 0;
    for (size_t at = 0; at < bytes; at += 256) {
        unsigned char first = pattern_byte(seed, at);
        size_t n = bytes - at < 256 ? bytes - at : 256;
        unsigned some = 0;
        for (size_t i = 0; i < n; i++)
            some += b[at + i] != (unsigned char)(first + (unsigned char)i * 167u);
        wrong += some;
    }
    return wrong;
}

#endif
