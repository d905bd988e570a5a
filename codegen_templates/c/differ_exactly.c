static int differ_S(const char *name, const T *found, const T *expected,
    int64_t count)
{
    int64_t others = 0;
    for (int64_t i = 0; i < count; i++)
        others += found[i] != expected[i];
    printf("%s: %.0f of %.0f differ\n", name, (double)others, (double)count);
    return others != 0;
}
