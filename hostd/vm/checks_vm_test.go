//go:build vmtest

package vm

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// checkGuest boots a guest whose script of this name checks one of our kernel modules, and fails
// the test for each check that did not pass. It returns the guest's measurements, by check.
func checkGuest(t *testing.T, script, dir string, processors uint, disks []Disk,
	checks ...string) (facts map[string][]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	kernel, initramfs := guestFiles(t)
	h := connect(ctx, t, filepath.Join(dir, "run"))
	var log transcript
	d, err := h.Start(ctx, Config{Name: "fsward-" + script, Kernel: kernel, Initramfs: initramfs,
		VCPUs:   processors,
		Cmdline: "fsward.script=" + script + " fsward.checks=" + strings.Join(checks, ","), Disks: disks,
		Console: filepath.Join(dir, "console"), OnLine: log.add})
	if err != nil {
		t.Fatal(err)
	}
	end, err := d.Wait(ctx)
	if err != nil || !end.Clean() {
		t.Fatalf("the guest ended with %v, %v; %s", end, err, d.where())
	}
	for _, name := range checks {
		if _, ok := log.when("FSWARD: check " + name + " ok"); !ok {
			t.Errorf("check %s did not pass; %s", name, d.where())
		}
	}
	log.healthy(t)
	facts = make(map[string][]string)
	for _, line := range log.lines {
		_, text, ours := strings.Cut(line, "FSWARD: ")
		if rest, ok := strings.CutPrefix(text, "fact "); ours && ok {
			name, fact, _ := strings.Cut(strings.TrimSpace(rest), ": ")
			facts[name] = append(facts[name], fact)
			t.Logf("%s: %s", name, fact)
		} else if ours && strings.HasPrefix(text, "error ") {
			t.Log(strings.TrimSpace(text))
		}
	}
	return facts
}
