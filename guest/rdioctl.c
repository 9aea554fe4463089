// SPDX-License-Identifier: GPL-2.0
/*
 * Checks fsw_ramdisk by ioctl(2). It leaves disk 3 with a page and a snapshot,
 * which rdcheck then checks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "../ramdisk/fsw_ramdisk.h"

static int failed;

static void check(const char *what, int ok)
{
	if (ok)
		return;
	fprintf(stderr, "%s: errno %d\n", what, errno);
	failed = 1;
}

int main(void)
{
	struct fsw_rd_hello hello = {};
	struct fsw_rd_disk disk = { .disk = 3, .bytes = 8 << 20 };
	struct fsw_rd_snapshot snapshot = { .disk = 3, .name = "s" };
	struct fsw_rd_page page = { .disk = 3, .page = 5 }, again = page;
	struct fsw_rd_changed changed = { .disk = 3, .name = "s" };
	int fd = open("/dev/fsw_ramdisk", O_RDWR);

	check("open", fd >= 0);
	check("hello", !ioctl(fd, FSW_RD_IOC_HELLO, &hello) &&
	      hello.abi == FSW_RD_ABI && !hello.disks);
	check("disk", !ioctl(fd, FSW_RD_IOC_DISK, &disk));
	check("snapshot", !ioctl(fd, FSW_RD_IOC_SNAPSHOT, &snapshot));
	memset(page.data, 7, sizeof(page.data));
	check("page set", !ioctl(fd, FSW_RD_IOC_PAGE_SET, &page));
	check("page get", !ioctl(fd, FSW_RD_IOC_PAGE_GET, &again) &&
	      !memcmp(&page, &again, sizeof(page)));
	check("changed", !ioctl(fd, FSW_RD_IOC_CHANGED, &changed) &&
	      changed.count == 1 && changed.pages[0] == 5);
	check("restore", !ioctl(fd, FSW_RD_IOC_RESTORE, &snapshot) && snapshot.pages == 1);
	check("restored", !ioctl(fd, FSW_RD_IOC_PAGE_GET, &again) && !again.data[0]);
	check("page set again", !ioctl(fd, FSW_RD_IOC_PAGE_SET, &page));
	check("a disk twice", ioctl(fd, FSW_RD_IOC_DISK, &disk) == -1 && errno == EEXIST);
	check("no such command", ioctl(fd, _IO(0xf5, 99)) == -1 && errno == ENOTTY);
	check("no struct", ioctl(fd, FSW_RD_IOC_HELLO, NULL) == -1 && errno == EFAULT);
	check("another struct", ioctl(fd, _IOW(0xf5, 1, int), &disk) == -1 && errno == ENOTTY);
	return failed;
}
