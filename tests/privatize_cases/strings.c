#include "ranks.h"

static char word[] = "initial";  //~ word: private
static char *pointers[] = {word, "shared", word + 2}; //~ pointers: private
static char empty[4] = "";       //~ empty: private

int main(void) {
    word[0] = (char)('0' + my_rank());
    empty[1] = word[0];
    all_here();
    return pointers[0][0] != '0' + my_rank() || pointers[2][0] != 'i' || sizeof word != 8 || empty[1] != word[0];
}
