/* What a case sees of whoever runs its ranks: `main` is called once for each, all at once. */
int my_rank(void);
void all_here(void); /* returns when every rank has come */
