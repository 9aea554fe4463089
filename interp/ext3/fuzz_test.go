package ext3

import (
	"bytes"
	"testing"

	"fsward/interp"
)

// Each decoder answers any bytes with a value or an error.

func FuzzSuperblock(f *testing.F) {
	f.Add(make([]byte, superLen), uint64(1<<30))
	f.Fuzz(func(t *testing.T, b []byte, size uint64) {
		if len(b) < superLen {
			b = append(b, make([]byte, superLen-len(b))...)
		}
		b[sMagic], b[sMagic+1] = 0x53, 0xef
		g, err := readGeometry(b, size)
		if err == nil && (g.groups == 0 || uint64(g.blocks)*uint64(g.blockSize) > size || g.groupOf(g.blocks-1) != g.groups-1) {
			t.Errorf("accepted %+v", g)
		}
	})
}

func FuzzDirectoryBlock(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 12, 0, 1, 2, '.', 0, 0, 0, 2, 0, 0, 0, 0, 4, 2, 2, '.', '.'}, true)
	f.Fuzz(func(t *testing.T, b []byte, fileType bool) {
		b = append(b, make([]byte, (1024-len(b)%1024)%1024)...)
		if len(b) == 0 || len(b) > 1<<16 {
			return
		}
		last := -1
		at, fault := entries(b, fileType, func(e entry) {
			if e.off <= last || len(e.name) > 255 || e.off+dirHeaderLen+len(e.name) > len(b) {
				t.Errorf("entry %+v after %d", e, last)
			}
			last = e.off
		})
		if fault == "" && at != 0 || at > len(b) {
			t.Errorf("fault %q at %d of %d", fault, at, len(b))
		}
		l := &layout{geo: &geometry{blockSize: uint32(len(b)), inodes: 64, firstIno: 11, fileType: fileType}}
		l.checkDir(2, b, 7, true, func(entry) {})
		r := &indexReader{layout: l, dir: 2, inode: make(inode, inodeLen), leaves: make(map[uint32]hashRange), nodes: make(map[uint32]bool)}
		if err := r.entries(b, 7, dxRootEntries, hashRange{0, dxMaxHash}, 0); err != nil || len(r.leaves) > len(b)/dxEntryLen {
			t.Errorf("%d leaves, %v", len(r.leaves), err)
		}
	})
}

func FuzzXattrEntries(f *testing.F) {
	f.Add([]byte{}, 0, false)
	f.Add([]byte{0, 0}, 0, false)
	f.Add([]byte{1, 1, 20, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 'a', 0, 0, 0, 'x', 'y', 0, 0}, 0, false)
	f.Add(make([]byte, 1024), xattrHeader, true)
	f.Fuzz(func(t *testing.T, b []byte, first int, hashed bool) {
		if first < 0 || first > len(b) || len(b) > 1<<16 {
			return
		}
		if at, fault := checkXattrEntries(b, first, hashed); at < 0 || at > len(b)+4 || fault == "" && at != 0 {
			t.Errorf("fault %q at %d of %d", fault, at, len(b))
		}
	})
}

func FuzzAccessList(f *testing.F) {
	f.Add(acl(aclUserObj, 6, aclUser, 4, aclGroupObj, 4, aclMask, 7, aclOther, 0))
	f.Add([]byte{1, 0, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if fault := aclFault(b); fault == "" && len(b) > aclHeaderLen && (len(b)-aclHeaderLen)%aclShortLen != 0 {
			t.Errorf("a list of %d bytes is taken", len(b))
		}
	})
}

