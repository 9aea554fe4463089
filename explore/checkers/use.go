package checkers

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
)

// Use uses the recovered tree: see use.
func (c *Core) Use(e *explore.Env) error {
	// What filled the disk goes first: everything else needs space and inodes.
	free := []agent.Op{agent.FreeDisk(c.At), agent.FreeInodes(c.At), agent.Sync()}
	if _, err := e.Try(free...); err != nil {
		return err
	}
	if err := checkCounts(e, c.At); err != nil {
		return err
	}
	s, err := look(e, c.At, model.New(c.Promises))
	if err != nil {
		return err
	}
	entries := make(map[string]agent.Entry)
	for _, entry := range s.Entries() {
		entries[path.Join("/", entry.Path)] = entry
	}
	return c.use(e, entries, nil, c.ranOut)
}

// newName is a name that no workload has.
const newName = "fsward-new"

// use makes a file in each directory, and with each name that is free, and then removes everything.
// On a full file system it removes everything first, and then makes files in the root directory.
// Errors of the storage itself are failures too: names that are free can be made, and whatever is
// there can be removed. entries has what is there, by path. The root is "/". Without a repair the
// file system is read-only: use does nothing.
func (c *Core) use(e *explore.Env, entries map[string]agent.Entry, names []string,
	full bool) error {
	if c.Promises.NoRepair {
		return nil
	}
	dirs := make(map[string]bool) // whether a path is a directory
	made, removing := []string(nil), []agent.Op(nil)
	for p, entry := range entries {
		dirs[p] = entry.Mode&unix.S_IFMT == unix.S_IFDIR
		if dirs[p] && entry.Flags&agent.Placeholder == 0 {
			made = append(made, path.Join(p, newName))
		}
	}
	for _, p := range names {
		dir := path.Dir(p)
		if dir == "." {
			dir = "/"
		}
		if _, taken := dirs[p]; !taken && dirs[dir] && !below(p, "lost+found") {
			made = append(made, p)
		}
	}
	for _, p := range slices.Backward(slices.Sorted(maps.Keys(dirs))) {
		switch {
		case p == "/":
		case dirs[p]:
			removing = append(removing, agent.Rmdir(path.Join(c.At, p)))
		default:
			removing = append(removing, agent.Unlink(path.Join(c.At, p)))
		}
	}
	ops := unprotect(c.At, entries)
	if full {
		made = slices.DeleteFunc(made, func(p string) bool { return path.Dir("/"+p) != "/" })
		ops = append(ops, slices.Concat(removing, []agent.Op{agent.Sync()}, making(c.At, made))...)
	} else {
		ops = append(ops, slices.Concat(making(c.At, made), removing)...)
	}
	_, err := e.Do(ops...)
	var failed *explore.OpError
	if errors.As(err, &failed) {
		return &explore.Failure{Kind: "cannot be used", Property: explore.Recovered,
			Text: fmt.Sprintf("after the recovery %v: %v", failed.Op, failed.Errno)}
	}
	return err
}

// making returns operations that make files in the tree that is mounted at root, write to them and
// remove them.
func making(root string, paths []string) (ops []agent.Op) {
	slices.Sort(paths)
	for _, p := range paths {
		at := path.Join(root, p)
		ops = append(ops, agent.Open(0, at, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o644),
			agent.Fill(0, 0, 1, 1), agent.Close(0), agent.Unlink(at))
	}
	return ops
}

// unprotect returns operations that make read-only subvolumes writable, and clear the flags that
// forbid changes, in the tree that is mounted at root.
func unprotect(root string, entries map[string]agent.Entry) (ops []agent.Op) {
	for _, p := range slices.Sorted(maps.Keys(entries)) { // a subvolume before what is in it
		at, flags := path.Join(root, p), entries[p].Flags
		if flags&agent.ReadOnly != 0 {
			ops = append(ops, agent.SetReadOnly(at, false))
		}
		if flags&agent.Forbidding != 0 {
			ops = append(ops, agent.Setflags(at, flags&agent.KnownFlags&^agent.Forbidding))
		}
	}
	return ops
}
