package model

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// fits says what speaks against a file being an inode of the model.
func (m *matcher) fits(i int, p string, here *node) error {
	n := m.f.tree.inodes[i]
	if here.kind() != n.kind {
		return wrongf("kind", "/%s is %v, not %v", p, here.kind(), n.kind)
	}
	if other, is := m.ours[here.Inode]; is && other != i {
		return wrongf("one file", "/%s is the same file as another, and never was", p)
	}
	// A file may be there twice where a rename is not atomic; links have to stay links.
	if other, is := m.files[i]; is && other != here.Inode && (m.exact || m.f.can.AtomicRename || n.kind != Dir && n.links > 1) && !m.f.can.NoLinks {
		return wrongf("two files", "/%s is not the file that it is by another name", p)
	}
	if n.kind != Dir && !m.f.can.NoLinks && here.Links != m.seen.names[here.Inode] {
		return wrongf("links", "/%s says that it has %d links, and %d names lead to it", p, here.Links, m.seen.names[here.Inode])
	}
	if n.kind == Symbolic && here.Target != n.target {
		return wrongf("link", "/%s leads to %q, not to %q", p, here.Target, n.target)
	}
	if err := m.attributes(n, p, here); err != nil {
		return err
	}
	if n.kind == File {
		return m.content(n, p, here)
	}
	return nil
}

// attributes: at one moment all that was so then, else each for itself what it was at any time.
func (m *matcher) attributes(n *inode, p string, here *node) error {
	list := n.attrs.since(m.f.disk.metaSince(n))
	if m.moment >= 0 {
		i := max(0, n.attrs.at(m.moment))
		list = n.attrs[i : i+1]
	}
	is := attrs{here.Mode & 0o7777, here.UID, here.GID, here.xattrs}
	some := func(same func(a attrs) bool) bool {
		return slices.ContainsFunc(list, func(v version[attrs]) bool { return same(v.what) })
	}
	want := list[len(list)-1].what
	switch {
	case !m.f.can.NoModes && n.kind != Symbolic && !some(func(a attrs) bool { return a.mode == is.mode }):
		return wrongf("mode", "/%s has the mode %#o, not %#o", p, is.mode, want.mode)
	case !m.f.can.NoModes && !some(func(a attrs) bool { return a.uid == is.uid && a.gid == is.gid }):
		return wrongf("owner", "/%s belongs to %d:%d, not to %d:%d", p, is.uid, is.gid, want.uid, want.gid)
	case !m.f.can.NoXattrs && n.kind != Symbolic && !some(func(a attrs) bool { return maps.Equal(a.xattrs, is.xattrs) }):
		return wrongf("attributes", "/%s has the extended attributes %q, not %q", p, is.xattrs, want.xattrs)
	}
	return nil
}

// sector is what a disk writes whole, in bytes.
const sector = 512

func (m *matcher) content(n *inode, p string, here *node) error {
	list := n.data[len(n.data)-1:]
	if !m.exact {
		meta := m.moment
		if meta < 0 {
			meta = m.f.disk.meta
		}
		list = n.data.since(m.f.disk.dataSince(n, meta))
	}
	sizes := false
	for i, v := range list {
		if v.what.size == here.Size {
			if v.what.sum() == here.Sum {
				return nil
			}
			sizes = true
		}
		// A write that makes a file longer does so page by page.
		if i > 0 && !v.meta && here.Size%sector == 0 && here.Size > list[i-1].what.size && here.Size < v.what.size {
			sizes = true
		}
	}
	if !sizes {
		return wrongf("size", "/%s has %d bytes; it had %s", p, here.Size, sizesOf(list))
	}
	if !here.whole {
		return wrongf("undecided", "/%s: its contents were not read", p)
	}
	for off := uint64(0); off < here.Size; off += sector {
		if err := m.sector(list, off, here.data[off:min(off+sector, here.Size)]); err != nil {
			return wrongf("contents", "/%s, %d bytes long, from %d on: %v", p, here.Size, off, err)
		}
	}
	return nil
}

func (m *matcher) sector(list history[content], off uint64, here []byte) error {
	end := off + uint64(len(here))
	first := list[0].what
	changed := first.size < end
	buf := make([]byte, len(here))
	for _, v := range list {
		v.what.read(buf, off)
		if bytes.Equal(buf, here) && (v.what.size >= end || !m.beyond(v.what, off, here)) {
			return nil
		}
		changed = changed || v.what.differs(first, off, end)
	}
	switch {
	case !changed || m.exact:
		return fmt.Errorf("what was there is lost; there is %s", describe(here))
	case m.f.can.Data == Anything:
		return nil
	case m.f.can.Data == Zeros && isZero(here):
		return nil
	}
	return fmt.Errorf("there is %s, which the file never had there", describe(here))
}

// beyond says that a content ends before a sector and cannot speak for it: that there are zeros is to be said by the others.
func (m *matcher) beyond(c content, off uint64, here []byte) bool {
	return m.f.can.Data == Versions && c.size <= off && isZero(here)
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
		s += fmt.Sprint(v.what.size)
	}
	return s
}
