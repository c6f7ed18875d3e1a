typedef int integer;
typedef double doublereal;
