/* What goes to the MPI below: datatypes of every maker, sent and packed; their attributes and contents; infos, operations, error codes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

static const MPI_Comm world = MPI_COMM_WORLD;
enum { BYTES = 512 };

/* Two elements of a type to the right neighbour, which gets exactly what packing it says; then the same by packing. */
static void travels(int rank, int size, MPI_Datatype t) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, bytes, bound, at = 0, got;
    unsigned char out[BYTES], in[BYTES], want[BYTES], packed[2 * BYTES], theirs[2 * BYTES];
    MPI_Status s;
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Type_get_extent(t, &lb, &extent);
    MPI_Type_get_true_extent(t, &true_lb, &true_extent);
    CHECK(lb >= 0 && extent >= 0 && true_lb >= 0 && true_lb + true_extent + extent <= BYTES, 1);
    MPI_Type_size(t, &bytes);
    for (int i = 0; i < BYTES; i++) {
        out[i] = (unsigned char)(left * 7 + i); /* what the left one sends */
        in[i] = want[i] = 0xee;
    }
    MPI_Pack_size(2, t, world, &bound);
    CHECK(bound >= 2 * bytes && bound <= (int)sizeof packed, 1);
    MPI_Pack(out, 2, t, theirs, sizeof theirs, &at, world);
    CHECK(at, 2 * bytes);
    at = 0;
    MPI_Unpack(theirs, 2 * bytes, &at, want, 2, t, world);
    for (int i = 0; i < BYTES; i++)
        out[i] = (unsigned char)(rank * 7 + i);
    MPI_Sendrecv(out, 2, t, right, 1, in, 2, t, left, 1, world, &s);
    MPI_Get_elements(&s, t, &got);
    CHECK(got > 0, 1);
    MPI_Get_count(&s, t, &got);
    CHECK(got, 2);
    CHECK(memcmp(in, want, BYTES), 0);
    at = 0;
    MPI_Pack(out, 2, t, packed, sizeof packed, &at, world);
    MPI_Sendrecv(packed, at, MPI_PACKED, right, 2, theirs, sizeof theirs, MPI_PACKED, left, 2, world, &s);
    memset(in, 0xee, BYTES);
    at = 0;
    MPI_Unpack(theirs, 2 * bytes, &at, in, 2, t, world);
    CHECK(memcmp(in, want, BYTES), 0);
}

/* In the representation that all machines know: big-endian. */
static void external(int rank, int size) {
    int out[2] = {rank, 1}, in[2] = {-1, -1};
    unsigned char packed[8], theirs[8];
    MPI_Aint room, at = 0;
    MPI_Pack_external_size("external32", 2, MPI_INT, &room);
    CHECK(room, 8);
    MPI_Pack_external("external32", out, 2, MPI_INT, packed, room, &at);
    CHECK(packed[7], 1);
    MPI_Sendrecv(packed, 8, MPI_BYTE, (rank + 1) % size, 3, theirs, 8, MPI_BYTE, (rank + size - 1) % size, 3, world, MPI_STATUS_IGNORE);
    at = 0;
    MPI_Unpack_external("external32", theirs, room, &at, in, 2, MPI_INT);
    CHECK(in[0], (rank + size - 1) % size);
    CHECK(in[1], 1);
}

static void makers(int rank, int size) {
    MPI_Datatype t[10], kinds[2] = {MPI_SHORT, MPI_INT};
    int counts[2] = {2, 1}, at[2] = {0, 4}, sizes[2] = {4, 5}, parts[2] = {2, 3}, starts[2] = {1, 1}, n = 0;
    MPI_Aint places[2] = {0, 24};
    int cyclic[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, args[2] = {1, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 1};
    MPI_Type_create_struct(2, counts, places, kinds, &t[n++]);
    MPI_Type_create_hindexed(2, counts, places, MPI_INT, &t[n++]);
    MPI_Type_create_hindexed_block(2, 2, places, MPI_SHORT, &t[n++]);
    MPI_Type_create_hvector(3, 2, 20, MPI_INT, &t[n++]);
    MPI_Type_create_indexed_block(2, 2, at, MPI_INT, &t[n++]);
    MPI_Type_indexed(2, counts, at, MPI_DOUBLE, &t[n++]);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t[n++]);
    MPI_Type_create_darray(2, 1, 2, sizes, cyclic, args, grid, MPI_ORDER_C, MPI_INT, &t[n++]);
    MPI_Type_dup(t[0], &t[n++]);
    MPI_Type_create_resized(t[0], 0, 48, &t[n++]);
    for (int i = 0; i < n; i++) {
        MPI_Type_commit(&t[i]);
        travels(rank, size, t[i]);
        MPI_Type_free(&t[i]);
    }
}

