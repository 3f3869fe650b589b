/* The loops of the paper as a plain C programmer would write them: libm, Box-Muller, every arm
   recomputed each round, regrets included. Built on the spot by speed.py:
       gcc -O3 -march=native -shared -fPIC plain.c -lm
   Each function plays T rounds and adds fairness regret, reward regret to total[0], total[1]. */
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
