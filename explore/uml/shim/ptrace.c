// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the user-mode Linux of Debian 12 run on processors with AMX. UML's buffer
 * for the registers of a process (FP_SIZE in arch/x86/um) is shorter than the
 * XSAVE area of these processors, but the host accepts NT_X86_XSTATE only as a
 * whole (xstateregs_set in arch/x86/kernel/fpu/regset.c). This library reads the
 * whole area, overwrites its beginning with UML's bytes, and sets all of it.
 *
 * UML reads the area after each system call of a process, and sets it before the
 * process goes on, mostly to what it has read. Then there is nothing to set.
 *
 * For LD_PRELOAD. explore/uml/uml.go compiles it.
 */
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char area[65536]; /* the XSAVE area of a process */
static size_t area_len;
static int area_of; /* its PID, while it is stopped; 0: none */

static long get_area(int pid, void *type)
{
	struct iovec whole = { area, sizeof(area) };

	if (area_of == pid)
		return 0;
	area_of = 0;
	if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, type, &whole) < 0)
		return -1;
	area_len = whole.iov_len;
	area_of = pid;
	return 0;
}

static size_t shorter(size_t a, size_t b)
{
	return a < b ? a : b;
}

static long get_xstate(int pid, void *type, struct iovec *wanted)
{
	if (get_area(pid, type) < 0)
		return -1;
	wanted->iov_len = shorter(wanted->iov_len, area_len);
	memcpy(wanted->iov_base, area, wanted->iov_len);
	return 0;
}

static long set_xstate(int pid, void *type, const struct iovec *given)
{
	struct iovec whole = { area, 0 };
	size_t len;

	if (get_area(pid, type) < 0)
		return -1;
	len = shorter(given->iov_len, area_len);
	if (memcmp(area, given->iov_base, len) == 0)
		return 0;
	memcpy(area, given->iov_base, len);
	whole.iov_len = area_len;
	return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, type, &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
	va_list args;
	long word;
	int pid;
	void *addr, *data;

	va_start(args, request);
	pid = va_arg(args, int);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);

	switch (request) {
	case PTRACE_PEEKTEXT:
	case PTRACE_PEEKDATA:
	case PTRACE_PEEKUSER:
		if (syscall(SYS_ptrace, request, pid, addr, &word) < 0)
			return -1;
		errno = 0;
		return word;
	case PTRACE_GETREGSET:
		if ((long)addr == NT_X86_XSTATE)
			return get_xstate(pid, addr, data);
		break;
	case PTRACE_SETREGSET:
		if ((long)addr == NT_X86_XSTATE)
			return set_xstate(pid, addr, data);
		break;
	case PTRACE_GETREGS:
	case PTRACE_SETREGS:
		break;
	default:
		area_of = 0; /* the process goes on, or ends */
		break;
	}
	return syscall(SYS_ptrace, request, pid, addr, data);
}
