// SPDX-License-Identifier: Apache-2.0
/*
 * Makes checksums right, as Seals.Mend of package fieldmap does. A line of the
 * file of checksums has its kind, the address and width of its field, the
 * address and length of the bytes, a seed, the address of four bytes that are
 * summed first (0: none), the number of low bits that are left out, the number
 * of bytes that the checksum fills (0: its field), and 1 if it is big-endian.
 */
#include "seals.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MAX_SEALS 65536

struct seal {
	char kind[16];
	unsigned long off, from, len, prefix;
	unsigned int width, seed, shift, repeat, big;
};

static struct seal seals[MAX_SEALS];
static unsigned char mended[MAX_SEALS];
static unsigned int n_seals;
static uint32_t ieee[256], castagnoli[256];

static void make_table(uint32_t *table, uint32_t polynomial)
{
	unsigned int i, k;

	for (i = 0; i < 256; i++) {
		table[i] = i;
		for (k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? polynomial : 0);
	}
}

const char *read_seals(const char *path, size_t size)
{
	struct seal *s = seals;
	FILE *f = fopen(path, "r");

	if (!f)
		return "the list of checksums cannot be opened";
	make_table(ieee, 0xedb88320);
	make_table(castagnoli, 0x82f63b78);
	while (n_seals < MAX_SEALS &&
	       fscanf(f, "%15s %lu %u %lu %lu %u %lu %u %u %u", s->kind, &s->off, &s->width,
		      &s->from, &s->len, &s->seed, &s->prefix, &s->shift, &s->repeat,
		      &s->big) == 10) {
		if (s->from + s->len > size || s->prefix + 4 > size ||
		    s->off + (s->repeat > s->width ? s->repeat : s->width) > size) {
			fclose(f);
			return "a checksum is outside of the image";
		}
		s++;
		n_seals++;
	}
	fclose(f);
	return NULL;
}

/*
 * crc continues a CRC over n bytes. The bytes at the holes count as zeros; a
 * hole that the bytes do not have is -1.
 */
static uint32_t crc(const uint32_t *table, uint32_t sum, const unsigned char *b, unsigned long n,
		    const long *holes, unsigned int n_holes)
{
	unsigned long i;
	unsigned int k;
	unsigned char v;

	for (i = 0; i < n; i++) {
		v = b[i];
		for (k = 0; k < n_holes; k++)
			if ((long)i == holes[k])
				v = 0;
		sum = table[(sum ^ v) & 0xff] ^ sum >> 8;
	}
	return sum;
}

/* exfat is one of exFAT's two sums, of 32 bits and of 16 bits. */
static uint32_t exfat(const unsigned char *b, unsigned long n, int boot)
{
	uint16_t small = 0;
	uint32_t sum = 0;
	unsigned long i;

	for (i = 0; i < n; i++) {
		if (boot && i != 106 && i != 107 && i != 112)
			sum = (sum << 31 | sum >> 1) + b[i];
		if (!boot && i != 2 && i != 3)
			small = (small << 15 | small >> 1) + b[i];
	}
	return boot ? sum : small;
}

static uint32_t sum_of(const struct seal *s, const unsigned char *image)
{
	const unsigned char *b = image + s->from;
	long at = s->off - s->from;
	long holes[4] = { at, at + 1, at + 2, at + 3 };
	uint32_t seed = s->seed;

	if (s->prefix)
		seed = crc(castagnoli, seed, image + s->prefix, 4, NULL, 0);
	if (!strcmp(s->kind, "crc32c"))
		return ~crc(castagnoli, ~0U, b, s->len, holes, 4);
	if (!strcmp(s->kind, "crc32_seeded")) {
		unsigned long n = at < 0 ? 0 : at;

		return crc(ieee, seed, b, n < s->len ? n : s->len, NULL, 0);
	}
	if (!strcmp(s->kind, "crc32c_seeded"))
		return crc(castagnoli, seed, b, s->len, NULL, 0);
	if (!strcmp(s->kind, "ext4_group"))
		return crc(castagnoli, seed, b, s->len, holes, 2);
	if (!strcmp(s->kind, "ext4_inode")) {
		long halves[4] = { 124, 125, 130, 131 };
		int upper = s->len > 132 && (b[128] | b[129] << 8) >= 4;

		return crc(castagnoli, seed, b, s->len, halves, upper ? 4 : 2);
	}
	return exfat(b, s->len, !strcmp(s->kind, "exfat_boot"));
}

static int overlap(unsigned long a, unsigned long n, unsigned long b, unsigned long m)
{
	return a < b + m && b < a + n;
}

static void write_sum(const struct seal *s, unsigned char *image)
{
	uint32_t value = sum_of(s, image) >> s->shift;
	unsigned int n = s->repeat > s->width ? s->repeat : s->width, i, byte;

	for (i = 0; i < n; i++) {
		byte = i % s->width;
		if (s->big)
			byte = s->width - 1 - byte;
		image[s->off + i] = byte < 4 ? value >> 8 * byte : 0;
	}
}

/* covers reports whether a checksum is over bytes. */
static int covers(const struct seal *s, unsigned long off, unsigned int width)
{
	return overlap(s->from, s->len, off, width) ||
	       (s->prefix && overlap(s->prefix, 4, off, width));
}

void mend(unsigned char *image, const struct change *changes, unsigned int n)
{
	unsigned int i, k;
	int set, over;

	for (i = 0; i < n_seals; i++) {
		for (k = set = over = 0; k < n; k++) {
			set |= overlap(seals[i].off, seals[i].width, changes[k].off,
				       changes[k].width);
			over |= covers(&seals[i], changes[k].off, changes[k].width);
		}
		for (k = 0; k < i && !over; k++)
			over = mended[k] && covers(&seals[i], seals[k].off, seals[k].width);
		mended[i] = over && !set;
		if (mended[i])
			write_sum(&seals[i], image);
	}
}
