package explore

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// TestUnmountThenRead checks that a file is read with the unmount, and again if that is too old.
func TestUnmountThenRead(t *testing.T) {
	unmount := one(agent.Unmount("/mnt", 0))
	read := one(agent.Open(0, "/proc/x", unix.O_RDONLY, 0), agent.Read(0, 0, agent.MaxData))
	for _, row := range []struct {
		name     string
		requests [][]agent.Op // nil: a command
		want     string
	}{
		{"with the unmount", requests(unmount, read), "umount open read"},
		{"another unmount", requests(one(agent.Unmount("/other", 0)), read), "umount; open read"},
		{"something in between", requests(unmount, one(agent.Sync()), read),
			"umount open read; sync; open read"},
		{"a command in between", requests(unmount, nil, read), "umount open read; command; open read"},
	} {
		machine := new(scripted)
		u := &unmountThenRead{System: machine, top: "/mnt", file: "/proc/x"}
		for _, ops := range row.requests {
			if ops == nil {
				_, _ = u.Run(t.Context(), agent.Command{})
				continue
			}
			done, err := u.Do(t.Context(), agent.Batch{Ops: ops})
			if err != nil || len(done.Results) != len(ops) {
				t.Errorf("%s: %+v, %v", row.name, done, err)
			}
		}
		if got := strings.Join(machine.batches, "; "); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
