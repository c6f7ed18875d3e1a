/* places.h - places in the program: as ranks tell them each other (site.c), and as they are written for a reader (line.c). */
#ifndef OPI_PLACES_H
#define OPI_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A place as all ranks know it: they load the same files, each process at addresses of its own.  Every field is a uint64_t. */
struct opi_site {
    uint64_t module; /* a hash of the file's name */
    uint64_t offset; /* of the return address in it */
};
/* False where no loaded file holds the address. */
bool opi_site_of(const void *pc, struct opi_site *s);
/* file:line where the program has debug information, else function and offset. */
void opi_site_text(const struct opi_site *s, char *text, size_t room);

/* file:line of an address; false when the debug information does not tell. */
bool opi_line_of(const void *pc, char *text, size_t room);
/* Where `pc` is in the source; `call`: it is a return address.  Without debug information: function and offset. */
void opi_where(void *pc, bool call, char *text, size_t room);

#pragma GCC visibility pop

#endif