static int copies(MPI_Datatype t, int key, void *extra, void *value, void *out, int *flag) {
    (void)t, (void)key, (void)extra;
    *(long *)out = (long)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static void objects(int rank) {
    MPI_Datatype t, u, got[2];
    int key, flag, ni, na, nd, combiner, ints[3], length, commutes;
    long value;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Aint where[2], a, b;
    MPI_Type_vector(3, 1, 2, MPI_INT, &t);
    MPI_Type_set_name(t, "every other");
    MPI_Type_get_name(t, name, &length);
    CHECK(strcmp(name, "every other"), 0);
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    CHECK(ni == 3 && na == 0 && nd == 1 && combiner == MPI_COMBINER_VECTOR, 1);
    MPI_Type_get_contents(t, 3, 0, 1, ints, where, got);
    CHECK(ints[0] == 3 && ints[1] == 1 && ints[2] == 2 && got[0] == MPI_INT, 1);
    MPI_Type_create_keyval(copies, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_set_attr(t, key, (void *)(long)(rank + 5));
    MPI_Type_dup(t, &u);
    MPI_Type_get_attr(u, key, &value, &flag);
    CHECK(flag && value == rank + 6, 1);
    MPI_Type_delete_attr(u, key);
    MPI_Type_get_attr(u, key, &value, &flag);
    CHECK(flag, 0);
    MPI_Type_free(&u);
    MPI_Type_free(&t);
    MPI_Type_free_keyval(&key);
    MPI_Get_address(&ints[0], &a);
    MPI_Get_address(&ints[2], &b);
    CHECK(MPI_Aint_diff(b, a), 2 * sizeof(int));
    CHECK(MPI_Aint_add(a, 2 * sizeof(int)) == b, 1);
    MPI_Op_commutative(MPI_SUM, &commutes);
    CHECK(commutes, 1);
    int x = rank, y = 10;
    MPI_Reduce_local(&x, &y, 1, MPI_INT, MPI_SUM);
    CHECK(y, rank + 10);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &t);
    MPI_Type_size(t, &length);
    CHECK(length, 4);
}

static void infos(int rank) {
    MPI_Info info, same;
    int n, flag, length;
    char key[MPI_MAX_INFO_KEY], value[32];
    MPI_Info_create(&info);
    snprintf(value, sizeof value, "of rank %d", rank);
    MPI_Info_set(info, "one", value);
    MPI_Info_set(info, "two", "2");
    MPI_Info_dup(info, &same);
    MPI_Info_delete(info, "one");
    MPI_Info_get_nkeys(info, &n);
    CHECK(n, 1);
    MPI_Info_get_nkeys(same, &n);
    CHECK(n, 2);
    MPI_Info_get_nthkey(info, 0, key);
    CHECK(strcmp(key, "two"), 0);
    MPI_Info_get_valuelen(same, "two", &length, &flag);
    CHECK(flag && length == 1, 1);
    char got[32];
    MPI_Info_get(same, "one", 31, got, &flag);
    CHECK(flag && strcmp(got, value) == 0, 1);
    MPI_Info_free(&info);
    MPI_Info_free(&same);
}

/* Classes and codes are one set for all ranks of a process, each with the text that its maker gave it. */
static void errors(int rank) {
    enum { CODES = 16 };
    int class, code, codes[CODES], length, of;
    char text[MPI_MAX_ERROR_STRING], mine[32], name[MPI_MAX_PROCESSOR_NAME];
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    snprintf(mine, sizeof mine, "an error of rank %d", rank);
    MPI_Add_error_string(code, mine);
    for (int i = 0; i < CODES; i++) { /* while the other ranks do so too, and ask */
        MPI_Add_error_code(class, &codes[i]);
        MPI_Add_error_string(codes[i], mine);
        MPI_Error_string(codes[i / 2], text, &length);
        CHECK(strcmp(text, mine), 0);
    }
    MPI_Barrier(world);
    MPI_Error_string(code, text, &length);
    CHECK(strcmp(text, mine), 0);
    MPI_Error_class(code, &of);
    CHECK(of, class);
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0, 1);
    MPI_Get_version(&length, &of);
    CHECK(length, MPI_VERSION);
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_library_version(library, &length);
    CHECK(length > 0, 1);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    makers(rank, size);
    external(rank, size);
    objects(rank);
    infos(rank);
    errors(rank);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
