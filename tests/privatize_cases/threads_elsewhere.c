/* An unknown function may call back what it knows, on the thread that calls it. */
#include <pthread.h>

void run_callbacks(void);
void keep_callback(void (*what)(void));

static int inside;  //~ inside: refused OPI505
static int outside; //~ outside: private

static void callback(void) {
    inside++;
}

static void *work(void *unused) {
    run_callbacks();
    return unused;
}

int main(void) {
    pthread_t thread;
    keep_callback(callback);
    pthread_create(&thread, 0, work, 0); //~ note OPI515
    pthread_join(thread, 0);
    return inside + outside++;
}
