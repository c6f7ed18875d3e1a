/* deliver.h - how a message comes from its sender's memory into its receiver's: what the files about that call in each other. */
#ifndef OPI_DELIVER_H
#define OPI_DELIVER_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

/* protocol.c, desc.c */
bool opi_claim(const struct opi_slot *e);
void opi_deliver(struct opi_req *r, const struct opi_slot *e, int src);
void opi_arrive(const struct opi_slot *e, int src);
bool opi_pipe_poll(struct opi_req *r);
void opi_stream_drop(struct opi_req *r);
void opi_accept_bytes(struct opi_req *r, const void *data, size_t n);
bool opi_take_room(struct opi_req *r);
void opi_accept_block(struct opi_req *r, void *block, size_t n);
struct opi_desc *opi_desc_new(void *addr, size_t size, int state);
bool opi_relieve(struct opi_req *r);
bool opi_account(int dst, size_t bytes);

/* cancel.c */
bool opi_desc_withdraw(struct opi_req *r);

/* copy.c */
bool opi_copy_probe(int32_t pid, uint64_t address, uint64_t token);
/* flow.c */
bool opi_flow_begin(struct opi_req *r);
void opi_flow_out(struct opi_req *r);
bool opi_flow_in(struct opi_req *r, struct opi_desc *d);

/* copy.c: what became of a copy */
enum opi_lent { OPI_LENT_CAME, OPI_LENT_REFUSED, OPI_LENT_COMING };
enum opi_lent opi_lent_to(struct opi_desc *d, int src, void *to, size_t n);
enum opi_lent opi_lent_more(struct opi_desc *d, int src);
void opi_lend(struct opi_req *r);
void opi_lent_over(struct opi_req *r);
void opi_lent_poll(void);

#pragma GCC visibility pop

#endif
