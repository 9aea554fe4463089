package spec

import (
	"context"
	"slices"

	"fsward/change"
	"fsward/explore"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/oracle"
	"fsward/invariants/bundle"
)

// newJudge returns the constructor of a judge that applies the invariants to each file system of
// the stack that has some and is alone on one disk, whatever lies above it. It returns nil if there
// is none.
func (r Run) newJudge(
	stack explore.Stack,
) func(context.Context, []crash.Base) (explore.Judge, error) {
	type judged struct {
		disk int
		fs   string
		made *oracle.Maker // nil until the first judge: one for all executions of the run
	}
	var list []*judged
	for _, c := range stack.Components() {
		if c, ok := c.(*component.Component); ok {
			if i, ok := oracleDisk(stack, c); ok {
				list = append(list, &judged{disk: i, fs: c.Kind.Oracle})
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return func(ctx context.Context, pristine []crash.Base) (explore.Judge, error) {
		var out judges
		for _, one := range list {
			if one.made == nil {
				site, err := bundle.OpenAll(r.AddRules)
				if err != nil {
					return nil, err
				}
				one.made = oracle.NewMaker(oracle.Options{Disk: one.disk, NoPrune: r.NoPrune, Site: site})
			}
			o, err := one.made.New(ctx, one.fs, pristine[one.disk])
			if err != nil {
				return nil, err
			}
			out = append(out, o)
		}
		return out, nil
	}
}

// oracleDisk returns the number of the disk of a file system that fsward reads. ok is false if c is
// none, or is not alone on one disk.
func oracleDisk(stack explore.Stack, c *component.Component) (i int, ok bool) {
	disk, ok := c.On[0].(*explore.Disk)
	if !ok || len(c.On) != 1 || c.Kind.Oracle == "" {
		return 0, false
	}
	return slices.Index(stack.Disks(), disk), true
}

// judges makes oracles an explore.Judge. Each sees every crash state.
type judges []*oracle.Oracle

// Judge judges a crash state by the invariants. The failure is that of the first oracle that finds
// one.
func (list judges) Judge(ctx context.Context, s *crash.State) (explore.Judgment, error) {
	out := explore.Judgment{Pruned: true}
	for _, o := range list {
		v, err := o.Judge(ctx, s)
		if err != nil {
			return out, err
		}
		out.Undecided = out.Undecided || v.Outcome == change.Undecided
		out.Pruned = out.Pruned && v.Pruned
		if v.Outcome == change.Violated && out.Failure == nil {
			out.Failure = &explore.Failure{Kind: "invariant " + v.Kind(), Text: v.String()}
		}
	}
	return out, nil
}
