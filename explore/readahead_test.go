package explore

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// A scripted is a System that notes the batches that it performs. Each operation has a result that
// tells when it was performed; a mount of "bad" fails.
type scripted struct {
	System
	batches []string
	timeout bool // the first read of a batch with a mount does not end
}

func (s *scripted) Run(context.Context, agent.Command) (agent.Exit, error) {
	s.batches = append(s.batches, "command")
	return agent.Exit{}, nil
}

func (s *scripted) Do(_ context.Context, b agent.Batch) (d agent.Done, err error) {
	var names []string
	for _, o := range b.Ops {
		name := strings.Fields(o.String())[0]
		names = append(names, name)
		_, _, texts, _ := o.Fields()
		r := agent.Result{Value: uint64(len(s.batches))}
		if o.Code == mountCode && texts[0] == "bad" {
			r.Errno = unix.EIO
		}
		if s.timeout && o.Code != mountCode {
			d.TimedOut = true
			break
		}
		d.Results = append(d.Results, r)
	}
	s.batches = append(s.batches, strings.Join(names, " "))
	return d, nil
}

func requests(lists ...[]agent.Op) [][]agent.Op { return lists }

func one(ops ...agent.Op) []agent.Op { return ops }

// TestReadAhead checks which requests reach the machine while crash states are recovered.
func TestReadAhead(t *testing.T) {
	tree, list := agent.Tree("/mnt"), agent.Listxattr("/mnt/f")
	mount := func(what string) agent.Op { return agent.Mount(what, "/mnt", "ext3", 0, "") }
	unmount := agent.Unmount("/mnt", 0)
	for _, row := range []struct {
		name    string
		first   [][]agent.Op // of an earlier recovery; a nil request is a command
		second  [][]agent.Op
		timeout bool
		want    string // what reaches the machine in the second
	}{
		{"the tree is read ahead", nil, requests(one(mount("a")), one(tree), one(tree)), false,
			"mount read"},
		{"so is what was asked before", requests(one(tree), one(list)),
			requests(one(mount("a")), one(tree), one(list)), false, "mount read listxattr"},
		{"another read is done", nil, requests(one(mount("a")), one(tree, list)), false,
			"mount read; read listxattr"},
		{"a change ends it", nil, requests(one(mount("a")), one(agent.Mkdir("/mnt/d", 0)), one(tree)),
			false, "mount read; mkdir; read"},
		{"a command ends it", nil, requests(one(mount("a")), nil, one(tree)), false,
			"mount read; command; read"},
		{"a mount elsewhere", nil, requests(one(agent.Mount("a", "/other", "ext3", 0, "")), one(tree)),
			false, "mount; read"},
		{"a mount that fails", nil, requests(one(mount("bad")), one(tree)), false, "mount read; read"},
		{"the unmount is sent, too", requests(one(mount("a")), one(tree), one(unmount)),
			requests(one(mount("b")), one(tree), one(unmount)), false, "mount read umount"},
		{"a change after that", requests(one(mount("a")), one(tree), one(unmount)),
			requests(one(mount("b")), one(tree), one(agent.Mkdir("/mnt/d", 0)), one(tree), one(unmount)),
			false, "mount read umount; loaded; mount; mkdir; read; umount"},
		{"another read after that", requests(one(mount("a")), one(tree), one(unmount)),
			requests(one(mount("b")), one(list), one(tree), one(unmount)), false,
			"mount read umount; loaded; mount; listxattr; umount"},
		{"a command after that", requests(one(mount("a")), one(tree), one(unmount)),
			requests(one(mount("b")), nil, one(unmount)), false,
			"mount read umount; loaded; mount; command; umount"},
		{"a second mount after that", requests(one(mount("a")), one(tree), one(unmount)),
			requests(one(mount("b")), one(unmount), one(mount("b")), one(tree), one(unmount)), false,
			"mount read umount; mount read; umount"},
		{"a command before the mount", requests(nil, one(mount("a")), one(tree), one(unmount)),
			requests(nil, one(mount("b")), one(tree), one(unmount)), false,
			"command; mount read; umount"},
		{"a mount that fails after that", requests(one(mount("a")), one(tree), one(unmount)),
			requests(one(mount("bad")), one(unmount)), false, "mount read umount; umount"},
		{"an earlier change", requests(one(mount("a")), one(agent.Mkdir("/mnt/d", 0)), one(unmount)),
			requests(one(mount("b")), one(tree), one(unmount)), false, "mount read; umount"},
		{"a read that does not end", nil, requests(one(mount("a")), one(tree)), true,
			"mount read; read"},
	} {
		machine := &scripted{timeout: row.timeout}
		var ahead *readAhead
		for _, recovery := range [][][]agent.Op{row.first, row.second} {
			if recovery != nil {
				ahead = recoverAhead(t, row.name, ahead, machine, recovery)
			}
		}
		if got := strings.Join(machine.batches, "; "); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// recoverAhead performs the requests of a recovery after another one, and returns its readAhead. A
// nil request is a command.
func recoverAhead(t *testing.T, name string, ahead *readAhead, machine *scripted,
	requests [][]agent.Op) *readAhead {
	t.Helper()
	machine.batches = nil
	ahead = ahead.next(machine, "/mnt", func(context.Context) error {
		machine.batches = append(machine.batches, "loaded")
		return nil
	})
	for _, ops := range requests {
		if ops == nil {
			_, _ = ahead.Run(t.Context(), agent.Command{})
			continue
		}
		done, err := ahead.Do(t.Context(),
			agent.Batch{Ops: ops, StopAtError: true, Timeout: time.Minute})
		if err != nil || !machine.timeout && len(done.Results) != len(ops) {
			t.Errorf("%s: %v gives %+v, %v", name, ops, done, err)
		}
	}
	return ahead
}
