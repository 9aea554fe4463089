package main

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// The class of I/O that the kernel performs only if nobody else waits for the disk.
const (
	ioprioWhoProcess = 1
	ioprioIdle       = 3 << 13
)

// beIdle gives this process the processor and the disk only when nobody else wants them, and lets
// the kernel end it first if memory is short.
func beIdle() error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	var errs []error
	for _, t := range tasks { // a thread that begins later inherits
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		errs = append(errs, unix.SchedSetAttr(tid,
			&unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0))
		_, _, errno := unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoProcess, uintptr(tid), ioprioIdle)
		if errno != 0 {
			errs = append(errs, errno)
		}
	}
	errs = append(errs, idleSession(), os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0))
	return errors.Join(errs...)
}

// idleSession gives the session the lowest priority, if it is that of this process alone. With
// autogroups Linux divides the processor among sessions, so that an idle process would still take
// from what its own session gets.
func idleSession() error {
	if id, err := unix.Getsid(0); err != nil || id != os.Getpid() {
		return err
	}
	err := os.WriteFile("/proc/self/autogroup", []byte("19"), 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // the kernel has no autogroups
	}
	return err
}
