#define N 2048

double sbuf[N];

double total_sent(void)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += sbuf[i];
    return sum;
}
