package explore_test

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/exploretest"
	"fsward/explore/ramdisk"
)

// An unasked is a pair that asks for nothing: every recovered state is right.
type unasked struct{ pair }

func (unasked) Check(*explore.Env, explore.Crash) error { return nil }

// forgetting is a journaled component with a recovery that drops the commit in its journal.
type forgetting struct{ *twoWays }

func (f forgetting) Recover(*explore.Env) error { return f.write(full, 0) }

// committedPair returns the tree that the recovery of a journaled component must give: its home
// sectors, or their copies if the journal is full.
func committedPair(s *crash.State) (*explore.CommittedTree, error) {
	var disk [64 << 10]byte
	if _, err := s.ReadAt(disk[:], 0); err != nil {
		return nil, err
	}
	tree := &explore.CommittedTree{Commit: 9, Entries: map[string]agent.Entry{
		".": {Path: ".", Mode: unix.S_IFDIR | 0o755, Links: 2}}}
	for i, path := range []string{"file0", "file1"} {
		at := homes + 8*i
		if disk[full] != 0 {
			at = copies + i
		}
		if disk[at*ramdisk.SectorSize] != 0 {
			tree.Entries[path] = agent.Entry{Path: path, Mode: unix.S_IFREG | 0o644, Links: 1, Size: 512}
		}
	}
	return tree, nil
}

// TestCommitLost checks that a recovery that drops a commit is an error if the commit is known,
// although no checker asks for it. A recovery that keeps it is none, and one without a known commit
// is counted.
func TestCommitLost(t *testing.T) {
	unread := func(*crash.State) (*explore.CommittedTree, error) { return nil, errors.New("unread") }
	for _, c := range []struct {
		name    string
		forgets bool
		read    explore.ReadCommitted
		want    string
		known   bool
	}{
		{"kept", false, committedPair, "", true},
		{"dropped", true, committedPair, "commit lost", true},
		{"dropped, and not compared", true, nil, "", false},
		{"dropped, and not read", true, unread, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, j := journal(t)
			w := &twoWays{journaled: j}
			perform := j.s.Perform
			j.s.Perform = func(s *exploretest.System, op agent.Op) agent.Result {
				if op.Code != agent.Tree("").Code {
					return perform(s, op)
				}
				entries := w.tree()
				for i := range entries {
					entries[i].Inode = 0
				}
				return agent.Result{Data: agent.EncodeTree(entries)}
			}
			cfg.Stack = explore.Stack{Top: w, Checker: unasked{pair{journaled: j}}}
			if c.forgets {
				cfg.Stack.Top = forgetting{w}
			}
			cfg.ReadCommitted = c.read
			got, sum := kinds(t, cfg)
			if strings.Join(got, " ") != c.want {
				t.Fatalf("found %q, want %q", got, c.want)
			}
			if known := sum.CommitKnown > 0; known != c.known {
				t.Errorf("%d recoveries were compared with a commit", sum.CommitKnown)
			}
			if unknown := sum.CommitUnknown > 0; unknown != (c.read != nil && !c.known) {
				t.Errorf("%d recoveries have no known commit", sum.CommitUnknown)
			}
			if c.want == "" {
				return
			}
			e := readError(t, cfg, sum, 0)
			const text = "file0: by the commit, it has inode 0, mode 0100644, 1 links, owner 0:0, " +
				"512 bytes; after the recovery, it does not exist"
			if e.Property != explore.Committed || !strings.Contains(e.Summary, text) {
				t.Errorf("property %q, summary %q", e.Property, e.Summary)
			}
			if kind := replay(t, cfg, e); kind != c.want {
				t.Errorf("the replay shows %q", kind)
			}
		})
	}
}

// TestCommitWithLog checks that entries that the log of fsync may change are not compared: logged
// inodes, the names that it gives them, and everything below them.
func TestCommitWithLog(t *testing.T) {
	entry := func(inode uint64, mode uint32) agent.Entry {
		return agent.Entry{Inode: inode, Mode: mode}
	}
	c := &explore.CommittedTree{
		Entries: map[string]agent.Entry{".": entry(256, unix.S_IFDIR), "logged": entry(257, unix.S_IFDIR),
			"logged/f": entry(258, 0), "other": entry(259, 0), "renamed": entry(260, 0)},
		Touched: func(inode, dir uint64, text string) bool {
			return inode == 257 || dir == 256 && text == "renamed"
		},
	}
	got := map[string]agent.Entry{".": entry(256, unix.S_IFDIR), "other": entry(259, 0)}
	if text := c.Differences(got); text != "" {
		t.Errorf("the log explains this: %s", text)
	}
	delete(got, "other")
	if text := c.Differences(got); !strings.HasPrefix(text, "other: by the commit, ") ||
		strings.Contains(text, "\n") {
		t.Errorf("the log does not explain the loss of other: %q", text)
	}
}

// The contents of a file are compared if they are known. Contents that the commit names and that
// are not on the disk are a difference, whatever the recovery gives.
func TestCommitContents(t *testing.T) {
	file := func(sum byte) agent.Entry {
		return agent.Entry{Path: "f", Mode: unix.S_IFREG, Size: 5, Sum: [32]byte{sum}}
	}
	for _, row := range []struct {
		name   string
		known  bool
		damage string
		got    agent.Entry
		want   string // in the difference; "": there is none
	}{
		{"equal", true, "", file(1), ""},
		{"other contents", true, "", file(2), "with the sum 01000000; after the recovery"},
		{"other contents, unknown", false, "", file(2), ""},
		{"not on the disk", false, "nothing was written", file(1), "before it, nothing was written"},
	} {
		c := &explore.CommittedTree{Entries: map[string]agent.Entry{"f": file(1)},
			Contents: map[string]bool{"f": row.known}, Damage: map[string]string{"f": row.damage}}
		text := c.Differences(map[string]agent.Entry{"f": row.got})
		if (text == "") != (row.want == "") || !strings.Contains(text, row.want) {
			t.Errorf("%s: %q, want %q", row.name, text, row.want)
		}
	}
}
