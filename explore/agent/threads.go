package agent

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/ekm"
)

// Threads of the kernel, and Flusher, that run when it is their turn. For threads the module fsw_ekm has to be loaded, which remembers from one
// request to the next what is held; else ENOENT or ENXIO.

// HoldThread has a thread run only when nobody else wants to, as ekm.Control.Hold does. Data is its name.
func HoldThread(pid uint32) Op { return Op{Code: opHoldThread, a: uint64(pid)} }

// RunThread lets a thread that is held run before all others, until it did or wait is over. Value is 1 if it ran.
func RunThread(pid uint32, wait time.Duration) Op {
	return Op{Code: opRunThread, a: uint64(pid), b: uint64(wait.Milliseconds())}
}

// ReleaseThread ends HoldThread.
func ReleaseThread(pid uint32) Op { return Op{Code: opReleaseThread, a: uint64(pid)} }

// StrayThreads asks which threads ran though they were held, since they were or since this was last asked. Data is for DecodeNumbers: their
// PIDs.
func StrayThreads() Op { return Op{Code: opStrayThreads} }

// SettleThreads waits until the threads that are held sleep, and forgets that they ran.
func SettleThreads() Op { return Op{Code: opSettleThreads} }

// Threads that are held sleep when none has run for settleQuiet. One that does not come to rest is left to itself after settleMost.
const (
	settleQuiet = 2 * time.Millisecond
	settleMost  = time.Second
)

// threadOps performs operations on threads.
type threadOps struct{ ctl *ekm.Control }

func (t *threadOps) close() {
	if t.ctl != nil {
		_ = t.ctl.Close()
	}
}

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
		return one(ran), nil, err
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
		return one(ran), nil, err
	case opReleaseThread:
		err = t.ctl.Release(pid)
	case opStrayThreads:
		var strayed []ekm.Strayed
		_, strayed, err = t.ctl.Stray()
		for _, s := range strayed {
			data = appendNumber(data, uint64(s.PID))
		}
	case opSettleThreads:
		err = t.settle()
	default:
		err = unix.ENOSYS
	}
	return value, data, err
}

func one(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

func (t *threadOps) settle() error {
	for begin := time.Now(); ; {
		time.Sleep(settleQuiet)
		_, strayed, err := t.ctl.Stray()
		if err != nil || len(strayed) == 0 {
			return err
		}
		if time.Since(begin) > settleMost {
			return nil
		}
	}
}

// EncodeThreads makes the Data of StrayThreads, for machines that are no guests.
func EncodeThreads(pids []uint32) (data []byte) {
	for _, pid := range pids {
		data = appendNumber(data, uint64(pid))
	}
	return data
}
