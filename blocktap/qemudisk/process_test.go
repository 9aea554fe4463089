package qemudisk

import (
	"bufio"
	"os/exec"
	"testing"
)

// TestStopIsRepeated stops a process that ignores the first requests to end, as a
// qemu-storage-daemon does that gets one between the look at its flag and its sleep.
func TestStopIsRepeated(t *testing.T) {
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.Command("sh", "-c",
		"trap 'n=$((n + 1)); [ $n -lt 3 ] || exit 0' TERM; echo ready; while :; do sleep 0.01; done")
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.run(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	if err := p.stop(); err != nil || p.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("stopped: %v, %v; want exit status 0", err, p.cmd.ProcessState)
	}
}
