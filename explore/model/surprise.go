package model

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
)

// A Surprise is a loss that the promises of a file system allow, and that a user of ext4 does not
// expect.
type Surprise struct{ Kind, Text string }

// The kinds of surprises.
const (
	NeitherOldNorNew = "neither old nor new"  // after a rename over a file
	StaleData        = "stale data"           // content that was never written to the file
	EmptyFile        = "empty file"           // a name that never led to an empty file
	RenamedGone      = "renamed file gone"    // a durable file without a name after a rename
	FsyncedAbsent    = "fsynced file absent"  // a new file whose data is durable, and its name is not
	BehindEnd        = "bytes behind the end" // what a mapping wrote there, after the file grew
	WrongSpace       = "wrong space"          // none for data, or far more than the file needed
)

// Surprises returns the surprises in a tree that Allowed allows, in the order of their names. The
// caller has to read everything that s.Wants(f) lists first.
func (f *FS) Surprises(s *Observed) (out []Surprise) {
	where := placesOf(&f.tree, s)
	l := losses{FS: f, seen: s, at: where.of(), names: f.tree.index()}
	for _, dir := range slices.Sorted(maps.Keys(where)) {
		out = append(out, l.in(dir, where[dir])...)
	}
	for _, d := range slices.Sorted(maps.Keys(f.tree.inodes)) {
		if n := f.tree.inodes[d]; n.kind == Dir && len(l.at[d]) == 0 {
			out = append(out, l.in(relative(l.names.dirPath(d)), []int{d})...)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(f.tree.inodes)) {
		if n := f.tree.inodes[i]; n.kind == File && n.links > 0 {
			out = append(out, l.ofFile(i, n)...)
		}
	}
	return out
}

// losses looks for surprises in an observed tree.
type losses struct {
	*FS
	seen  *Observed
	at    map[int][]string // where each directory may be
	names index
}

// in returns the surprises of the names in a directory of the tree, which may be several
// directories. What is no surprise in one of them is none.
func (f losses) in(dir string, may []int) (out []Surprise) {
	names := make(map[string]bool)
	for _, d := range may {
		for name := range f.tree.inodes[d].names {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		at := path.Join(dir, name)
		here := f.seen.nodes[at]
		var least []Surprise
		for i, d := range may {
			var in []Surprise
			if e := f.tree.inodes[d].names[name]; e != nil {
				in = f.here(f.tree.inodes[d], e, path.Join("/", at), here)
			}
			if i == 0 || len(in) < len(least) {
				least = in
			}
		}
		out = append(out, least...)
	}
	return out
}

// here returns the surprises of a name in a directory, of which is was observed.
func (f losses) here(dir *inode, e *name, p string, is *node) (out []Surprise) {
	found := func(kind, format string, args ...any) {
		out = append(out, Surprise{kind, fmt.Sprintf(format, args...)})
	}
	f.ofName(found, dir, e, p, is)
	if is != nil && is.kind() == File {
		f.ofContent(found, e, p, is)
	}
	return out
}

// relative returns a path as Observed has it.
func relative(p string) string {
	if p == "/" {
		return "."
	}
	return p[1:]
}

// ofName looks for a name that was renamed over, and leads to neither file, and for one
// that leads to an empty file.
func (f losses) ofName(found func(kind, format string, args ...any), dir *inode, e *name,
	p string, here *node) {
	last := len(e.history) - 1
	now := f.tree.inodes[e.history[last].value]
	if now == nil || now.kind != File {
		return
	}
	since := e.history[last].at
	if here != nil && here.kind() == File && here.Size == 0 && !slices.ContainsFunc(
		now.data.since(since), func(v version[content]) bool { return v.value.size == 0 }) {
		found(EmptyFile, "%s is empty, and never led to an empty file: %s", p, f.log.lastOf(now))
		return
	}
	if last == 0 || f.disk.nameSince(dir, e) < e.history[last-1].at {
		return // the old name need not be on the disk
	}
	old := f.tree.inodes[e.history[last-1].value]
	if old == nil || old.kind != File {
		return
	}
	versions := slices.Concat(old.data, now.data.since(since))
	if here == nil || here.kind() == File && !has(versions, here) {
		state := "is gone"
		if here != nil {
			state = fmt.Sprintf("has %d other bytes", here.Size)
		}
		found(NeitherOldNorNew, "%s %s; operation %d, %v, renamed a file over one that was on the disk",
			p, state, since, f.log[since-1])
	}
}

// has reports whether one of several versions has the content of an observed file.
func has(versions history[content], here *node) bool {
	return slices.ContainsFunc(versions, func(v version[content]) bool {
		return v.value.size == here.Size && v.value.sum() == here.Sum
	})
}

// ofContent looks for sectors that hold neither zeros nor anything that was written to a
// file of this name.
func (f losses) ofContent(found func(kind, format string, args ...any), e *name, p string,
	here *node) {
	most := uint64(0)
	for _, v := range e.history {
		if n := f.tree.inodes[v.value]; n != nil {
			most = max(most, n.most)
		}
	}
	surpriseOfSpace(found, p, here, most)
	if n := f.tree.inodes[e.now()]; n != nil && n.kind == File {
		if masked := n.withoutTails(here); masked != nil {
			found(BehindEnd, "%s has bytes that a mapping wrote behind its end, before it grew", p)
			here = masked
		}
	}
	if !here.complete {
		return
	}
	for off := uint64(0); off < here.Size; off += sector {
		end := min(off+sector, here.Size)
		is := here.data[off:end]
		if isZero(is) {
			continue
		}
		buf := make([]byte, len(is))
		known := slices.ContainsFunc(e.history, func(v version[int]) bool {
			n := f.tree.inodes[v.value]
			return n != nil && slices.ContainsFunc(n.data, func(c version[content]) bool {
				c.value.read(buf, off)
				return slices.Equal(buf, is)
			})
		})
		if !known {
			found(StaleData, "%s has %s at offset %d, which was never written to it", p, describe(is), off)
			return
		}
	}
}

// enoughSpace is more than a file system allocates in advance, beside as much as a file has.
const enoughSpace = 1 << 20

// surpriseOfSpace looks for a file with data and without space, or with far more than the most
// bytes that it needed.
func surpriseOfSpace(found func(kind, format string, args ...any), p string, here *node,
	most uint64) {
	used := here.Blocks * sector
	switch {
	case here.Blocks == 0 && here.Sum != (content{size: here.Size}).sum():
		found(WrongSpace, "%s has data, and takes no space (st_blocks)", p)
	case here.Blocks > math.MaxUint64/sector || used > 2*most+enoughSpace:
		found(WrongSpace, "%s takes %d blocks of 512 bytes (st_blocks), and needed at most %d bytes",
			p, here.Blocks, most)
	}
}

// ofFile looks for a file with a durable content that has none of its names.
func (f losses) ofFile(i int, n *inode) []Surprise {
	durableName, renamed, present := false, false, false
	for _, e := range f.names.of[i] {
		since := f.disk.nameSince(f.tree.inodes[e.dir], e.name)
		durableName = durableName || slices.ContainsFunc(e.history, func(v version[int]) bool {
			return v.value == i && v.at <= since
		})
		renamed = renamed || e.now() != i
		present = present || slices.ContainsFunc(f.at[e.dir], func(p string) bool {
			return f.seen.nodes[path.Join(p, e.s)] != nil
		})
	}
	synced := max(n.dataAt, n.meta) >= n.born && max(n.dataAt, n.meta) > 0
	switch {
	case present:
	case durableName && renamed && f.disk.isDurable(n):
		return []Surprise{{RenamedGone, fmt.Sprintf("%s was on the disk, and has none of its names: %s",
			f.names.path(i), f.log.lastOf(n))}}
	case !durableName && synced:
		return []Surprise{{FsyncedAbsent, fmt.Sprintf("%s was forced to the disk, and has no name: %s",
			f.names.path(i), f.log.lastOf(n))}}
	}
	return nil
}
