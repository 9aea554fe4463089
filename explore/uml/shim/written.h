/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FSWARD_UML_WRITTEN_H
#define FSWARD_UML_WRITTEN_H

#include <stdint.h>

#define DISKS 16 /* explore/uml.MaxDisks */

/* map_file() - map the file that an environment variable names; NULL: it is not set. */
void *map_file(const char *variable, uint64_t *bytes);

/* disk_of() - the number of the disk that a file descriptor is open on; -1: it is no disk. */
int disk_of(int fd);

/* note_written() - note that a disk is written, from a byte on. */
void note_written(int disk, uint64_t from, uint64_t bytes);

#endif
