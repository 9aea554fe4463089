package child

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// start starts a command on the processors of a slot.
func (r *Runner) start(cmd *exec.Cmd, slot int) error {
	if len(r.CPUs) == 0 {
		return cmd.Start()
	}
	// A process begins on the processors of the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	for _, cpu := range r.CPUs[slot%len(r.CPUs)] {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("the processors %v: %w", r.CPUs[slot%len(r.CPUs)], err)
	}
	return errors.Join(cmd.Start(), unix.SchedSetaffinity(0, &before))
}

// maxCPU is the number of processors that a set can have.
const maxCPU = 1024

// ParseCPUs reads a list of processors such as 0-3,8 and divides it among slots. If there are more
// slots than processors, slots share one.
func ParseCPUs(text string, slots int) ([][]int, error) {
	if text == "" {
		return nil, nil
	}
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err := errors.Join(err1, err2); err != nil || from < 0 || to < from || to >= maxCPU {
			return nil, fmt.Errorf("the processors %q: want a list such as 0-3,8", text)
		}
		for cpu := from; cpu <= to; cpu++ {
			all = append(all, cpu)
		}
	}
	parts := make([][]int, slots)
	for i := range parts {
		if len(all) < slots {
			parts[i] = []int{all[i%len(all)]}
		} else {
			parts[i] = all[i*len(all)/slots : (i+1)*len(all)/slots]
		}
	}
	return parts, nil
}
