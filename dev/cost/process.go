package cost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpu returns the processor time of this process, of all its threads.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// ResetPeak makes Peak count from now on.
func ResetPeak() {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // fails in some containers
}

// Peak returns the largest resident memory of this process since ResetPeak, in KiB; 0 if unknown.
func Peak() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	word, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	kib, _ := strconv.ParseInt(word, 10, 64)
	return kib
}

// Child runs this program again with other arguments, so that a measurement has a process of its
// own, and reads the JSON that it prints into result.
func Child(ctx context.Context, result any, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Minute
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w: %.2000s", err, &stderr)
	}
	return json.Unmarshal(out, result)
}
