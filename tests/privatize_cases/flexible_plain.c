static struct { int n; char rest[]; } text = {3, "abc"}; //~ tls text: private; struct text: refused OPI501

int main(void) {
    text.n = 0;
    return text.n + text.rest[0] - 'a';
}
