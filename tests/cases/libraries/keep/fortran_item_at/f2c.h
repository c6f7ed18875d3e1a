typedef int integer;
typedef long ftnlen;
typedef struct {
    integer cierr;
    integer ciunit, ciend;
    char *cifmt;
    integer cirec;
} cilist;
