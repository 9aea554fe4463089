package ext3

import (
	"bytes"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

func FuzzDirectoryBlock(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 12, 0, 1, 2, '.', 0, 0, 0, 2, 0, 0, 0, 0, 4, 2, 2, '.', '.'}, true)
	f.Fuzz(func(t *testing.T, b []byte, fileType bool) {
		b = append(b, make([]byte, (1024-len(b)%1024)%1024)...)
		if len(b) == 0 || len(b) > 1<<16 {
			return
		}
		last := -1
		at, fault := ondisk.Entries(b, fileType, func(e ondisk.Entry) {
			if e.Off <= last || len(e.Name) > 255 || e.Off+ondisk.DirentLen+len(e.Name) > len(b) {
				t.Errorf("entry %+v after %d", e, last)
			}
			last = e.Off
		})
		if fault == "" && at != 0 || at > len(b) {
			t.Errorf("fault %q at %d of %d", fault, at, len(b))
		}
		l := &Layout{Geo: &ondisk.Geometry{BlockSize: uint32(len(b)), Inodes: 64, FirstIno: 11,
			FileType: fileType}}
		l.checkDir(2, b, 7, true, func(ondisk.Entry) {})
		r := &IndexReader{Snapshot: Snapshot{Layout: l}, dir: 2, inode: make(ondisk.Inode,
			ondisk.InodeLen), leaves: make(map[uint32]hashRange), nodes: make(map[uint32]bool)}
		if err := r.entries(b, 7, ondisk.IndexRootEntries, hashRange{0, ondisk.IndexMaxHash},
			0); err != nil || len(r.leaves) > len(b)/ondisk.IndexEntryLen {
			t.Errorf("%d leaves, %v", len(r.leaves), err)
		}
	})
}

