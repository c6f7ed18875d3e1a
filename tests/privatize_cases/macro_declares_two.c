#define COUNTERS static int sent; static int received;

COUNTERS //~ sent: refused OPI501; received: refused OPI501

int main(void) {
    sent++;
    received += sent;
    return received - 1;
}
