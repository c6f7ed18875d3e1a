#include "ranks.h"

#define COUNTER(name) static long name
#define LOCAL static
#define VALUE(name) static int name = 3;

COUNTER(sent);       //~ sent: private
LOCAL int received;  //~ received: private
VALUE(three)         //~ three: private

int main(void) {
    sent += my_rank();
    received -= my_rank();
    three += my_rank();
    all_here();
    return sent + received || three != 3 + my_rank();
}
