/* A stand-in for Fortran's run-time library: its main calls the program, MAIN__, once. */
extern int MAIN__(void);

int main(void)
{
    MAIN__();
    return 0;
}
