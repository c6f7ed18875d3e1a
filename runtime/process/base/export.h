/* export.h - what a function of libopi's needs for programs to find it. */
#ifndef OPI_EXPORT_H
#define OPI_EXPORT_H

/* An MPI function of libopi's: one of the program's or a tool's takes its place (overridden.c).  OPI functions are libopi's alone. */
#define EXPORT __attribute__((visibility("default"), weak, section("opi_names")))
#define API __attribute__((visibility("default")))

#endif
