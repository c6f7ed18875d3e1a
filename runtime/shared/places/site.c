/* site.c - places in the program that ranks tell each other: module and offset for a return address, file and line for those. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "shared/places/places.h"

#include <link.h>
#include <stdio.h>

/* Finds the module of an address, or the address of a module. */
struct search {
    uintptr_t address;
    struct opi_site *found;
    uint64_t module;
    uintptr_t base;
    bool hit;
};

static uint64_t hash_of(const char *name) {
    uint64_t h = 0;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h;
}

static int look(struct dl_phdr_info *info, size_t size, void *data) {
    struct search *s = data;
    (void)size;
    if (s->found) {
        for (int i = 0; i < info->dlpi_phnum; i++) {
            const ElfW(Phdr) *part = &info->dlpi_phdr[i];
            if (part->p_type == PT_LOAD && s->address - info->dlpi_addr - part->p_vaddr < part->p_memsz) {
                s->found->module = hash_of(info->dlpi_name);
                s->found->offset = s->address - info->dlpi_addr;
                s->hit = true;
            }
        }
    } else if (hash_of(info->dlpi_name) == s->module) {
        s->base = info->dlpi_addr;
        s->hit = true;
    }
    return s->hit;
}

bool opi_site_of(const void *pc, struct opi_site *site) {
    struct search s = {.address = (uintptr_t)pc, .found = site};
    dl_iterate_phdr(look, &s);
    return s.hit;
}

void opi_site_text(const struct opi_site *site, char *text, size_t room) {
    struct search s = {.module = site->module};
    dl_iterate_phdr(look, &s);
    if (s.hit)
        opi_where((void *)(s.base + site->offset), true, text, room);
    else
        snprintf(text, room, "a library of another rank+0x%llx", (unsigned long long)site->offset);
}
