package checkers

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/b3"
	"fsward/explore/model"
)

// A workloadState is the expectation of a crash of a workload.
type workloadState struct {
	durableState
	kept  map[string]agent.Entry // kept.entries
	names []string               // workloadRun.names
	full  bool                   // Core.ranOut
	key   string                 // what Key returns; "": not computed yet
}

// Key returns a string that is equal for equal expectations. All crash states of a point share the
// expectation, so it is computed once: the model's key takes seconds for thousands of names.
func (s *workloadState) Key() string {
	if s.key != "" {
		return s.key
	}
	h := sha256.New()
	for _, p := range slices.Sorted(maps.Keys(s.kept)) {
		e := s.kept[p]
		e.Mtime, e.Ctime = 0, 0 // no two runs of a workload have the same, and differs ignores them
		fmt.Fprintf(h, "%q %+v\n", p, e)
	}
	s.key = fmt.Sprintf("%s %x %q %t", s.FS.Key(), h.Sum(nil), s.names, s.full)
	return s.key
}

// touch forgets the objects that a step changes, and notes its names.
func (r *workloadRun) touch(s b3.Step) {
	for _, name := range s.Names() {
		if name != "/" && !r.named[name] {
			r.named[name] = true
			r.names = append(r.names, name)
		}
	}
	switch s.Verb {
	case b3.Fsync, b3.Fdatasync, b3.Sync, b3.Open, b3.Close, b3.DropCaches,
		b3.SyncFileRange:
		return
	}
	for _, name := range s.Names() {
		r.kept.forget(name)
	}
}

// keep notes the objects that a persistence point has made persistent, as they are now. answer is
// that to agent.Tree. If it was too large for its batch, the tree is read again.
func (r *workloadRun) keep(e *explore.Env, s b3.Step, answer agent.Result) error {
	entries, err := entriesOf(answer)
	if answer.Errno == unix.EOVERFLOW {
		entries, err = tree(e, r.At)
	}
	if err == nil {
		r.kept.note(s, entries)
	}
	return err
}

// tree returns the entries below a mount point by path. The root is "/".
func tree(e *explore.Env, at string) (map[string]agent.Entry, error) {
	results, err := e.Try(agent.Tree(at))
	if err != nil {
		return nil, err
	}
	return entriesOf(results[0])
}

// entriesOf returns the entries of an answer to agent.Tree by path. The root is "/".
func entriesOf(answer agent.Result) (map[string]agent.Entry, error) {
	if answer.Errno != 0 {
		return nil, explore.Failuref("unreadable", "the tree cannot be read: %v", answer.Errno)
	}
	entries, err := agent.DecodeTree(answer.Data)
	if err == nil {
		err = asFailure(model.DataInHole(entries))
	}
	if err != nil {
		return nil, err
	}
	out := make(map[string]agent.Entry, len(entries))
	for _, entry := range entries {
		name := path.Clean(entry.Path)
		if name == "." {
			name = "/"
		}
		if name != "lost+found" && !strings.HasPrefix(name, "lost+found/") {
			out[name] = entry
		}
	}
	return out, nil
}

// Check checks the recovered tree.
func (c *Workloads) Check(e *explore.Env, crash explore.Crash) error {
	return c.checkWorkload(e, crash.After.(*workloadState))
}

// checkWorkload checks the recovered tree: by the promises, against the run without a crash, and
// whether it can be used.
func (c *Core) checkWorkload(e *explore.Env, want *workloadState) error {
	if err := checkAllowed(e, c.At, want.FS); err != nil {
		return err
	}
	now, err := tree(e, c.At)
	if err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(want.kept)) {
		if is, ok := now[p]; ok {
			if c.Promises.NoNumbers {
				is.Inode = want.kept[p].Inode
			}
			if text := differs(want.kept[p], is); text != "" {
				e.Surprise("not as without the crash", "", fmt.Sprintf("/%s was made persistent and not "+
					"changed since, and %s", strings.TrimPrefix(p, "/"), text))
			}
		}
	}
	return c.use(e, now, want.names, want.full)
}

// differs describes the first attribute in which an object differs from what it was; "": none. No
// documentation promises that all of them stay.
func differs(was, is agent.Entry) string {
	switch {
	case was.Mode != is.Mode:
		return fmt.Sprintf("has the mode %#o, which was %#o", is.Mode, was.Mode)
	case was.Inode != is.Inode:
		return fmt.Sprintf("is inode %d, which was %d", is.Inode, was.Inode)
	case was.UID != is.UID || was.GID != is.GID:
		return fmt.Sprintf("belongs to %d:%d, which was %d:%d", is.UID, is.GID, was.UID, was.GID)
	case was.Mode&unix.S_IFMT == unix.S_IFDIR:
		return ""
	case was.Size != is.Size:
		return fmt.Sprintf("has %d bytes, which were %d", is.Size, was.Size)
	case was.Sum != is.Sum:
		return "has another content"
	case was.Target != is.Target:
		return fmt.Sprintf("leads to %q, which was %q", is.Target, was.Target)
	case was.Blocks != is.Blocks:
		return fmt.Sprintf("takes %d blocks of 512 bytes, which were %d", is.Blocks, was.Blocks)
	}
	return ""
}
