/* The loops of the paper as a plain C programmer would write them: libm, Box-Muller, every arm
   recomputed each round, regrets included. Built on the spot by speed.py:
       gcc -O3 -march=native -shared -fPIC plain.c -lm
   Each function plays T rounds and adds fairness regret, reward regret to total[0], total[1].
   Without contexts the arms pay 0 or 1 with probabilities mu. With contexts X, N examples of K rows
   of length d, each round shows one example, and an arm pays x . theta plus normal noise. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { uint64_t s; int has; double spare; } rng_t;
static double uniform(rng_t *r) { /* SplitMix64 */
  uint64_t z = (r->s += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
static double normal(rng_t *r) { /* Box-Muller, both numbers used */
  if (r->has) { r->has = 0; return r->spare; }
  double radius = sqrt(-2 * log(1 - uniform(r))), angle = 6.283185307179586 * uniform(r);
  r->spare = radius * sin(angle);
  r->has = 1;
  return radius * cos(angle);
}
static int choose(int K, const double *p, rng_t *r) {
  double u = uniform(r), sum = 0;
  for (int a = 0; a < K - 1; a++) { sum += p[a]; if (u < sum) return a; }
  return K - 1;
}
static void share(int K, double c, const double *m, double *p) {
  double top = m[0], z = 0;
  for (int a = 1; a < K; a++) if (m[a] > top) top = m[a];
  for (int a = 0; a < K; a++) { p[a] = exp(c * (m[a] - top)); z += p[a]; }
  for (int a = 0; a < K; a++) p[a] /= z;
}
static void judge(int K, const double *fair, const double *p, const double *mu, double *total) {
  for (int a = 0; a < K; a++) {
    double gap = fair[a] - p[a];
    total[0] += fabs(gap);
    total[1] += gap * mu[a];
  }
}
#define NEW(name, n) double *name = calloc((n), sizeof(double))

void fair_ts(long T, int K, const double *mu, double c, double prior, double noise, uint64_t seed, double *total) {
  rng_t r = {seed}; NEW(n, K); NEW(s, K); NEW(m, K); NEW(p, K); NEW(fair, K);
  double i0 = 1 / (prior * prior), ir = 1 / (noise * noise);
  share(K, c, mu, fair);
  for (long t = 0; t < T; t++) {
    for (int a = 0; a < K; a++) {
      double precision = i0 + n[a] * ir;
      m[a] = s[a] * ir / precision + normal(&r) / sqrt(precision);
    }
    share(K, c, m, p);
    int a = choose(K, p, &r);
    judge(K, fair, p, mu, total);
    n[a] += 1; s[a] += uniform(&r) < mu[a];
  }
  free(n); free(s); free(m); free(p); free(fair);
}
void fair_eg(long T, int K, const double *mu, double c, double eps, double unused, uint64_t seed, double *total) {
  rng_t r = {seed}; NEW(n, K); NEW(s, K); NEW(m, K); NEW(p, K); NEW(fair, K);
  share(K, c, mu, fair);
  for (long t = 0; t < T; t++) {
    for (int a = 0; a < K; a++) m[a] = n[a] > 0 ? s[a] / n[a] : 0;
    share(K, c, m, p);
    for (int a = 0; a < K; a++) p[a] = (1 - eps) * p[a] + eps / K;
    int a = choose(K, p, &r);
    judge(K, fair, p, mu, total);
    n[a] += 1; s[a] += uniform(&r) < mu[a];
  }
  free(n); free(s); free(m); free(p); free(fair);
}
void fair_ucb(long T, int K, const double *mu, double c, double width, double unused, uint64_t seed, double *total) {
  rng_t r = {seed}; NEW(n, K); NEW(s, K); NEW(p, K); NEW(fair, K);
  NEW(l, K); NEW(u, K); NEW(fl, K); NEW(fu, K);
  share(K, c, mu, fair);
  for (long t = 0; t < T; t++) {
    int a;
    if (t < K) { for (a = 0; a < K; a++) p[a] = a == t; }
    else {
      double top = -INFINITY, level = 0, z = 0;
      for (a = 0; a < K; a++) {
        double m = s[a] / n[a], w = width / sqrt(n[a]);
        l[a] = m - w; u[a] = m + w;
        if (u[a] > top) top = u[a];
      }
      for (a = 0; a < K; a++) {
        fl[a] = exp(c * (l[a] - top)); fu[a] = exp(c * (u[a] - top));
        z += fu[a]; level += fu[a] * u[a];
      }
      level /= z;
      for (int pass = 0; pass < 100; pass++) { /* Dinkelbach */
        double sum = 0; z = 0;
        for (a = 0; a < K; a++) {
          int up = fu[a] * (u[a] - level) >= fl[a] * (l[a] - level);
          p[a] = up ? fu[a] : fl[a];
          z += p[a]; sum += p[a] * (up ? u[a] : l[a]);
        }
        if (!(sum / z > level)) break;
        level = sum / z;
      }
      for (a = 0; a < K; a++) p[a] /= z;
    }
    a = choose(K, p, &r);
    judge(K, fair, p, mu, total);
    n[a] += 1; s[a] += uniform(&r) < mu[a];
  }
  free(n); free(s); free(p); free(fair); free(l); free(u); free(fl); free(fu);
}
void fair_ucb_gradient(long T, int K, const double *mu, double c, double width, double rate, uint64_t seed, double *total) {
  rng_t r = {seed}; NEW(n, K); NEW(s, K); NEW(m, K); NEW(p, K); NEW(fair, K); NEW(l, K); NEW(u, K);
  share(K, c, mu, fair);
  for (long t = 0; t < T; t++) {
    int a;
    if (t < K) { for (a = 0; a < K; a++) p[a] = a == t; }
    else {
      for (a = 0; a < K; a++) {
        double w = width / sqrt(n[a]);
        m[a] = s[a] / n[a]; l[a] = m[a] - w; u[a] = m[a] + w;
      }
      for (int step = 0; step < 10; step++) {
        double value = 0;
        share(K, c, m, p);
        for (a = 0; a < K; a++) value += p[a] * m[a];
        for (a = 0; a < K; a++) {
          double moved = m[a] + rate * p[a] * (1 + c * (m[a] - value));
          m[a] = moved < l[a] ? l[a] : moved > u[a] ? u[a] : moved;
        }
      }
      share(K, c, m, p);
    }
    a = choose(K, p, &r);
    judge(K, fair, p, mu, total);
    n[a] += 1; s[a] += uniform(&r) < mu[a];
  }
  free(n); free(s); free(m); free(p); free(fair); free(l); free(u);
}

static double dot(int d, const double *x, const double *y) {
  double sum = 0;
  for (int i = 0; i < d; i++) sum += x[i] * y[i];
  return sum;
}
static void times(int n, int d, const double *A, const double *x, double *y) {
  for (int i = 0; i < n; i++) y[i] = dot(d, A + i * d, x);
}
static void transpose_times(int n, int d, const double *A, const double *x, double *y) {
  memset(y, 0, d * sizeof(double));
  for (int i = 0; i < n; i++) for (int j = 0; j < d; j++) y[j] += A[i * d + j] * x[i];
}
static void add_outer(int d, double scale, const double *x, const double *y, double *A) {
  for (int i = 0; i < d; i++) for (int j = 0; j < d; j++) A[i * d + j] += scale * x[i] * y[j];
}
static void scaled_identity(int d, double scale, double *A) {
  for (int i = 0; i < d; i++) A[i * d + i] = scale;
}
static void prior(int d, double ridge, double *W, double *D) {
  scaled_identity(d, 1, W);
  for (int i = 0; i < d; i++) D[i] = 1 / ridge;
}
/* Bierman's update: V^-1 = W'DW, W unit lower triangular, follows V + x x', and the estimate the reward. */
static void regress(int d, double *W, double *D, double *estimate, const double *x, double reward, double *gain) {
  double spread = 1;
  for (int j = 0; j < d; j++) {
    double *row = W + j * d, turned = dot(j + 1, row, x);
    double scaled = D[j] * turned, before = spread, step = -turned / before;
    spread += turned * scaled;
    D[j] *= before / spread;
    for (int i = 0; i < j; i++) {
      double old = row[i];
      row[i] = old + step * gain[i];
      gain[i] += old * scaled;
    }
    gain[j] = scaled;
  }
  double surprise = (reward - dot(d, x, estimate)) / spread;
  for (int i = 0; i < d; i++) estimate[i] += surprise * gain[i];
}
#define LINEAR(name) void name(long T, int N, int K, int d, const double *X, const double *theta, \
  double c, double noise, double first, double second, uint64_t seed, double *total)
