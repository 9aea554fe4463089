package btrfs

import (
	"cmp"
	"slices"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// A stream makes the records of a whole file system, whose structure is sound. It makes them again
// at each call of Each instead of keeping them.
type stream struct {
	state *state
	names *change.Names
	view  *view
	tally *change.Tally
}

var _ change.Stream = (*stream)(nil)

func (s *stream) Names() *change.Names                    { return s.names }
func (s *stream) Len() int                                { return s.tally.Len() }
func (s *stream) Made(k change.Kind, f change.Field) bool { return s.tally.Made(k, f) }

// Each visits the records part by part, in the order of diff.diffTrees: those of the superblock, of
// the root tree, then of each tree in the order of their numbers.
func (s *stream) Each(visit func(*change.Txn) error) error {
	s.names.Reset()
	txn := &change.Txn{Schema: ondisk.Schema, Generation: s.state.sb.Generation(), Names: s.names}
	return s.walk(newRecorder(txn, s.state.itemContext()), nil).each(visit)
}

// walk returns a walk that makes the records of compared trees with compare.
func (s *stream) walk(out *recorder, compare comparedTree) *streamWalk {
	return &streamWalk{state: s.state, budget: newBudget(), out: out, compare: compare}
}

// each visits the records part by part.
func (w *streamWalk) each(visit func(*change.Txn) error) error {
	w.out.sink = eachPart(visit)
	if err := w.run(); err != nil {
		return err
	}
	return w.out.sink(w.out.txn)
}

// eachPart returns the sink of a recorder that passes all records to visit.
func eachPart(visit func(*change.Txn) error) func(*change.Txn) error {
	return func(part *change.Txn) error {
		defer part.NextPart()
		return visit(part)
	}
}

// A comparedTree function makes the records of a tree that was compared with another. done is false
// for a tree that was not.
type comparedTree func(out *recorder, tree uint64) (done bool, err error)

// A streamWalk is one walk through all trees.
type streamWalk struct {
	*state
	budget  *budget
	out     *recorder
	compare comparedTree // nil if everything is new
}

// run makes the records of all trees.
func (w *streamWalk) run() error {
	if err := w.out.super(nil, &w.sb); err != nil {
		return err
	}
	type tree struct {
		id   uint64
		root pointer
	}
	trees := []tree{{ondisk.ChunkTreeID, w.chunkRoot()}}
	err := w.tree(ondisk.RootTreeID, w.rootTree(), func(item *itemRef) {
		k := item.key()
		if k.Type != ondisk.RootItemKey || k.ObjectID == ondisk.TreeRelocID {
			return
		}
		// A tree that is being dropped makes no records: see diff.diffTree.
		if r, ok := parseRoot(k.ObjectID, item.data()); ok && !r.dead {
			trees = append(trees, tree{k.ObjectID, r.pointer})
		}
	})
	if err != nil {
		return err
	}
	slices.SortFunc(trees, func(a, b tree) int { return cmp.Compare(a.id, b.id) })
	for _, t := range trees {
		if w.compare != nil {
			if done, err := w.compare(w.out, t.id); err != nil {
				return err
			} else if done {
				continue
			}
		}
		if err := w.tree(t.id, t.root, nil); err != nil {
			return err
		}
	}
	return nil
}

// tree makes the records of a tree. If also is not nil, tree calls it for each item.
func (w *streamWalk) tree(id uint64, root pointer, also func(*itemRef)) error {
	w.out.begin(id)
	err := w.eachLeaf(root, w.budget, func(n *ondisk.Node) error {
		item := itemRef{leaf: n}
		for ; item.i < n.NrItems(); item.i++ {
			if also != nil {
				also(&item)
			}
			if err := w.out.item(item.key(), nil, &item); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.out.flush()
}
