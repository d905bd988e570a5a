#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

COMPLEX
/* Objects of Python's, and arrays of NumPy's. */
typedef struct object {
    char head[HEAD - sizeof(void *)];
    struct object *type;
} object;
typedef struct {
    object head;
    char *data;
    int nd;
    const intptr_t *dims, *strides;
    object *base, *dtype;
} array;
typedef struct {
    double real, imag;
} complex_number;

extern double PyFloat_AsDouble(object *);
extern object *PyFloat_FromDouble(double);
extern long long PyLong_AsLongLong(object *);
extern object *PyLong_FromLongLong(long long);
extern int PyObject_IsTrue(object *);
extern object *PyBool_FromLong(long);
extern complex_number PyComplex_AsCComplex(object *);
extern object *PyComplex_FromDoubles(double, double);
extern object *PyTuple_New(intptr_t);
extern object *PyTuple_GetItem(object *, intptr_t);
extern int PyTuple_SetItem(object *, intptr_t, object *);
extern object *PyObject_CallObject(object *, object *);
extern object *PyObject_CallFunction(object *, const char *, ...);
extern object *PyErr_Occurred(void);
extern object *PyErr_NoMemory(void);
extern object *Py_BuildValue(const char *, ...);
extern void Py_IncRef(object *);
extern void Py_DecRef(object *);
extern void *PyEval_SaveThread(void);
extern void PyEval_RestoreThread(void *);

typedef object *function(object *, object *const *, intptr_t);
struct method {
    const char *name;
    function *call;
    int flags;
    const char *about;
};

/* True for an array of these types and lengths whose elements lie in C order. */
static bool fits(const object *given, const object *type, const object *dtype, int nd,
        const intptr_t *dims, intptr_t size)
{
    const array *own = (const array *)given;
    if (given->type != type || own->dtype != dtype || own->nd != nd)
        return false;
    if ((uintptr_t)own->data % (uintptr_t)(size > 8 ? 8 : size))
        return false;
    for (int axis = nd - 1; axis >= 0; size *= dims[axis--])
        if (own->dims[axis] != dims[axis] || (own->strides[axis] != size && dims[axis] != 1))
            return false;
    return true;
}

/* The length of an axis of what may be an array. */
static int64_t length_of(const object *given, const object *type, int axis)
{
    const array *own = (const array *)given;
    return given->type == type && axis < own->nd ? own->dims[axis] : 0;
}

/* What `others` gives for the same arguments. */
static object *by_others(object *others, object *const *given, intptr_t count)
{
    object *tuple = PyTuple_New(count);
    if (!tuple)
        return 0;
    for (intptr_t at = 0; at < count; at++) {
        Py_IncRef(given[at]);
        PyTuple_SetItem(tuple, at, given[at]);
    }
    object *made = PyObject_CallObject(others, tuple);
    Py_DecRef(tuple);
    return made;
}

static double complex as_complex(object *given)
{
    const complex_number parts = PyComplex_AsCComplex(given);
    return CMPLX(parts.real, parts.imag);
}

static object *of_complex(double complex number)
{
    return PyComplex_FromDoubles(creal(number), cimag(number));
}

/* The results of a kernel: None, an object, or a tuple; 0 after an error. */
static object *packed(object **results, intptr_t count, bool has_failed)
{
    object *tuple = 0;
    if (!has_failed && count == 1)
        return results[0];
    if (!has_failed)
        tuple = count ? PyTuple_New(count) : Py_BuildValue("");
    for (intptr_t at = 0; at < count; at++) {
        if (tuple)
            PyTuple_SetItem(tuple, at, results[at]);
        else if (results[at])
            Py_DecRef(results[at]);
    }
    return tuple;
}
