/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of an image that are made right after fields are set. */
#ifndef SEALS_H
#define SEALS_H

#include <stddef.h>

struct change { unsigned long off; unsigned int width; };

/* read_seals reads lines of checksums for an image of size bytes, and returns NULL or an error. */
const char *read_seals(const char *path, size_t size);

/* mend makes the checksums over changes of the image right, except those that changes set. */
void mend(unsigned char *image, const struct change *changes, unsigned int n);

#endif
