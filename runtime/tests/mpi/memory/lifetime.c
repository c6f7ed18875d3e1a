/* Memory before MPI_Init and after MPI_Finalize; alignment; reuse; many sizes; the contents stay; zeros. */
#include "../forms.h"

#include <errno.h>

/* How many of the bytes are not zero; they are not zero afterwards. */
static size_t used(char *p, size_t bytes)
{
    size_t found = 0;
    for (size_t i = 0; i < bytes; i++)
        found += p[i] != 0;
    memset(p, 0xa5, bytes);
    return found;
}

/* Zeros in memory that was never used and in memory that was, by sizes small and large, of takes too. */
static void zeros(void)
{
    trying("zeros");
    for (int round = 0; round < 3; round++)
        for (size_t count = 0; count < 3000000; count = 5 * count + 1) {
            char *p = OPI_Calloc(count, 3), *q = OPI_Calloc(3, count), *taken = p;
            CHECK(p != NULL && q != NULL && p != q && (uintptr_t)p % 64 == 0);
            CHECK(used(p, 3 * count) == 0 && used(q, 3 * count) == 0);
            CHECK_CLASS(OPI_Give(&q, (int)(3 * count), MPI_BYTE, 0, 1, MPI_COMM_SELF), MPI_SUCCESS);
            CHECK_CLASS(OPI_Take(&taken, (int)(3 * count), MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_SUCCESS);
            OPI_Free(&p);
            OPI_Free(&taken);
        }
    char *told = OPI_Malloc(100000);
    CHECK(told != NULL && (uintptr_t)told % 64 == 0);
    CHECK_CLASS(OPI_Give(&told, 100000, MPI_BYTE, 0, 1, MPI_COMM_SELF), MPI_SUCCESS);
    CHECK_CLASS(OPI_Take(&told, 100000, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_SUCCESS);
    OPI_Free(&told);
    errno = 0;
    CHECK(OPI_Malloc(SIZE_MAX / 2) == NULL && errno == ENOMEM && OPI_Malloc((size_t)1 << 50) == NULL); /* errors are fatal here */
    int less = -3; /* a rank that has nothing to do: malloc gives it NULL, and so do these */
    double *none = (double *)&less;
    errno = 0;
    CHECK(OPI_Alloc(&none, less * sizeof *none) == MPI_ERR_NO_MEM && none == NULL && errno == ENOMEM);
    CHECK(OPI_Free(&none) == MPI_SUCCESS);
    CHECK(OPI_Calloc(less, sizeof *none) == NULL && OPI_Calloc(SIZE_MAX / 2, 3) == NULL);
    CHECK(OPI_Calloc((SIZE_MAX >> 4) + 1, 16) == NULL); /* the product wraps to 0 */
    none = (double *)&less;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(OPI_Alloc(&none, (size_t)1 << 50) == MPI_ERR_NO_MEM && none == (double *)&less); /* so much there might be: an error */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    double *early = NULL, *unused = NULL, *late = NULL, *taken = NULL;
    void *kept[64];

    trying("before MPI_Init");
    if (OPI_Alloc(&early, 8000) != MPI_SUCCESS || OPI_Alloc(&unused, 100) != MPI_SUCCESS || early == NULL || unused == NULL) {
        fprintf(stderr, "lifetime: OPI_Alloc before MPI_Init failed\n");
        return 1;
    }
    fill(early, 8000, 5);
    if (OPI_Free(&unused) != MPI_SUCCESS || unused != NULL) {
        fprintf(stderr, "lifetime: OPI_Free before MPI_Init failed\n");
        return 1;
    }
    start(&argc, &argv);
    CHECK((uintptr_t)early % 64 == 0);
    CHECK(differs(early, 8000, 5) == 0);

    trying("many sizes");
    for (int i = 0; i < 64; i++) {
        size_t bytes = (size_t)(i * i * i) + (size_t)i;
        kept[i] = new_buffer(ALLOCATED, bytes);
        fill(kept[i], bytes, (unsigned)i);
    }
    for (int i = 0; i < 64; i++) {
        size_t bytes = (size_t)(i * i * i) + (size_t)i;
        CHECK(differs(kept[i], bytes, (unsigned)i) == 0);
        drop_buffer(ALLOCATED, kept[i]);
    }
    for (int i = 0; i < 100000; i++) {
        char *p;
        OPI_Alloc(&p, (size_t)(i % 7) * 1000);
        CHECK(p != NULL);
        OPI_Free(&p);
    }

    zeros();
    trying("given after MPI_Init, taken, used after MPI_Finalize");
    int ranks, to, from;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    to = (world_rank + 1) % ranks;
    from = (world_rank + ranks - 1) % ranks;
    CHECK_CLASS(OPI_Givetake(&early, 1000, MPI_DOUBLE, to, 0, &taken, 1000, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    CHECK(early == NULL && taken != NULL && differs(taken, 8000, 5) == 0);
    OPI_Alloc(&late, 64);
    int code = finish("lifetime");
    fill(taken, 8000, 6);
    fill(late, 64, 7);
    if (differs(taken, 8000, 6) || differs(late, 64, 7))
        code = 1;
    double *after = NULL;
    if (OPI_Alloc(&after, 100000) != MPI_SUCCESS || after == NULL)
        code = 1;
    else
        fill(after, 100000, 8);
    if (OPI_Free(&taken) != MPI_SUCCESS || taken != NULL || OPI_Free(&late) != MPI_SUCCESS || OPI_Free(&after) != MPI_SUCCESS)
        code = 1;
    return code;
}
