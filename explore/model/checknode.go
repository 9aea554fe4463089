package model

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// checkNode returns a *Mismatch if the observed node at path p cannot be inode i of the model.
func (m *matcher) checkNode(i int, p string, here *node) error {
	n := m.f.tree.inodes[i]
	if here.kind() != n.kind {
		return mismatchf("kind", "/%s is %v, not %v", p, here.kind(), n.kind)
	}
	if err := m.checkIdentity(i, p, here); err != nil {
		return err
	}
	links := m.seen.names[here.Inode]
	if n.kind != Dir && !m.f.promises.NoLinks && here.Links != links {
		return mismatchf("links", "/%s has a link count of %d, but %d names refer to it",
			p, here.Links, links)
	}
	if n.kind == Symbolic && here.Target != n.target {
		return mismatchf("link", "/%s points to %q, not to %q", p, here.Target, n.target)
	}
	if typ := here.Mode & unix.S_IFMT; n.kind == Special &&
		(typ != n.node.typ || here.Rdev != n.node.dev) {
		return mismatchf("kind", "/%s has type %#o and device %#x, not %#o and %#x",
			p, typ, here.Rdev, n.node.typ, n.node.dev)
	}
	if err := m.checkAttrs(n, p, here); err != nil {
		return err
	}
	if err := m.checkTime(n, p, here); err != nil {
		return err
	}
	if n.kind == File {
		return m.checkFile(n, p, here)
	}
	return nil
}

// checkFile checks the content of a file.
func (m *matcher) checkFile(n *inode, p string, here *node) error {
	if err := dataInHole(&here.Entry); err != nil {
		return err
	}
	err := m.checkContent(n, p, here)
	if masked := n.withoutTails(here); err != nil && masked != nil {
		err = m.checkContent(n, p, masked)
	}
	return err
}

// checkIdentity checks that names share an inode exactly if they do in the model.
func (m *matcher) checkIdentity(i int, p string, here *node) error {
	if other, is := m.ours[here.Inode]; is && other != i {
		return mismatchf("one file", "/%s is a link to the same file as another name, and never was", p)
	}
	other, is := m.files[i]
	if !is || other == here.Inode || m.f.promises.NoLinks {
		return nil
	}
	// If rename is not atomic, a file may exist twice. Hard links have to stay links.
	n := m.f.tree.inodes[i]
	if m.exact || m.f.promises.AtomicRename || n.kind != Dir && n.links > 1 {
		return mismatchf("two files", "/%s is not the same file as its other name", p)
	}
	return nil
}

// checkAttrs compares attributes: with those of the matcher's moment, or, for anyMoment, each
// attribute by itself with all values that it had since it is durable.
func (m *matcher) checkAttrs(n *inode, p string, here *node) error {
	list := n.attrs.since(m.f.disk.metaSince(n))
	if m.moment >= 0 {
		i := max(0, n.attrs.at(m.moment))
		list = n.attrs[i : i+1]
	}
	is := attrs{mode: here.Mode & 0o7777, uid: here.UID, gid: here.GID, xattrs: here.xattrs}
	some := func(same func(a attrs) bool) bool {
		return slices.ContainsFunc(list, func(v version[attrs]) bool { return same(v.value) })
	}
	sameMode := func(a attrs) bool { return a.mode == is.mode }
	sameOwner := func(a attrs) bool { return a.uid == is.uid && a.gid == is.gid }
	sameFlags := func(a attrs) bool { return a.flags == here.Flags }
	sameXattrs := func(a attrs) bool { return maps.Equal(a.xattrs, is.xattrs) }
	want := list[len(list)-1].value
	switch can := m.f.promises; {
	case !can.NoModes && n.kind != Symbolic && !some(sameMode):
		return mismatchf("mode", "/%s has mode %#o, not %#o", p, is.mode, want.mode)
	case !can.NoModes && !n.isPlaceholder() && !some(sameOwner):
		return mismatchf("owner", "/%s belongs to %d:%d, not to %d:%d",
			p, is.uid, is.gid, want.uid, want.gid)
	case can.Has(FileFlags) && (n.kind == File || n.kind == Dir) && !some(sameFlags):
		return mismatchf("flags", "/%s has the flags %#x, not %#x", p, here.Flags, want.flags)
	case !can.NoXattrs && !m.shallow && n.kind != Symbolic && !some(sameXattrs):
		return mismatchf("attributes", "/%s has the extended attributes %q, not %q",
			p, is.xattrs, want.xattrs)
	}
	return nil
}