func FuzzJournalBlocks(f *testing.F) {
	f.Add(make([]byte, 1024), uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, features uint8) {
		b = append(b, make([]byte, (1024-len(b)%1024)%1024)...)
		if len(b) == 0 || len(b) > 1<<16 {
			return
		}
		js := journalSuper{checksum: features&1 != 0, csum: []int{0, 2, 3, 0}[features/2%4], wide: features&8 != 0}
		some := &journal{journalSuper: js}
		if n := len(some.parseTags(b)); n > len(b)/some.tagBytes() {
			t.Errorf("%d tags in %d bytes", n, len(b))
		}
		if blocks, err := some.parseRevoke(b); err == nil && len(blocks) > len(b)/4 {
			t.Errorf("%d revoked in %d bytes", len(blocks), len(b))
		}
		if js, err := parseJournalSuper(b, 0, 1024, 4096); err == nil && (js.maxLen > 4096 || js.first >= js.maxLen || js.start >= js.maxLen) {
			t.Errorf("accepted %+v", js)
		}
		// A journal whose every block is among these.
		geo := &geometry{blockSize: 1024, blocks: uint32(len(b)/1024) + 1, firstData: 1, blocksPerGroup: 8192}
		n := uint32(len(b) / 1024)
		js.maxLen, js.first = n, min(1, n-1)
		j := &journal{geo: geo, runs: []run{{0, 0, n}}, deviceBlocks: uint64(n), journalSuper: js}
		if tr, err := j.read(bytes.NewReader(b), j.first, be32(b, 8)); err == nil && uint32(len(tr.copies)) > n {
			t.Errorf("%d copies in a journal of %d", len(tr.copies), n)
		}
	})
}

// patch changes bytes of an image as a fuzzer says: each three bytes are a place and a value. Places are
// chosen among the blocks that hold metadata.
func patch(d *memDisk, meta []uint64, edits []byte) {
	for ; len(edits) >= 4 && len(meta) > 0; edits = edits[4:] {
		block := meta[int(edits[0])%len(meta)]
		off := block*1024 + uint64(edits[1])*4 + uint64(edits[2]%4)
		d.apply(interp.Write{Off: off, Len: 1, Data: edits[3:4]})
	}
}

// small makes an image without a kernel: fuzz workers run in parallel and must not mount.
func small(f *testing.F) []byte {
	f.Helper()
	image := mkfs(f, "4M", "-b", "1024", "-I", "128", "-J", "size=1")
	return readFile(f, image)
}

// metadata lists the blocks of an image that have metadata.
func metadata(f *testing.F, base []byte) []uint64 {
	f.Helper()
	meta := []uint64{1, 2}
	d := newDisk(bytes.NewReader(base), uint64(len(base)))
	m, err := mount(d, d.Size())
	if err != nil {
		f.Fatal(err)
	}
	p := m.layout.places[0]
	for _, b := range []uint32{p.blockBitmap, p.inodeBitmap, p.inodeTable, p.inodeTable + 1, m.journal.block(0), m.journal.block(1)} {
		meta = append(meta, uint64(b))
	}
	root, err := m.layout.inode(m.state, rootIno)
	if err != nil {
		f.Fatal(err)
	}
	return append(meta, uint64(root.pointer(0)))
}

// FuzzCorrupt alters what is damaged already.
func FuzzCorrupt(f *testing.F) {
	base := small(f)
	meta := metadata(f, base)
	var specs []string
	for _, a := range Alterables() {
		for _, action := range a.Actions {
			specs = append(specs, a.Object+"!"+action)
		}
		for _, field := range a.Fields {
			specs = append(specs, a.Object+"."+field.Name+"+1")
		}
	}
	for i := range specs {
		f.Add([]byte{8, 1, 2, 0, 8, 4, 2, 0}, uint16(i)) // the names of . and .. are empty
		f.Add([]byte{}, uint16(i))
	}
	f.Fuzz(func(t *testing.T, edits []byte, spec uint16) {
		d := newDisk(bytes.NewReader(base), uint64(len(base)))
		patch(d, meta, edits)
		c, err := NewCorrupter(d, false)
		if err != nil {
			return
		}
		out, err := c.Corrupt(specs[int(spec)%len(specs)], 0)
		for _, p := range out.Patches {
			if err != nil || p.Off+uint64(len(p.Data)) > d.Size() {
				t.Errorf("%d bytes at %d, %v", len(p.Data), p.Off, err)
			}
		}
	})
}

