package checkers

import (
	"testing"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// TestWorkloadKey checks that expectations have the same key exactly if no recovered tree can tell
// them apart.
func TestWorkloadKey(t *testing.T) {
	key := func(change func(*agent.Entry), names ...string) string {
		entry := agent.Entry{Path: "foo", Mode: 0o100644, Links: 1, Size: 7, Blocks: 2, Inode: 12,
			Mtime: 1e18, Ctime: 1e18}
		change(&entry)
		s := &workloadState{durableState: durableState{FS: model.New(model.Promises{})},
			kept: map[string]agent.Entry{"foo": entry}, names: names}
		return s.Key()
	}
	same := key(func(*agent.Entry) {}, "foo")
	if later := key(func(e *agent.Entry) { e.Mtime++; e.Ctime += 5e9 }, "foo"); later != same {
		t.Error("other times give another key")
	}
	for name, change := range map[string]func(*agent.Entry){
		"size": func(e *agent.Entry) { e.Size++ }, "mode": func(e *agent.Entry) { e.Mode++ },
		"inode": func(e *agent.Entry) { e.Inode++ }, "blocks": func(e *agent.Entry) { e.Blocks++ },
		"content": func(e *agent.Entry) { e.Sum[3]++ }, "target": func(e *agent.Entry) { e.Target = "a" },
		"owner": func(e *agent.Entry) { e.UID++ },
	} {
		if key(change, "foo") == same {
			t.Errorf("another %s gives the same key", name)
		}
	}
	if key(func(*agent.Entry) {}, "foo", "bar") == same {
		t.Error("other names give the same key")
	}
}