func FuzzAccessList(f *testing.F) {
	f.Add(acl(ondisk.ACLUserObj, 6, ondisk.ACLUser, 4, ondisk.ACLGroupObj, 4, ondisk.ACLMask, 7,
		ondisk.ACLOther, 0))
	f.Add([]byte{1, 0, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if fault := ondisk.ACLFault(b); fault == "" && len(b) > ondisk.ACLHeadLen &&
			(len(b)-ondisk.ACLHeadLen)%ondisk.ACLEntryLen != 0 {
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
		js := ondisk.JournalSuper{Checksum: features&1 != 0, CsumVersion: []int{0, 2, 3, 0}[features/2%4],
			Wide: features&8 != 0}
		some := &Journal{JournalSuper: js}
		if n := len(some.ParseTags(b)); n > len(b)/some.TagBytes() {
			t.Errorf("%d tags in %d bytes", n, len(b))
		}
		if blocks, err := some.ParseRevoke(b); err == nil && len(blocks) > len(b)/4 {
			t.Errorf("%d revoked in %d bytes", len(blocks), len(b))
		}
		if js, err := ondisk.ParseJournalSuper(b, 0, 1024, 4096); err == nil && (js.MaxLen > 4096 ||
			js.First >= js.MaxLen || js.Start >= js.MaxLen) {
			t.Errorf("accepted %+v", js)
		}
		// A journal that consists of these blocks.
		geo := &ondisk.Geometry{BlockSize: 1024, Blocks: uint32(len(b)/1024) + 1, FirstData: 1,
			BlocksPerGroup: 8192}
		n := uint32(len(b) / 1024)
		js.MaxLen, js.First = n, min(1, n-1)
		j := &Journal{Geo: geo, Runs: []run{{0, 0, n}}, deviceBlocks: uint64(n), JournalSuper: js}
		if tr, err := j.Read(bytes.NewReader(b), j.First, ondisk.BE32(b, 8)); err == nil &&
			uint32(len(tr.Copies)) > n {
			t.Errorf("%d copies in a journal of %d", len(tr.Copies), n)
		}
	})
}

// Patch changes bytes of an image by the fuzzer's input: each four bytes are a place and a value.
// The places are in blocks that hold metadata.
func Patch(d *MemDisk, meta []uint64, edits []byte) {
	for ; len(edits) >= 4 && len(meta) > 0; edits = edits[4:] {
		block := meta[int(edits[0])%len(meta)]
		off := block*1024 + uint64(edits[1])*4 + uint64(edits[2]%4)
		d.Apply(interp.Write{Off: off, Len: 1, Data: edits[3:4]})
	}
}

// Small makes an image without a kernel: fuzz workers run in parallel and must not mount.
func Small(f *testing.F) []byte {
	f.Helper()
	image := Mkfs(f, "4M", "-b", "1024", "-I", "128", "-J", "size=1")
	return ReadFile(f, image)
}

// Metadata lists the blocks of an image that hold metadata.
func Metadata(f *testing.F, base []byte) []uint64 {
	f.Helper()
	meta := []uint64{1, 2}
	d := NewDisk(bytes.NewReader(base), uint64(len(base)))
	m, err := Mount(d, d.Size())
	if err != nil {
		f.Fatal(err)
	}
	p := m.Layout.Places[0]
	for _, b := range []uint32{p.BlockBitmap, p.InodeBitmap, p.InodeTable, p.InodeTable + 1,
		m.Log.Block(0), m.Log.Block(1)} {
		meta = append(meta, uint64(b))
	}
	root, err := m.Inode(ondisk.RootIno)
	if err != nil {
		f.Fatal(err)
	}
	return append(meta, uint64(root.Pointer(0)))
}

func FuzzImage(f *testing.F) {
	base := Small(f)
	meta := Metadata(f, base)
	f.Add([]byte{0, 24, 0, 5, 4, 32, 0, 7})
	f.Fuzz(func(t *testing.T, edits []byte) {
		d := NewDisk(bytes.NewReader(base), uint64(len(base)))
		Patch(d, meta, edits)
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
	base := Small(f)
	f.Add([]byte{1, 2, 3, 4}, []byte("\xc0\x3b\x39\x98\x00\x00\x00\x01\x00\x00\x00\x01"), uint16(0))
	f.Fuzz(func(t *testing.T, edits, block []byte, at uint16) {
		d := NewDisk(bytes.NewReader(base), uint64(len(base)))
		fs, err := New(d)
		if err != nil {
			t.Fatal(err)
		}
		do := func(w interp.Write) {
			obs := fs.Observe(w)
			if obs.Txn != nil && (obs.View == nil || len(obs.Violations) > 0) {
				t.Error("a transaction has records although its structure is not sound")
			}
			if obs.Txn != nil && fs.pending.commit != nil {
				sameAsStream(t, fs.pending.commit.delta)
			}
			d.Apply(w)
			fs.Settle(true)
		}
		super := make([]byte, ondisk.SuperLen)
		copy(super, base[ondisk.SuperOff:])
		super[ondisk.SuperFeatureIncompatAt] |= ondisk.IncompatRecover
		do(interp.Write{Off: ondisk.SuperOff, Len: ondisk.SuperLen, Data: super})
		if fs.m == nil {
			t.Fatal("not mounted")
		}
		geo, j := fs.geo, &fs.m.Log.Journal
		js, err := ReadBlock(d, geo, j.Block(0))
		if err != nil {
			t.Fatal(err)
		}
		putBE(js, ondisk.JournalSuperStartAt, j.First)
		do(interp.Write{Off: geo.Addr(j.Block(0)), Len: 1024, Data: js})
		log := fuzzedTransaction(t, d, fs, edits, block, int(at))
		do(interp.Write{Off: geo.Addr(j.Block(j.First)), Len: uint64(len(log)), Data: log})
		// Any bytes, anywhere.
		if n := len(block) / 512 * 512; n > 0 && fs.FS() != "" {
			do(interp.Write{Off: uint64(at) * 512 % (uint64(len(base)) - uint64(n)), Len: uint64(n),
				Data: block[:n]})
		}
	})
}

// fuzzedTransaction returns the log blocks of a transaction that rewrites the metadata blocks of
// the first group with edits. The fuzzer also changes a few bytes of the descriptor: block at tag
// at.
func fuzzedTransaction(t *testing.T, d *MemDisk, fs *FS, edits, block []byte, at int) []byte {
	p := fs.m.Layout.Places[0]
	homes := []uint32{1, 2, p.BlockBitmap, p.InodeBitmap, p.InodeTable, p.InodeTable + 1}
	for b := range fs.m.Roles.All() {
		homes = append(homes, b)
	}
	seq, tagBytes := fs.m.Log.nextSeq, fs.m.Log.TagBytes()
	desc := make([]byte, 1024)
	putBE(desc, 0, ondisk.JournalMagic)
	putBE(desc, 4, ondisk.TypeDescriptor)
	putBE(desc, 8, seq)
	for n, b := range homes {
		putBE(desc, ondisk.JournalHeaderLen+tagBytes*n, b)
		flags := uint32(ondisk.TagFlagSameUUID)
		if n == len(homes)-1 {
			flags |= ondisk.TagFlagLast
		}
		putBE(desc, ondisk.JournalHeaderLen+tagBytes*n+4, flags)
	}
	copy(desc[ondisk.JournalHeaderLen+tagBytes*(at%64):], block[:min(len(block), 8)])
	log := bytes.Clone(desc)
	for n, b := range homes {
		c, err := ReadBlock(d, fs.geo, b)
		if err != nil {
			t.Fatal(err)
		}
		for e := edits; len(e) >= 4; e = e[4:] {
			if int(e[0])%len(homes) == n {
				c[(int(e[1])*4+int(e[2]%4))%len(c)] = e[3]
			}
		}
		log = append(log, c...)
	}
	commit := make([]byte, 1024)
	putBE(commit, 0, ondisk.JournalMagic)
	putBE(commit, 4, ondisk.TypeCommit)
	putBE(commit, 8, seq)
	return append(log, commit...)
}
