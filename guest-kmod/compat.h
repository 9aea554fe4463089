/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between the kernels that fsw_ekm is meant for: Debian's 6.1 and 6.12. */
#ifndef FSW_COMPAT_H
#define FSW_COMPAT_H

#include <linux/version.h>

/*
 * Since a7526fe8b94e ("mm, slab: put should_failslab() back behind
 * CONFIG_SHOULD_FAILSLAB", 6.11) a kernel that is not built to test itself has no
 * function that all allocations from a slab go through; probe.c has the
 * allocator's own too. Of those that take a node, one more argument, the bucket,
 * comes before the flags since b32801d1255b ("mm/slab: Introduce
 * kmem_buckets_create() and family", 6.11).
 */
#ifdef CONFIG_SLAB_BUCKETS
#define FSW_GFP_OF_NODE 3
#else
#define FSW_GFP_OF_NODE 2
#endif

/*
 * Since b951aaff5035 ("mm: enable page allocation tagging", 6.10) the allocator's
 * functions have another name, and the old one is a macro.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define FSW_ALLOC_PAGES "__alloc_pages_noprof"
#else
#define FSW_ALLOC_PAGES "__alloc_pages"
#endif

#endif
