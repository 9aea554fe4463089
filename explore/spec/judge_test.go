package spec

import (
	"slices"
	"testing"
)

// TestInvariantsJudgeEveryStack: the invariants judge ext3 and Btrfs wherever they lie in a stack
// on a disk of their own, and no other file system.
func TestInvariantsJudgeEveryStack(t *testing.T) {
	var judged []string
	for _, name := range Stacks() {
		for _, fs := range []string{"ext3", "btrfs", "ext4", "xfs"} {
			s, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(s.Parameters["fs"], fs) {
				continue
			}
			if err := s.Set("fs", fs); err != nil {
				t.Fatal(err)
			}
			cfg, err := Run{Spec: s}.Config()
			if err != nil {
				t.Fatalf("%s on %s: %v", name, fs, err)
			}
			want := fs == "ext3" || fs == "btrfs"
			if got := cfg.NewJudge != nil; got != want {
				t.Errorf("%s on %s: judged by the invariants: %t", name, fs, got)
			}
			if want && !slices.Contains(judged, name) {
				judged = append(judged, name)
			}
		}
	}
	for _, name := range []string{"nfs", "redis", "vm", "git"} {
		if !slices.Contains(judged, name) {
			t.Errorf("%s was not tried: %v", name, judged)
		}
	}
}

// TestSoftOnly: a run that tries process crashes only has to try some.
func TestSoftOnly(t *testing.T) {
	s, err := Load("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, soft := range []bool{false, true} {
		_, err := Run{Spec: s, ProcessCrashes: soft, ProcessCrashesOnly: true}.Config()
		if (err == nil) != soft {
			t.Errorf("with process crashes %t: %v", soft, err)
		}
	}
}
