/* The functions of GCC's OpenMP that a parallel loop calls, on POSIX threads, which the thread
   sanitizer knows. */
#include <pthread.h>

enum { MEMBERS = 4 };

struct member {
    void (*run)(void *);
    void *data;
    int number;
};

static _Thread_local int own;

int omp_get_num_threads(void) { return MEMBERS; }
int omp_get_thread_num(void) { return own; }

static void *begin(void *given)
{
    struct member *member = given;
    own = member->number;
    member->run(member->data);
    return 0;
}

void GOMP_parallel(void (*run)(void *), void *data, unsigned count, unsigned flags)
{
    pthread_t threads[MEMBERS];
    struct member members[MEMBERS];
    (void)count;
    (void)flags;
    for (int at = 0; at < MEMBERS; at++) {
        members[at] = (struct member){run, data, at};
        pthread_create(&threads[at], 0, begin, &members[at]);
    }
    for (int at = 0; at < MEMBERS; at++)
        pthread_join(threads[at], 0);
}
