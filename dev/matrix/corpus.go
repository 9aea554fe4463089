package matrix

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fsward/change"
	"fsward/hostd/offline"
)

// A Commit is a sound or altered commit, as rules see it.
type Commit struct {
	Name  string
	Kind  string // altered object and field; "" if the commit is sound
	Txn   *change.Txn
	View  change.View
	close func() error
}

// Commits returns the commits of the recordings of a file system. For each recorded commit it
// returns the sound one, then altered ones: one for each object and field of each place, if the
// structure stays sound. closeAll releases the disks of all commits.
func Commits(ctx context.Context, dir, fs string) (
	list []*Commit,
	closeAll func() error,
	err error,
) {
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
	format, err := findFormat(fs)
	if err != nil {
		return nil, closeAll, err
	}
	seen := make(map[string]bool)
	for _, v := range format.variants {
		rec, err := format.record(ctx, dir, v)
		if err != nil {
			return list, closeAll, err
		}
		stages, err := saveStages(ctx, dir, rec)
		if err != nil {
			return list, closeAll, err
		}
		for _, st := range stages {
			cells, err := generate(st, format.allCells(), 1, make(map[string]int))
			if err != nil {
				return list, closeAll, err
			}
			sound := &Cell{Object: "sound", Variant: v.Name, Stage: st.number, format: format, stage: st}
			for _, c := range append([]*Cell{sound}, cells...) {
				kind := strings.Join([]string{c.Object, c.Where, c.Field}, " ")
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

// commit interprets the transaction of a cell. It returns nil if the corruption violates the
// structure, or if the transaction does not write the altered range.
func (c *Cell) commit(ctx context.Context) (*Commit, error) {
	disks, err := offline.OpenOverlays(c.stage.before)
	if err != nil {
		return nil, err
	}
	kind := c.Object + "." + c.Field
	if c.patches == nil {
		kind = ""
	}
	out := &Commit{Name: c.ID(), Kind: kind, close: disks.Close}
	requests, err := c.stage.txn.Patched(c.patches)
	if err != nil { // another transaction wrote the altered range
		return nil, out.close()
	}
	obs, err := offline.FirstCommit(ctx, disks, c.format.name, requests)
	if err != nil || obs.Txn == nil {
		return nil, errors.Join(err, out.close())
	}
	out.Txn, out.View = obs.Txn, obs.View
	return out, nil
}
