/* SPDX-License-Identifier: Apache-2.0
 * Which sanitizer a harness runs under: SANITIZED, THREAD_SANITIZED.
 */
#ifndef TESTS_SANITIZERS_H
#define TESTS_SANITIZERS_H

/* Sanitizers make everything slower; counts that only matter for speed shrink. A harness that is not instrumented
 * itself is told by the build (tests/native/sanitize.mk). */
#if defined(SANITIZED)
#elif defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif
#if defined(THREAD_SANITIZED)
#elif defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZED 1
#endif
#endif
#ifndef THREAD_SANITIZED
#define THREAD_SANITIZED 0
#endif

#endif
