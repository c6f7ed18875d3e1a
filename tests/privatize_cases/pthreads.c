#include <pthread.h>

static int done;   //~ done: refused OPI505
static int passed; //~ passed: private

static void *work(void *at) {
    done = 1;
    *(int *)at = 2;
    return at;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, &passed); //~ note OPI515
    pthread_join(thread, 0);
    return passed - 2 + done - 1;
}