// sector is the unit that a disk writes atomically, in bytes.
const sector = 512

// checkContent compares the size and the content of a file with the versions that are allowed.
func (m *matcher) checkContent(n *inode, p string, here *node) error {
	list := n.data[len(n.data)-1:]
	meta := m.moment
	if meta == anyMoment {
		meta = m.f.disk.meta
	}
	data, known, sizes := here.data, here.complete, false
	if !m.exact {
		all := n.data.since(m.f.disk.sizeSince(n, meta))
		list, sizes = n.withRanges(all), n.passes(all, here.Size)
	}
	for i, v := range list {
		if v.value.size == here.Size {
			sizes = true
			if v.value.sum() != here.Sum {
				continue
			}
			partly := len(n.ranges) > 0 || list[i+1:].ordered(meta) // parts of it may be too old
			if i == len(list)-1 || !partly {
				return nil
			}
			data, known = v.value.bytes(), true // it was not read if another file has the same now
		}
	}
	if !sizes {
		return mismatchf("size", "/%s has %d bytes; it had %s", p, here.Size, sizesOf(list))
	}
	if !known {
		return mismatchf("undecided", "/%s: its contents were not read", p)
	}
	for off := uint64(0); off < here.Size; off += sector {
		end := min(off+sector, here.Size)
		if !m.exact {
			list = n.data.since(m.f.disk.sectorSince(n, meta, off, end))
		}
		if err := m.checkSector(list, off, data[off:end]); err != nil {
			return mismatchf("contents", "/%s, %d bytes long, at offset %d: %v", p, here.Size, off, err)
		}
	}
	return nil
}

// passes reports whether the size of a file on the disk may have a value between those of two
// versions: a write that extends a file does so page by page, and fallocate(2) may make a part of
// earlier writes the size. Ranges that msync(2) made durable are not beyond it.
func (n *inode) passes(list history[content], size uint64) bool {
	for i, v := range list {
		between := !v.meta && i > 0 && size%sector == 0 && size > list[i-1].value.size
		reached := v.meta && i > 0 && v.by.reach > 0 && size == v.by.reach
		if size < v.value.size && (between || reached) && n.hasRanges(v.at, size) {
			return true
		}
	}
	return false
}

// hasRanges reports whether a file of a size has all ranges that msync(2) has made durable since a
// moment.
func (n *inode) hasRanges(at int, size uint64) bool {
	beyond := func(r syncedRange) bool { return at < r.at && size < r.end }
	return !slices.ContainsFunc(n.ranges, beyond)
}

// withRanges returns those of several versions that have all ranges that msync(2) made durable.
func (n *inode) withRanges(list history[content]) (out history[content]) {
	for _, v := range list {
		if n.hasRanges(v.at, v.value.size) {
			out = append(out, v)
		}
	}
	return out
}

// checkSector returns an error if no version in list has the bytes here at an offset, and
// Promises.Data allows nothing else.
func (m *matcher) checkSector(list history[content], off uint64, here []byte) error {
	end := off + uint64(len(here))
	first := list[0].value
	changed := first.size < end
	buf := make([]byte, len(here))
	for _, v := range list {
		v.value.read(buf, off)
		if bytes.Equal(buf, here) && (v.value.size >= end || !m.endsBefore(v.value, off, here)) {
			return nil
		}
		changed = changed || v.value.differs(first, off, end)
	}
	switch {
	case !changed || m.exact:
		return fmt.Errorf("the old data is lost; found %s", describe(here))
	case m.f.promises.Data == Anything:
		return nil
	case m.f.promises.Data == Zeros && isZero(here):
		return nil
	}
	return fmt.Errorf("found %s, which the file never had there", describe(here))
}

// endsBefore reports whether content c ends before a sector of zeros that only Versions forbids.
// Then c is no evidence that the file had zeros there: another version has to have them.
func (m *matcher) endsBefore(c content, off uint64, here []byte) bool {
	return m.f.promises.Data == Versions && c.size <= off && isZero(here)
}

func isZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

func describe(b []byte) string {
	if isZero(b) {
		return "zeros"
	}
	return fmt.Sprintf("%x…", b[:min(len(b), 8)])
}

func sizesOf(list history[content]) string {
	s := ""
	for _, v := range list {
		if s != "" {
			s += ", then "
		}
		s += fmt.Sprint(v.value.size)
	}
	return s
}
