package explore

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// TestNamelessPromises: a sync of a file promises nothing once its name is gone.
func TestNamelessPromises(t *testing.T) {
	const held = agent.FirstHeld
	ops := []agent.Op{
		agent.Open(0, "/", unix.O_TMPFILE|unix.O_EXCL|unix.O_RDWR, 0), agent.Fsync(0), // none
		agent.Linkat(0, "/f"), agent.Fsync(0), // one
		agent.Unlink("/f"), agent.Fdatasync(0), // none
		agent.Open(1, "/g", unix.O_RDWR|unix.O_DSYNC, 0), agent.Dwrite(1, 0, 4096, 1), // one
		agent.Rename("/h", "/g", 0), agent.Fill(1, 0, 1, 1), // none
		agent.Fsync(held),                               // none: it may be gone since another batch
		agent.Open(held, "/h", 0, 0), agent.Fsync(held), // one
		agent.Msync(2, 0, 1),                                              // one
		agent.Open(0, "/", unix.O_TMPFILE|unix.O_RDWR, 0), agent.Fsync(0), // one: it may get a name
	}
	var got []int
	for i, p := range promises(ops) {
		if p.scope != 0 {
			got = append(got, i)
		}
	}
	if want := []int{3, 7, 12, 13, 15}; !slices.Equal(got, want) {
		t.Errorf("the operations %v promise something, want %v", got, want)
	}
}
