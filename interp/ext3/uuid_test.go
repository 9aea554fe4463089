package ext3

import (
	"bytes"
	"testing"
)

// A mounted file system gets another UUID (EXT4_IOC_SETFSUUID): its superblock and two copies in a transaction, the other
// copies past the journal. All of it is followed, and so is what comes afterwards.
func TestNewUUID(t *testing.T) {
	const uuid = "01234567-89ab-cdef-0123-456789abcdef"
	want := [16]byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef}
	image := mkfs(t, "128M", "-b", "1024")
	base := readFile(t, image)
	f := follow(t, image, 1, nil, nil, `echo x > a; sync -f .; tune2fs -U `+uuid+` $(findmnt -no SOURCE .) && sync -f . && echo y > b && sync -f . && rm a && sync -f .`)
	if f.fs.geo.uuid != want {
		t.Errorf("the UUID that is followed is %x", f.fs.geo.uuid)
	}
	peer(t, "e2fsck", "-fn", image)

	// A copy that is written with more than another UUID is refused, and a commit that has another one in the first copy.
	d := newDisk(bytes.NewReader(base), uint64(len(base)))
	fs := newFS(t, d)
	copies, commits := 0, 0
	for _, w := range f.writes {
		if block := uint32(w.Off / 1024); fs.m != nil && fs.geo.inRange(block) && fs.geo.isSuperCopy(block) && !bytes.Equal(w.Data[sUUID:sUUID+16], fs.geo.uuid[:]) {
			copies++
			altered := w
			altered.Data = bytes.Clone(w.Data)
			altered.Data[sMagic+10]++
			only(t, fs.Observe(altered), "ext3/home")
		}
		if fs.m != nil && !fs.m.idle && fs.m.holdsCommit(w, fs.m.seq) {
			tr, err := fs.m.journal.read(pending{d, w}, fs.m.head, fs.m.seq)
			if err != nil {
				t.Fatal(err)
			}
			if p, ok := tr.copies[fs.geo.groupStart(1)]; ok {
				commits++
				sound := present(t, fs, p.block)
				altered := sound
				altered.Data = bytes.Clone(sound.Data)
				altered.Data[sUUID]++
				d.apply(altered)
				only(t, fs.Observe(w), "ext3/superblock")
				d.apply(sound)
			}
		}
		fs.Observe(w)
		d.apply(w)
		fs.Settle(true)
	}
	if copies == 0 || commits == 0 {
		t.Errorf("Linux wrote %d copies past the journal, and made %d commits with the first", copies, commits)
	}
}
