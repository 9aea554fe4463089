package recheck

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"fsward/explore/agent"
	"fsward/explore/audit"
	"fsward/explore/crash"
	"fsward/explore/exploretest"
	"fsward/explore/ramdisk"
)

// A memory is a disk in memory.
type memory []byte

func (m memory) Size() uint64 { return uint64(len(m)) }

func (m memory) ReadAt(p []byte, off int64) (int, error) { return copy(p, m[off:]), nil }

// check checks the states of a log of one write, "new" over "old", and returns what is wrong with
// each. sh runs the script: it gets the text that the disk has.
func check(t *testing.T,
	sh func(text string) (agent.Exit, error)) (found []*audit.Problem, err error) {
	t.Helper()
	s := exploretest.New()
	s.Perform = func(*exploretest.System, agent.Op) agent.Result {
		return agent.Result{} // mount(2) and umount(2)
	}
	s.Programs["sh"] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
		if c.Args[2] != "script" || c.Dir != At {
			t.Errorf("the command %q runs in %q", c.Args, c.Dir)
		}
		sector, err := s.Read(0, 8)
		if err != nil {
			t.Fatal(err)
		}
		return sh(string(bytes.TrimRight(sector[:], "\x00")))
	}
	base := make(memory, 16*ramdisk.PageSize)
	copy(base[ramdisk.PageSize:], "old")
	c, err := New(context.Background(), s, Disk{Base: base, FS: "ext3"}, "script")
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, ramdisk.PageSize)
	copy(data, "new")
	events := func(yield func(crash.Event, error) bool) {
		yield(crash.Event{Kind: crash.Issued, Write: crash.Write{Off: ramdisk.PageSize,
			Len: ramdisk.PageSize, Data: data}}, nil)
	}
	_, err = crash.Each(base, events, crash.Options{}, func(s *crash.State) error {
		p, err := c.Check(context.Background(), s)
		found = append(found, p)
		return err
	})
	return found, err
}

// The script sees each state, and fails for one of them.
func TestCheck(t *testing.T) {
	found, err := check(t, func(text string) (agent.Exit, error) {
		if text != "old" && text != "new" {
			t.Errorf("the disk has %q", text)
		}
		if text == "new" {
			return agent.Exit{Code: 1, Stderr: []byte("row 7 is missing")}, nil
		}
		return agent.Exit{}, nil
	})
	if err != nil || len(found) != 2 || found[0] != nil || found[1] == nil ||
		found[1].Kind != "check failed" || !strings.Contains(found[1].Text, "row 7 is missing") {
		t.Errorf("%+v, %v", found, err)
	}
}

// An error of the machine is no finding.
func TestMachineFails(t *testing.T) {
	broken := errors.New("the guest is gone")
	if found, err := check(t, func(string) (agent.Exit, error) {
		return agent.Exit{}, broken
	}); !errors.Is(err, broken) || found[0] != nil {
		t.Errorf("%+v, %v", found, err)
	}
}

// A disk that is no RAM disk's is refused before anything is done.
func TestDiskSize(t *testing.T) {
	for _, fs := range []string{"ext3", "nofs"} {
		if _, err := New(context.Background(), exploretest.New(),
			Disk{Base: make(memory, 1000), FS: fs}, ""); err == nil {
			t.Errorf("%s: a disk of 1000 bytes is checked", fs)
		}
	}
}
