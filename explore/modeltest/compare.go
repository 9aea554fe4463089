// Package modeltest compares the model of a file system with a real one, on random lists of
// operations of the whole vocabulary.
//
// Start reading at Compare.
package modeltest

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// filled are operations after which two slots have files with several blocks.
var filled = [4]model.Op{
	{Code: model.Open, Slot: 0, Path: "/e", Flags: unix.O_RDWR | unix.O_CREAT, Mode: 0o644},
	{Code: model.Write, Slot: 0, Len: 5 * model.Block, Seed: 1},
	{Code: model.Open, Slot: 1, Path: "/f", Flags: unix.O_RDWR | unix.O_CREAT, Mode: 0o644},
	{Code: model.Write, Slot: 1, Len: 4 * model.Block, Seed: 1},
}

// A Comparison compares real file systems with the model.
type Comparison struct {
	Do       model.Perform
	Promises model.Promises // of the file system
	// Seen counts the results by operation, such as "rename ENOTEMPTY".
	Seen map[string]int
}

// Compare performs 12 rounds of 25 operations, which the seed selects, in a new directory of a file
// system and on a model. It compares all results, and the tree after each round. The error names
// the first difference and lists the operations up to it.
func (c *Comparison) Compare(dir string, seed uint64) (err error) {
	base := path.Join(dir, fmt.Sprint("list", seed))
	g, top := NewGenerator(seed), agent.Mkdir(base, 0o755)
	g.Flags = c.Promises.Has(model.FileFlags)
	if g.Subvolumes = c.Promises.Has(model.Subvolumes); g.Subvolumes {
		top = agent.Subvolume(base) // the root directory of the model is that of a subvolume
	}
	if r, err := c.Do(top); err != nil || r[0].Errno != 0 {
		return errors.Join(fmt.Errorf("%s: %v", base, r), err)
	}
	l := list{Comparison: c, base: base, model: model.New(c.Promises), generator: g}
	defer func() {
		_, closing := l.performed([]model.Op{{Code: model.Close, Slot: agent.FirstHeld}})
		err = errors.Join(err, closing)
	}()
	for round := range 12 {
		if err := l.round(round); err != nil {
			return fmt.Errorf("seed %d, round %d: %w\n%s", seed, round, err, listed(l.all))
		}
	}
	return nil
}

// A list is a list of operations that is performed on a file system and on the model.
type list struct {
	*Comparison
	base      string
	model     *model.FS
	generator *Generator
	all       []model.Op
}

// round performs one round.
func (l *list) round(number int) error {
	var ops []model.Op
	var want []model.Result
	moment := l.model.Moment()
	clock, err := l.Do(agent.Clock())
	if err != nil {
		return err
	}
	for i := range 25 {
		o := l.generator.Op()
		if number%2 == 1 && i < 4 {
			o = filled[i]
		}
		if !l.model.Knows(o) || l.leadsOut(o) || l.isSetReadOnly(o) {
			continue
		}
		r := l.model.Apply(o)
		ops, want = append(ops, o), append(want, r)
		if (o.Code == model.Mkdir || o.Code == model.Subvolume) && r.Errno == 0 {
			l.countInherited(o)
		}
	}
	l.model.CloseAll()
	got, err := l.performed(ops)
	if err != nil {
		return err
	}
	for i, o := range ops {
		l.all = append(l.all, o)
		if is := got[i]; is != want[i] && !sameRename(o, is, want[i]) {
			return fmt.Errorf("%v gives %s %d %.40q, the model %s %d %.40q", o,
				errnoName(is.Errno), is.Value, is.Data,
				errnoName(want[i].Errno), want[i].Value, want[i].Data)
		}
		l.Seen[o.Code.String()+" "+errnoName(got[i].Errno)]++
		if name := modeNames[o.Flags]; o.Code == model.Fallocate && name != "" {
			l.Seen[name+" "+errnoName(got[i].Errno)]++
		}
	}
	seen, err := model.Look(l.Do, l.base, l.model)
	if err == nil {
		err = l.model.Equal(seen)
	}
	if err == nil {
		err = l.model.CheckTimes(seen, moment, int64(clock[0].Value))
	}
	if err == nil {
		err = l.model.Allowed(seen) // a crash may always leave the current tree
	}
	return err
}

// countInherited counts what a new directory has of the directory in which it is.
func (l *list) countInherited(o model.Op) {
	if l.model.Inherits(path.Dir(o.Path)) {
		l.Seen[o.Code.String()+" inherits"]++
	}
	if l.model.Flags(o.Path) != 0 {
		l.Seen[o.Code.String()+" inherits flags"]++
	}
}

// leadsOut reports whether an operation puts a symbolic link that begins with ".." into the root
// directory. The model has nothing above it.
func (l *list) leadsOut(o model.Op) (out bool) {
	if o.Code != model.Symlink && o.Code != model.Rename && o.Code != model.Link {
		return false
	}
	after := l.model.Clone()
	after.Apply(o)
	after.Walk(func(p string, k model.Kind, _ bool) {
		if k == model.Symbolic && path.Dir(p) == "/" {
			r := after.Apply(model.Op{Code: model.Readlink, Path: p})
			out = out || strings.HasPrefix(r.Data, "..")
		}
	})
	return out
}

// isSetReadOnly reports whether an operation changes an access control list in a read-only
// subvolume. Btrfs of Linux 6.18 does so (btrfs_set_acl), and should not.
func (l *list) isSetReadOnly(o model.Op) bool {
	return strings.HasPrefix(o.Name, "system.posix_acl") &&
		l.model.Clone().Apply(o).Errno == unix.EROFS
}

// sameRename reports whether both results refuse to rename a directory over another one that is not
// empty. POSIX leaves the choice between the two errors, and XFS makes the other one.
func sameRename(o model.Op, is, want model.Result) bool {
	return o.Code == model.Rename && is.Errno == unix.EEXIST && want.Errno == unix.ENOTEMPTY
}

// performed performs operations, and returns their results as the model has them.
func (l *list) performed(ops []model.Op) ([]model.Result, error) {
	calls := make([]agent.Op, len(ops))
	for i, o := range ops {
		calls[i] = o.Call(l.base)
	}
	got, err := l.Do(calls...)
	if err != nil {
		return nil, err
	}
	out := make([]model.Result, len(ops))
	for i, r := range got {
		if out[i].Errno = r.Errno; r.Errno == 0 {
			out[i].Value, out[i].Data = r.Value, string(r.Data)
		}
	}
	return out, nil
}

func errnoName(e unix.Errno) string {
	if e == 0 {
		return "ok"
	}
	return unix.ErrnoName(e)
}

func listed(ops []model.Op) string {
	var b strings.Builder
	for i, o := range ops {
		fmt.Fprintf(&b, "%4d %v\n", i+1, o)
	}
	return b.String()
}
