package agent

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/ekm"
)

// The operations of this file schedule threads of the kernel, and Flusher. For threads of the
// kernel they need the module fsw_ekm, which remembers the held threads from one request to the
// next. They fail with ENOENT or ENXIO if it is not loaded.

// HoldThread makes a thread run only while no other thread wants to run, as ekm.Control.Hold does.
// Data is the name of the thread.
func HoldThread(pid uint32) Op { return Op{Code: opHoldThread, a: uint64(pid)} }

// RunThread lets a held thread run before all others, until it has run or wait is over. wait is in
// milliseconds. Value is 1 if the thread ran.
func RunThread(pid uint32, wait time.Duration) Op {
	return Op{Code: opRunThread, a: uint64(pid), b: uint64(wait.Milliseconds())}
}

// ReleaseThread ends HoldThread.
func ReleaseThread(pid uint32) Op { return Op{Code: opReleaseThread, a: uint64(pid)} }

// UnscheduledThreads lists the unscheduled threads: those that ran although they were held, since
// the begin of the hold or since the last UnscheduledThreads. DecodeNumbers reads Data: their PIDs.
func UnscheduledThreads() Op { return Op{Code: opUnscheduledThreads} }

// SettleThreads waits until all held threads sleep, and clears the list of unscheduled threads.
func SettleThreads() Op { return Op{Code: opSettleThreads} }

const (
	// settleQuiet is how long no held thread must run before all of them count as asleep.
	settleQuiet = 2 * time.Millisecond
	// settleMost bounds the wait of SettleThreads. A thread may never stop running.
	settleMost = time.Second
)

// threadOps performs operations on threads.
type threadOps struct {
	ctl *ekm.Control // nil until the first operation
}

func (t *threadOps) close() {
	if t.ctl != nil {
		_ = t.ctl.Close()
	}
}

// do performs an operation. It opens the control device first if needed.
func (t *threadOps) do(o *Op) (value uint64, data []byte, err error) {
	if t.ctl == nil {
		if t.ctl, err = ekm.Open(); err != nil {
			return 0, nil, err
		}
	}
	pid := uint32(o.a)
	switch {
	case uint64(pid) != o.a:
		return 0, nil, unix.EINVAL
	case o.Code == opHoldThread && pid == Flusher:
		return 0, []byte(flusherName), holdFlusher()
	case o.Code == opRunThread && pid == Flusher:
		ran, err := runFlusher()
		return boolNumber(ran), nil, err
	case o.Code == opReleaseThread && pid == Flusher:
		return 0, nil, releaseFlusher()
	}
	switch o.Code {
	case opHoldThread:
		if data, err = os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
			data, err = []byte(strings.TrimSpace(string(data))), t.ctl.Hold(pid)
		}
	case opRunThread:
		if o.b > ekm.MaxWaitMS {
			return 0, nil, unix.EINVAL
		}
		ran, err := t.ctl.Run(pid, time.Duration(o.b)*time.Millisecond)
		return boolNumber(ran), nil, err
	case opReleaseThread:
		err = t.ctl.Release(pid)
	case opUnscheduledThreads:
		var ran []ekm.Unscheduled
		_, ran, err = t.ctl.Unscheduled()
		for _, u := range ran {
			data = appendNumber(data, uint64(u.PID))
		}
	case opSettleThreads:
		err = t.settle()
	default:
		err = unix.ENOSYS
	}
	return value, data, err
}

// settle performs SettleThreads.
func (t *threadOps) settle() error {
	for begin := time.Now(); ; {
		time.Sleep(settleQuiet)
		_, ran, err := t.ctl.Unscheduled()
		if err != nil || len(ran) == 0 {
			return err
		}
		if time.Since(begin) > settleMost {
			return nil
		}
	}
}

// EncodeThreads returns the Data of UnscheduledThreads, for a System that is not a guest.
func EncodeThreads(pids []uint32) (data []byte) {
	for _, pid := range pids {
		data = appendNumber(data, uint64(pid))
	}
	return data
}
