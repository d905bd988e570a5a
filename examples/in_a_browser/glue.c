/* The memory of the page's network, and what the page calls. */
#include "boundary_step.h"
#include "probability.h"

static double W1[2][WIDTH], b1[WIDTH], W2[WIDTH][WIDTH], b2[WIDTH], w3[WIDTH];
static double m_W1[2][WIDTH], m_b1[WIDTH], m_W2[WIDTH][WIDTH], m_b2[WIDTH], m_w3[WIDTH];
static double points[POINTS][2], labels[POINTS], grid[GRID][2], chances[GRID];
static struct boundary_step_workspace step_work;
static struct probability_workspace grid_work;

/* Where the page writes points, labels and grid, and reads the probabilities on the grid. */
double *points_at(void) { return &points[0][0]; }
double *labels_at(void) { return labels; }
double *grid_at(void) { return &grid[0][0]; }
double *chances_at(void) { return chances; }

/* A uniform number in [-1, 1), by the generator "minimal standard" of Park and Miller (1988). */
static double uniform(uint32_t *seed)
{
    *seed = (uint32_t)((uint64_t)*seed * 48271u % 2147483647u);
    return *seed / 1073741823.5 - 1.0;
}

static void draw(double *weights, int count, double scale, uint32_t *seed)
{
    for (int i = 0; i < count; i++)
        weights[i] = scale * uniform(seed);
}

/* Draws all weights anew; biases and velocities are 0. */
void start(uint32_t seed)
{
    draw(&W1[0][0], 2 * WIDTH, 1.2, &seed);
    draw(&W2[0][0], WIDTH * WIDTH, 0.5, &seed);
    draw(w3, WIDTH, 0.5, &seed);
    for (int i = 0; i < WIDTH; i++)
        b1[i] = b2[i] = m_b1[i] = m_b2[i] = m_w3[i] = m_W1[0][i] = m_W1[1][i] = 0;
    for (int i = 0; i < WIDTH * WIDTH; i++)
        m_W2[i / WIDTH][i % WIDTH] = 0;
}

/* Takes steps of gradient descent with momentum; returns the loss before the last one. */
double train(int steps, double rate)
{
    double loss = 0;
    for (int i = 0; i < steps; i++)
        boundary_step(W1, b1, W2, b2, w3, points, labels, m_W1, m_b1, m_W2, m_b2, m_w3, rate, 0.9,
            &loss, &step_work);
    return loss;
}

/* Computes the probability of label 1 at each point of the grid. */
void classify(void) { probability(W1, b1, W2, b2, w3, grid, chances, &grid_work); }
