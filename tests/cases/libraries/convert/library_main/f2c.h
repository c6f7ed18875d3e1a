typedef int integer;
typedef double doublereal;
#define Extern extern
