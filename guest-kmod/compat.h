/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between the kernels that fsw_ekm is meant for: Debian's 6.1 and 6.12. */
#ifndef FSW_COMPAT_H
#define FSW_COMPAT_H

#include <linux/version.h>

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
