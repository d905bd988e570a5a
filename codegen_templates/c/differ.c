static int differ_S(const char *name, const T *found, const T *expected,
    int64_t count, double allowed)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        const bool are_equal = found[i] == expected[i] || (isnan(found[i]) && isnan(expected[i]));
        const double error = are_equal ? 0 : fabs((double)found[i] - (double)expected[i]);
        if (!(error <= largest) && largest == largest)
            largest = error;
    }
    printf("%s: largest error %.3g, allowed %.3g\n", name, largest, allowed);
    return !(largest <= allowed);
}
