struct halo;

void look(struct halo *h)
{
    (void)h;
}
