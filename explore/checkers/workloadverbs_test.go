package checkers

import (
	"slices"
	"testing"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// A workload with each verb that only people write agrees with the model.
func TestWorkloadVerbs(t *testing.T) {
	sum := runWorkloads(t, "",
		"creat foo; chmod foo 700; sync; chmod foo 755; fsync foo",
		"setxattr foo a; setxattr foo b; fsync foo; removexattr foo a; fsync foo",
		"write foo append; sync_file_range foo block; fsync foo",
		"write foo append; clone foo block bar 4096; fsync bar",
		"write A/foo append; fsync A/foo; orphan A/foo; write A/foo start; fsync A/foo; "+
			"creat A/foo; sync",
		"write foo append; creat A/bar; sync; exchange foo A/bar; write A/bar start; fsync A; "+
			"fsync A/bar; exchange A B; sync",
		"write foo append; snapshot / A; write foo start; fsync foo; write A/foo end; fsync A/foo; "+
			"snapshot A B; delete_subvolume A; fsync /; rename B A; sync",
		"write foo 0 65536; falloc foo collapse 4096 8192; fsync foo; falloc foo insert 0 4096; sync",
		"chattr foo =C; write foo append; fsync foo; truncate foo 0; chattr foo =; chattr foo =c; "+
			"write foo append; fsync foo")
	if sum.Runs != 9 || !sum.Complete || len(sum.Errors) > 0 || sum.CrashStates == 0 {
		t.Errorf("%+v", sum)
	}
}

// A write that is longer than the agent takes is made of several.
func TestLongWrite(t *testing.T) {
	r := newWorkloadRun(&Core{})
	var lengths []uint64
	end := uint64(1000)
	for _, o := range r.writes(model.Write, model.Op{Off: end, Len: 2*agent.MaxData + 5}) {
		if o.Off != end || o.Code != model.Write {
			t.Errorf("%v, want it at %d", o, end)
		}
		lengths, end = append(lengths, o.Len), end+o.Len
	}
	if want := []uint64{agent.MaxData, agent.MaxData, 5}; !slices.Equal(lengths, want) {
		t.Errorf("lengths %d, want %d", lengths, want)
	}
}

// What a new verb changes is checked after a crash.
func TestWorkloadVerbsFindBugs(t *testing.T) {
	for bug, workload := range map[string]string{
		"chmod not journaled":            "creat foo; sync; chmod foo 700; fsync foo",
		"setxattr not journaled":         "creat foo; sync; setxattr foo a; fsync foo",
		"unlink not journaled":           "creat foo; sync; orphan foo; fsync foo; creat bar; sync",
		"exchange not journaled":         "creat foo; write bar append; sync; exchange foo bar; fsync /",
		"removexattr not journaled":      "setxattr foo a; sync; removexattr foo a; fsync foo",
		"setflags not journaled":         "creat foo; sync; chattr foo =d; fsync foo",
		"snapshot not journaled":         "write foo append; sync; snapshot / A; fsync /",
		"delete_subvolume not journaled": "snapshot / A; sync; delete_subvolume A; fsync /",
	} {
		if sum := runWorkloads(t, bug, workload); sum.Broken() == 0 {
			t.Errorf("%s is not found: %+v", bug, sum)
		}
	}
}