#define NEW_LINEAR NEW(mu, K); NEW(m, K); NEW(p, K); NEW(fair, K); \
  NEW(W, d * d); NEW(D, d); NEW(estimate, d); NEW(gain, d); NEW(parameter, d)
#define FREE_LINEAR free(mu); free(m); free(p); free(fair); \
  free(W); free(D); free(estimate); free(gain); free(parameter)
static const double *show(int N, int K, int d, const double *X, const double *theta, double c, rng_t *r, double *mu, double *fair) {
  const double *example = X + (long)(uniform(r) * N) * K * d;
  times(K, d, example, theta, mu);
  share(K, c, mu, fair);
  return example;
}

LINEAR(fair_lin_ts) { /* first: standard deviation of the prior, second: of the rewards */
  rng_t r = {seed}; NEW_LINEAR; NEW(z, d);
  prior(d, second * second / (first * first), W, D);
  for (long t = 0; t < T; t++) {
    const double *x = show(N, K, d, X, theta, c, &r, mu, fair);
    for (int i = 0; i < d; i++) z[i] = second * sqrt(D[i]) * normal(&r);
    memcpy(parameter, estimate, d * sizeof(double));
    for (int i = 0; i < d; i++) for (int j = 0; j <= i; j++) parameter[j] += W[i * d + j] * z[i];
    times(K, d, x, parameter, m);
    share(K, c, m, p);
    int a = choose(K, p, &r);
    judge(K, fair, p, mu, total);
    regress(d, W, D, estimate, x + a * d, mu[a] + noise * normal(&r), gain);
  }
  free(z); FREE_LINEAR;
}
LINEAR(fair_lin_eg) { /* first: epsilon, second: ridge */
  rng_t r = {seed}; NEW_LINEAR;
  prior(d, second, W, D);
  for (long t = 0; t < T; t++) {
    const double *x = show(N, K, d, X, theta, c, &r, mu, fair);
    times(K, d, x, estimate, m);
    share(K, c, m, p);
    for (int a = 0; a < K; a++) p[a] = (1 - first) * p[a] + first / K;
    int a = choose(K, p, &r);
    judge(K, fair, p, mu, total);
    regress(d, W, D, estimate, x + a * d, mu[a] + noise * normal(&r), gain);
  }
  FREE_LINEAR;
}
LINEAR(fair_lin_ucb) { /* first: beta, second: ridge; ten steps of 0.01, scaled back into the ellipsoid */
  rng_t r = {seed}; NEW_LINEAR; NEW(V, d * d); NEW(away, d); NEW(stretched, d);
  double radius = sqrt(first);
  prior(d, second, W, D);
  scaled_identity(d, second, V);
  for (long t = 0; t < T; t++) {
    const double *x = show(N, K, d, X, theta, c, &r, mu, fair);
    memcpy(parameter, estimate, d * sizeof(double));
    for (int step = 0; step < 10; step++) {
      times(K, d, x, parameter, m);
      share(K, c, m, p);
      double value = dot(K, p, m);
      for (int a = 0; a < K; a++) p[a] *= 1 + c * (m[a] - value);
      transpose_times(K, d, x, p, away);
      for (int i = 0; i < d; i++) away[i] = parameter[i] + 0.01 * away[i] - estimate[i];
      times(d, d, V, away, stretched);
      double size = sqrt(dot(d, away, stretched)), scale = size > radius ? radius / size : 1;
      for (int i = 0; i < d; i++) parameter[i] = estimate[i] + scale * away[i];
    }
    times(K, d, x, parameter, m);
    share(K, c, m, p);
    int a = choose(K, p, &r);
    judge(K, fair, p, mu, total);
    regress(d, W, D, estimate, x + a * d, mu[a] + noise * normal(&r), gain);
    add_outer(d, 1, x + a * d, x + a * d, V);
  }
  free(V); free(away); free(stretched); FREE_LINEAR;
}
