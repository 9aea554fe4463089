//go:build vmtest

package host

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/ekm"
	"fsward/explore/machine"
)

// frail is a file system that a failed mount destroys.
type frail struct{ *component.Component }

func (f frail) Mount(e *explore.Env) error {
	err := f.Component.Mount(e)
	if err == nil || e.Err() != nil {
		return err
	}
	_, wrong := e.Do(agent.Open(0, f.On[0].Path(), unix.O_WRONLY, 0),
		agent.Write(0, 1024, make([]byte, 1024)), agent.Fsync(0))
	if wrong != nil {
		return wrong
	}
	return err
}

// fileOnce is a checker: a file that was written and synced is there after a crash.
type fileOnce struct{ syncedFile }

func (c fileOnce) Mutate(e *explore.Env) error {
	if err := e.Sh("echo test > %s/file", c.at); err != nil {
		return err
	}
	if err := e.Sync(); err != nil {
		return err
	}
	return e.CheckCrashesNow(nil)
}

// TestGuestFaultInMount checks that a mount which destroys the file system if one of its reads
// fails is found, and that ext3 is not. Allocations do not fail: with them, Linux 6.1 has warned in
// remove_proc_entry.
func TestGuestFaultInMount(t *testing.T) {
	inGuest(t, 10*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		c, _ := exploreStack(t, "ext3")
		for _, top := range []explore.Component{c, frail{c}} {
			_, planted := top.(frail)
			cfg := explore.Config{System: m, Dir: t.TempDir(), Strategy: explore.BreadthFirst, Depth: 1,
				Stack:     explore.Stack{Top: top, Checker: fileOnce{syncedFile{at: c.Path()}}},
				MaxFaults: 1, FailPoints: []ekm.Point{ekm.BufferRead},
				Crash: crash.Options{Limit: 4}}
			sum, err := explore.Run(ctx, cfg)
			if err != nil {
				return err
			}
			t.Logf("planted %v: %d faults in mounts, %d recoveries, %.1f s, %+v", planted,
				sum.MountFaults, sum.Recovered, sum.Seconds, sum.Errors)
			switch {
			case sum.MountFaults == 0 || planted != (len(sum.Errors) > 0):
				t.Errorf("planted %v: %+v", planted, sum)
			case planted && (sum.Errors[0].Shown == 0 ||
				!strings.Contains(sum.Errors[0].Summary, "had failed in a mount or unmount")):
				t.Errorf("planted: %+v", sum.Errors[0])
			}
		}
		return nil
	})
}
