/* The text is read twice, as two functions: in one of them the short name stands for something else at the end. */
static void SEND(int n, int t)
{
    double *b = out;
    for (int i = 0; i < n; i++)
        b[i] = i * t;
    LAST
    MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
}
