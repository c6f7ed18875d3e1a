extern double sbuf[1000];

static inline void put(int from, int turn)
{
    for (int i = from; i < from + 500; i++)
        sbuf[i] = turn + i;
}
