static double sbuf[500];

static void pack(int turn)
{
    for (int i = 0; i < 500; i++)
        sbuf[i] = turn + i;
}
