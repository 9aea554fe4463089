package matrix

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/change"
	"fsward/hostd"
)

// A Commit is an altered commit, or a sound one, as rules see it.
type Commit struct {
	Name  string
	Kind  string // the object and field that were altered; "" if it is sound
	Txn   *change.Txn
	View  change.View
	close func() error
}

// Commits returns the commits of the recordings: first as they are, and then altered, one for each object
// and field of each tree where the structure is left sound. Close releases their disks.
func Commits(ctx context.Context, dir string) (list []*Commit, closeAll func() error, err error) {
	closeAll = func() error {
		var all error
		for _, c := range list {
			all = errors.Join(all, c.close())
		}
		return all
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	seen := make(map[string]bool)
	for _, v := range Variants {
		rec, err := record(ctx, dir, v)
		if err != nil {
			return list, closeAll, err
		}
		stages, err := cut(ctx, dir, rec)
		if err != nil {
			return list, closeAll, err
		}
		for _, st := range stages {
			cells, err := generate(st, universe(), 1, make(map[string]int))
			if err != nil {
				return list, closeAll, err
			}
			for _, c := range append([]*Cell{{Object: "sound", Variant: v.Name, Stage: st.number, stage: st}}, cells...) {
				kind := strings.Join([]string{c.Object, c.Tree, c.Field}, " ")
				if c.Field == "" {
					kind += fmt.Sprint(c.Change, v.Name, st.number)
				}
				if seen[kind] || c.Group() == "structure" {
					continue
				}
				commit, err := c.commit(ctx)
				if err != nil {
					return list, closeAll, fmt.Errorf("%s: %w", c.ID(), err)
				}
				if commit != nil {
					seen[kind] = true
					list = append(list, commit)
				}
			}
		}
	}
	return list, closeAll, nil
}

// commit interprets the transaction of a cell; nil if its structure is not sound.
func (c *Cell) commit(ctx context.Context) (*Commit, error) {
	base, err := blocktap.OpenImage(c.stage.before)
	if err != nil {
		return nil, err
	}
	disk, err := overlay.New(base)
	if err != nil {
		return nil, errors.Join(err, base.Close())
	}
	kind := c.Object + "." + c.Field
	if c.patches == nil {
		kind = ""
	}
	out := &Commit{Name: c.ID(), Kind: kind, close: func() error { return errors.Join(disk.Close(), base.Close()) }}
	requests, err := c.stage.txn.Patched(c.patches)
	if err != nil {
		return nil, errors.Join(err, out.close())
	}
	obs, err := hostd.FirstCommit(ctx, disk, "btrfs", requests)
	if err != nil || obs.Txn == nil {
		return nil, errors.Join(err, out.close())
	}
	out.Txn, out.View = obs.Txn, obs.View
	return out, nil
}
