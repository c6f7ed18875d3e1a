extern int value;
int *one = &value; //~ one: private
