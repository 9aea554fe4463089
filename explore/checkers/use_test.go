package checkers

import (
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
)

// TestUseWithoutRepair checks that what is read-only after a crash is not used.
func TestUseWithoutRepair(t *testing.T) {
	c := &Core{At: fakeAt, Promises: model.Promises{NoRepair: true}}
	root := map[string]agent.Entry{"/": {Mode: unix.S_IFDIR | 0o755}}
	if err := c.use(new(explore.Env), root, nil, false); err != nil { // the Env can perform nothing
		t.Error(err)
	}
}
