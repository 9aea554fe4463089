// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the user-mode Linux of Debian 12 run on processors with AMX. UML's buffer
 * for the registers of a process (FP_SIZE in arch/x86/um) is shorter than the
 * XSAVE area of these processors, but the host accepts NT_X86_XSTATE only as a
 * whole (xstateregs_set in arch/x86/kernel/fpu/regset.c). This library reads the
 * present area, overwrites its beginning with UML's bytes, and sets all of it.
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

static long set_xstate(int pid, void *type, const struct iovec *given)
{
	static char area[65536];
	struct iovec whole = { area, sizeof(area) };

	if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, type, &whole) < 0)
		return -1;
	memcpy(area, given->iov_base,
	       given->iov_len < whole.iov_len ? given->iov_len : whole.iov_len);
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
	case PTRACE_SETREGSET:
		if ((long)addr == NT_X86_XSTATE)
			return set_xstate(pid, addr, data);
		break;
	default:
		break;
	}
	return syscall(SYS_ptrace, request, pid, addr, data);
}
