/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between the kernels that fsw_ekm supports: 6.1 and 6.12 of Debian. */
#ifndef FSW_COMPAT_H
#define FSW_COMPAT_H

#include <linux/version.h>

/*
 * Since a7526fe8b94e ("mm, slab: put should_failslab() back behind
 * CONFIG_SHOULD_FAILSLAB", 6.11) a kernel that is not built to test itself has no
 * function that all slab allocations call. So probe.c also lists the functions of
 * the allocator. Since b32801d1255b ("mm/slab: Introduce kmem_buckets_create() and
 * family", 6.11) those that take a node have one more argument, the bucket, before
 * the flags.
 */
#ifdef CONFIG_SLAB_BUCKETS
#define FSW_GFP_OF_NODE 3
#else
#define FSW_GFP_OF_NODE 2
#endif

/*
 * Since b951aaff5035 ("mm: enable page allocation tagging", 6.10) the functions of
 * the allocator have other names, and the old names are macros.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define FSW_ALLOC_PAGES "__alloc_pages_noprof"
#else
#define FSW_ALLOC_PAGES "__alloc_pages"
#endif

#endif
