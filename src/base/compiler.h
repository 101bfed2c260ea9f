/* SPDX-License-Identifier: MIT */
/* The few compiler words that every floor uses. */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define noinline __attribute__((noinline))

/* Prefetchers complete pairs of lines: what must not be shared keeps 128 bytes apart (E1). */
#define PAIR_SIZE 128
#define pair_aligned __attribute__((aligned(PAIR_SIZE)))

#define array_size(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)((uintptr_t)(ptr)-offsetof(type, member)))

#define load_relaxed(ptr) __atomic_load_n(ptr, __ATOMIC_RELAXED)
#define load_acquire(ptr) __atomic_load_n(ptr, __ATOMIC_ACQUIRE)
#define load_seq(ptr) __atomic_load_n(ptr, __ATOMIC_SEQ_CST)
#define store_relaxed(ptr, v) __atomic_store_n(ptr, v, __ATOMIC_RELAXED)
#define store_release(ptr, v) __atomic_store_n(ptr, v, __ATOMIC_RELEASE)
#define store_seq(ptr, v) __atomic_store_n(ptr, v, __ATOMIC_SEQ_CST)
#define atomic_add(ptr, v) __atomic_add_fetch(ptr, v, __ATOMIC_SEQ_CST) /* returns the new value */
#define atomic_sub(ptr, v) __atomic_sub_fetch(ptr, v, __ATOMIC_SEQ_CST) /* returns the new value */
#define atomic_xchg(ptr, v) __atomic_exchange_n(ptr, v, __ATOMIC_SEQ_CST)
#define atomic_cas(ptr, old, v) __atomic_compare_exchange_n(ptr, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

#if defined(__SANITIZE_THREAD__)
#define SANITIZE_THREAD 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZE_THREAD 1
#endif
#endif

#endif
