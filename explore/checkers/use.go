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
	if c.Promises.NoRepair {
		return nil // it is read-only
	}
	// What filled the disk goes first: everything else needs space and inodes.
	free := []agent.Op{agent.FreeDisk(c.At), agent.FreeInodes(c.At), agent.Sync()}
	if _, err := e.Try(free...); err != nil {
		return err
	}
	if err := c.checkCounts(e); err != nil {
		return err
	}
	s, err := look(e, c.At, model.New(c.Promises))
	if err != nil {
		return err
	}
	dirs := make(map[string]bool)
	for _, p := range s.Paths() {
		kind, _ := s.Kind(p)
		dirs[p] = kind == model.Dir
	}
	return c.use(e, dirs, nil)
}

// newName is a name that no workload has.
const newName = "fsward-new"

// use makes a file in each directory, and with each name that is free, and then removes everything.
// Errors of the storage itself are failures too: names that are free can be made, and whatever is
// there can be removed. dirs has all paths, and which of them are directories. The root is "/".
func (c *Core) use(e *explore.Env, dirs map[string]bool, names []string) error {
	var made []string
	for p, isDir := range dirs {
		if isDir {
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
	slices.Sort(made)
	var ops []agent.Op
	for _, p := range made {
		at := path.Join(c.At, p)
		ops = append(ops, agent.Open(0, at, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o644),
			agent.Fill(0, 0, 1, 1), agent.Close(0), agent.Unlink(at))
	}
	for _, p := range slices.Backward(slices.Sorted(maps.Keys(dirs))) {
		switch {
		case p == "/":
		case dirs[p]:
			ops = append(ops, agent.Rmdir(path.Join(c.At, p)))
		default:
			ops = append(ops, agent.Unlink(path.Join(c.At, p)))
		}
	}
	_, err := e.Do(ops...)
	var failed *explore.OpError
	if errors.As(err, &failed) {
		return &explore.Failure{Kind: "cannot be used", Property: explore.Recovered,
			Text: fmt.Sprintf("after the recovery %v: %v", failed.Op, failed.Errno)}
	}
	return err
}
