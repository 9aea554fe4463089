package guard_test

import (
	"testing"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
)

// TestDataOrdered checks data=ordered: the commits of a kernel that mounts so hold, and commits
// whose data comes later are refused.
func TestDataOrdered(t *testing.T) {
	// One file is synced, and the data of the others is not.
	const script = `for i in 1 2 3 4; do
		for j in 1 2 3 4 5 6; do head -c 30000 /dev/urandom > f$i.$j; done
		echo $i > synced; sync synced
	done`
	for mode, holds := range map[string]bool{"ordered": true, "journal": true, "writeback": false} {
		t.Run(mode, func(t *testing.T) {
			r := guardtest.Attach(t, guardtest.Mkfs(t, "ext3", 64<<20),
				func(c *guard.Config) { c.DataOrdered = true })
			r.MustMount("ext3", "data="+mode)
			if holds {
				r.MustRun(script)
				r.NoAlarm()
				return
			}
			if out, err := r.Run(t.Context(), script); err == nil {
				t.Errorf("the commits passed: %s", out)
			}
			for _, ev := range r.Seen.Events() {
				if ev.Outcome == change.Violated {
					if len(ev.Violations) != 1 || ev.Violations[0].Rule != "ext3/data-order" {
						t.Errorf("refused for %v", ev.Violations)
					}
					return
				}
			}
			t.Error("no commit was refused")
		})
	}
}
