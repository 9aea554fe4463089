package ext3

import (
	"bytes"
	"testing"

	"fsward/interp/ext3/ondisk"
)

// TestNewUUID gives a mounted file system another UUID (EXT4_IOC_SETFSUUID): its superblock and two
// copies change in a transaction, the other copies without the journal. The interpreter follows all
// these writes and later commits.
func TestNewUUID(t *testing.T) {
	const uuid = "01234567-89ab-cdef-0123-456789abcdef"
	want := [16]byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89,
		0xab, 0xcd, 0xef}
	image := Mkfs(t, "128M", "-b", "1024")
	base := ReadFile(t, image)
	f := Follow(t, image, 1, nil, nil,
		`echo x > a; sync -f .; tune2fs -U `+uuid+` $(findmnt -no SOURCE .) && sync -f . &&
			echo y > b && sync -f . && rm a && sync -f .`)
	if f.fs.geo.UUID != want {
		t.Errorf("the UUID that is followed is %x", f.fs.geo.UUID)
	}
	peer(t, "e2fsck", "-fn", image)

	// A copy that changes more than the UUID is refused, and so is a commit with another UUID in
	// the first copy.
	d := NewDisk(bytes.NewReader(base), uint64(len(base)))
	fs := newFS(t, d)
	copies, commits := 0, 0
	for _, w := range f.Writes {
		if block := uint32(w.Off / 1024); fs.m != nil && fs.geo.InRange(block) &&
			fs.geo.IsSuperCopy(block) && !bytes.Equal(w.Data[ondisk.SuperUUIDAt:ondisk.SuperUUIDAt+16],
			fs.geo.UUID[:]) {
			copies++
			altered := w
			altered.Data = bytes.Clone(w.Data)
			altered.Data[ondisk.SuperMagicAt+10]++
			only(t, fs.Observe(altered), "ext3/home")
		}
		if fs.m != nil && !fs.m.Log.idle && fs.m.Log.holdsCommit(w, fs.m.Log.nextSeq) {
			tr, err := fs.m.Log.Read(PendingDevice{d, w}, fs.m.Log.head, fs.m.Log.nextSeq)
			if err != nil {
				t.Fatal(err)
			}
			if p, ok := tr.Copies[fs.geo.GroupStart(1)]; ok {
				commits++
				sound := present(t, fs, p.Block)
				altered := sound
				altered.Data = bytes.Clone(sound.Data)
				altered.Data[ondisk.SuperUUIDAt]++
				d.Apply(altered)
				only(t, fs.Observe(w), "ext3/superblock")
				d.Apply(sound)
			}
		}
		fs.Observe(w)
		d.Apply(w)
		fs.Settle(true)
	}
	if copies == 0 || commits == 0 {
		t.Errorf("Linux wrote %d copies past the journal, and made %d commits with the first", copies,
			commits)
	}
}
