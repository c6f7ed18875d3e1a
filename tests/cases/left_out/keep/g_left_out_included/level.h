#define MINE 1