func FuzzImage(f *testing.F) {
	base := small(f)
	meta := metadata(f, base)
	f.Add([]byte{0, 24, 0, 5, 4, 32, 0, 7})
	f.Fuzz(func(t *testing.T, edits []byte) {
		d := newDisk(bytes.NewReader(base), uint64(len(base)))
		patch(d, meta, edits)
		obs, err := Image(d)
		if err == nil && obs.Txn != nil {
			for _, r := range obs.Txn.Records[:min(2000, len(obs.Txn.Records))] {
				if _, err := obs.View.Exists(r.Object); err != nil {
					t.Errorf("%v: %v", r, err)
				}
			}
		}
	})
}

// FuzzObserve shows a mounted file system hostile journal blocks and superblocks.
func FuzzObserve(f *testing.F) {
	base := small(f)
	f.Add([]byte{1, 2, 3, 4}, []byte("\xc0\x3b\x39\x98\x00\x00\x00\x01\x00\x00\x00\x01"), uint16(0))
	f.Fuzz(func(t *testing.T, edits, block []byte, at uint16) {
		d := newDisk(bytes.NewReader(base), uint64(len(base)))
		fs, err := New(d)
		if err != nil {
			t.Fatal(err)
		}
		do := func(w interp.Write) {
			obs := fs.Observe(w)
			if obs.Txn != nil && (obs.View == nil || len(obs.Violations) > 0) {
				t.Error("records of what is not sound")
			}
			d.apply(w)
			fs.Settle(true)
		}
		super := make([]byte, superLen)
		copy(super, base[superOff:])
		super[sFeatureIncompat] |= incompatRecover
		do(interp.Write{Off: superOff, Len: superLen, Data: super})
		if fs.m == nil {
			t.Fatal("not mounted")
		}
		// A transaction that rewrites the blocks of the first group's metadata, edited.
		geo, j := fs.geo, &fs.m.journal
		js, err := readBlock(d, geo, j.block(0))
		if err != nil {
			t.Fatal(err)
		}
		putBE(js, jStart, j.first)
		do(interp.Write{Off: geo.addr(j.block(0)), Len: 1024, Data: js})
		p := fs.m.layout.places[0]
		homes := []uint32{1, 2, p.blockBitmap, p.inodeBitmap, p.inodeTable, p.inodeTable + 1}
		for b := range fs.m.roles {
			homes = append(homes, b)
		}
		seq := fs.m.seq
		desc := make([]byte, 1024)
		putBE(desc, 0, journalMagic)
		putBE(desc, 4, typeDescriptor)
		putBE(desc, 8, seq)
		for n, b := range homes {
			putBE(desc, journalHeader+fs.m.journal.tagBytes()*n, b)
			flags := uint32(tagFlagSameUUID)
			if n == len(homes)-1 {
				flags |= tagFlagLast
			}
			putBE(desc, journalHeader+fs.m.journal.tagBytes()*n+4, flags)
		}
		// The descriptor begins with its own tags; a few bytes of it are the fuzzer's as well.
		copy(desc[journalHeader+fs.m.journal.tagBytes()*int(at%64):], block[:min(len(block), 8)])
		all := bytes.Clone(desc)
		for n, b := range homes {
			c, err := readBlock(d, geo, b)
			if err != nil {
				t.Fatal(err)
			}
			for e := edits; len(e) >= 4; e = e[4:] {
				if int(e[0])%len(homes) == n {
					c[(int(e[1])*4+int(e[2]%4))%len(c)] = e[3]
				}
			}
			all = append(all, c...)
		}
		commit := make([]byte, 1024)
		putBE(commit, 0, journalMagic)
		putBE(commit, 4, typeCommit)
		putBE(commit, 8, seq)
		all = append(all, commit...)
		do(interp.Write{Off: geo.addr(j.block(j.first)), Len: uint64(len(all)), Data: all})
		// Anything, anywhere.
		if n := len(block) / 512 * 512; n > 0 && fs.FS() != "" {
			do(interp.Write{Off: uint64(at) * 512 % (uint64(len(base)) - uint64(n)), Len: uint64(n), Data: block[:n]})
		}
	})
}
