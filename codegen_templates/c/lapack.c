/* Functions of LAPACK and calls of them. L is the letter of the type in the names of LAPACK's
   functions, whose matrices lie in columns, and CONJ is the conjugate of a complex number. `job` is
   "N" if values are asked for alone; `work` has `size` places, and `code` is that of an error. */

void to_columns_S(const T *a, int64_t m, int64_t n, T *columns)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            columns[j * m + i] = a[i * n + j];
}

extern void syevd_L(const char *jobz, const char *uplo, const int32_t *n, T *a, const int32_t *lda,
    T *w, T *work, const int32_t *lwork, int32_t *iwork, const int32_t *liwork, int32_t *info,
    size_t, size_t);

void lapack_eigh_S(const char *job, const char *part, int64_t n, T *a, T *values, T *work, int64_t size,
    int32_t *integers, int64_t count, int *error, int code)
{
    const int32_t order = (int32_t)n, lwork = (int32_t)size, liwork = (int32_t)count;
    int32_t info = 0;
    syevd_L(job, part, &order, a, &order, values, work, &lwork, integers, &liwork, &info, 1, 1);
    *error = *error || info == 0 ? *error : code;
}

extern void heevd_L(const char *jobz, const char *uplo, const int32_t *n, T *a, const int32_t *lda,
    R *w, T *work, const int32_t *lwork, R *rwork, const int32_t *lrwork, int32_t *iwork,
    const int32_t *liwork, int32_t *info, size_t, size_t);

void complex_lapack_eigh_S(const char *job, const char *part, int64_t n, T *a, R *values, T *work,
    int64_t size, R *parts, int64_t parts_size, int32_t *integers, int64_t count, int *error,
    int code)
{
    const int32_t order = (int32_t)n, lwork = (int32_t)size, lrwork = (int32_t)parts_size;
    const int32_t liwork = (int32_t)count;
    int32_t info = 0;
    heevd_L(job, part, &order, a, &order, values, work, &lwork, parts, &lrwork, integers, &liwork,
        &info, 1, 1);
    *error = *error || info == 0 ? *error : code;
}

extern void gesdd_L(const char *jobz, const int32_t *m, const int32_t *n, T *a, const int32_t *lda,
    T *s, T *u, const int32_t *ldu, T *vt, const int32_t *ldvt, T *work, const int32_t *lwork,
    int32_t *iwork, int32_t *info, size_t);

void lapack_svd_S(const char *job, int64_t m, int64_t n, T *a, T *s, T *u, T *vt, T *work, int64_t size,
    int32_t *integers, int *error, int code)
{
    const int32_t rows = (int32_t)m, columns = (int32_t)n, lwork = (int32_t)size;
    const int32_t rank = rows < columns ? rows : columns;
    int32_t info = 0;
    gesdd_L(job, &rows, &columns, a, &rows, s, u, &rows, vt, &rank, work, &lwork, integers, &info,
        1);
    *error = *error || info == 0 ? *error : code;
}

extern void complex_gesdd_L(const char *jobz, const int32_t *m, const int32_t *n, T *a,
    const int32_t *lda, R *s, T *u, const int32_t *ldu, T *vt, const int32_t *ldvt, T *work,
    const int32_t *lwork, R *rwork, int32_t *iwork, int32_t *info, size_t);

void complex_lapack_svd_S(const char *job, int64_t m, int64_t n, T *a, R *s, T *u, T *vt, T *work,
    int64_t size, R *parts, int32_t *integers, int *error, int code)
{
    const int32_t rows = (int32_t)m, columns = (int32_t)n, lwork = (int32_t)size;
    const int32_t rank = rows < columns ? rows : columns;
    int32_t info = 0;
    complex_gesdd_L(job, &rows, &columns, a, &rows, s, u, &rows, vt, &rank, work, &lwork, parts,
        integers, &info, 1);
    *error = *error || info == 0 ? *error : code;
}

void pseudoinverse_S(int64_t m, int64_t n, const T *u, const R *s, const T *vt, R cutoff, T *inverse)
{
    const int64_t rank = m < n ? m : n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++) {
            T sum = 0;
            for (int64_t k = 0; k < rank && s[k] > cutoff * s[0]; k++)
                sum += CONJ(vt[i * rank + k]) * CONJ(u[k * m + j]) / s[k];
            inverse[i * m + j] = sum;
        }
    }
}

void matrix_product_S(const T *a, int64_t m, int64_t n, const T *b, int64_t count, T *product)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t k = 0; k < count; k++) {
            T sum = 0;
            for (int64_t j = 0; j < n; j++)
                sum += a[i * n + j] * b[j * count + k];
            product[i * count + k] = sum;
        }
    }
}

extern void geqrf_L(const int32_t *m, const int32_t *n, T *a, const int32_t *lda, T *tau, T *work,
    const int32_t *lwork, int32_t *info);

extern void orgqr_L(const int32_t *m, const int32_t *n, const int32_t *k, T *a, const int32_t *lda,
    const T *tau, T *work, const int32_t *lwork, int32_t *info);

void lapack_qr_S(int64_t m, int64_t n, T *a, T *r, T *factors, T *work, int64_t size)
{
    const int32_t rows = (int32_t)m, columns = (int32_t)n, lwork = (int32_t)size;
    const int32_t rank = rows < columns ? rows : columns;
    int32_t info = 0;
    geqrf_L(&rows, &columns, a, &rows, factors, work, &lwork, &info);
    for (int64_t i = 0; i < rank; i++)
        for (int64_t j = 0; j < n; j++)
            r[i * n + j] = j < i ? 0 : a[j * m + i];
    orgqr_L(&rows, &rank, &rank, a, &rows, factors, work, &lwork, &info);
}

extern void gesv_L(const int32_t *n, const int32_t *nrhs, T *a, const int32_t *lda, int32_t *ipiv,
    T *b, const int32_t *ldb, int32_t *info);

void lapack_solve_S(int64_t n, int64_t count, T *a, int32_t *pivots, T *b, int *error, int code)
{
    const int32_t order = (int32_t)n, columns = (int32_t)count;
    int32_t info = 0;
    gesv_L(&order, &columns, a, &order, pivots, b, &order, &info);
    *error = *error || info == 0 ? *error : code;
}

void unit_matrix_S(int64_t n, T *a)
{
    for (int64_t i = 0; i < n * n; i++)
        a[i] = i % (n + 1) == 0 ? 1 : 0;
}

extern void getrf_L(const int32_t *m, const int32_t *n, T *a, const int32_t *lda, int32_t *ipiv,
    int32_t *info);

T lapack_det_S(int64_t n, T *a, int32_t *pivots)
{
    const int32_t order = (int32_t)n;
    int32_t info = 0;
    T product = 1;
    getrf_L(&order, &order, a, &order, pivots, &info);
    for (int64_t i = 0; i < n; i++)
        product *= pivots[i] == i + 1 ? a[i * n + i] : -a[i * n + i];
    return product;
}

extern void potrf_L(const char *uplo, const int32_t *n, T *a, const int32_t *lda, int32_t *info,
    size_t);

void lapack_cholesky_S(int64_t n, T *a, T *factor, int *error, int code)
{
    const int32_t order = (int32_t)n;
    int32_t info = 0;
    potrf_L("L", &order, a, &order, &info, 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            factor[i * n + j] = j > i ? 0 : a[j * n + i];
    *error = *error || info == 0 ? *error : code;
}
