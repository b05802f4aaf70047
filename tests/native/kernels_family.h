/* SPDX-License-Identifier: Apache-2.0
 * The kernels of the softmax family: which one is which, and inputs for them.
 */
#ifndef ACLPY_TESTS_KERNELS_FAMILY_H
#define ACLPY_TESTS_KERNELS_FAMILY_H

#include <math.h>

#include "kernels_run.h"

/* Those with a harness of their own are left out. */
SUPPORT int is_of_family(const aclpy_kernel *k) {
  if (strstr(k->name, "fused") != NULL || strstr(k->name, "stats") != NULL) return 0;
  return strstr(k->name, "softmax") != NULL;
}
SUPPORT int is_log(const aclpy_kernel *k) { return strncmp(k->name, "log_", 4) == 0; }
SUPPORT int is_backward(const aclpy_kernel *k) { return strstr(k->name, "backward") != NULL; }

/* What the name of a kernel of another than the dense layout ends with; NULL: dense. */
SUPPORT const char *layout_of(const aclpy_kernel *k) {
  static const char *const layouts[] = {"_pitched", "_transposed", "_swapped", "_spaced"};
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
    const char *found = strstr(k->name, layouts[i]);
    if (found != NULL) return found;
  }
  return NULL;
}

/* The kernel of the dense layout that does the same. */
SUPPORT const aclpy_kernel *dense_like(const aclpy_kernel *k) {
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)(layout_of(k) - k->name), k->name);
  return kernel_like(k, name, k->dtype);
}

/* The first numbers again and again, that many at a time. */
SUPPORT void repeat_(unsigned char *data, int64_t fresh, int64_t n, size_t bytes) {
  for (int64_t done = fresh; done < n; done += fresh) {
    memcpy(data + (size_t)done * bytes, data, (size_t)(n - done < fresh ? n - done : fresh) * bytes);
  }
}

/* Logits or gradients, and for a gradient results of the forward: probabilities or their logarithms. Random numbers
 * take longer than kernels: large tensors repeat them, at a period that is prime. */
SUPPORT void fill_family(const aclpy_kernel *k, const shape3 *s, buffer *in, double scale) {
  const int64_t n = s->outer * s->n * s->inner, fresh = n < 65537 ? n : 65537;
  for (int64_t i = 0; i < fresh; ++i) element_set(k->dtype, in[0].data, i, scale * random_normal());
  repeat_(in[0].data, fresh, n, dtype_bytes(k->dtype));
  if (!is_backward(k)) return;
  for (int64_t i = 0; i < fresh; ++i) {
    const double p = random_unit() * 2.0 / (double)s->n;
    element_set(k->dtype, in[1].data, i, is_log(k) ? log(p > 1e-30 ? p : 1e-30) : p);
  }
  repeat_(in[1].data, fresh, n, dtype_bytes(k->dtype));
}

#endif
