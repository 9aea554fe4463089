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

	// A copy that is written with more than another UUID is refused.
	d := newDisk(bytes.NewReader(base), uint64(len(base)))
	fs := newFS(t, d)
	copies := 0
	for _, w := range f.writes {
		if block := uint32(w.Off / 1024); fs.m != nil && fs.geo.inRange(block) && fs.geo.isSuperCopy(block) && !bytes.Equal(w.Data[sUUID:sUUID+16], fs.geo.uuid[:]) {
			copies++
			altered := w
			altered.Data = bytes.Clone(w.Data)
			altered.Data[sMagic+10]++
			only(t, fs.Observe(altered), "ext3/home")
		}
		fs.Observe(w)
		d.apply(w)
		fs.Settle(true)
	}
	if copies == 0 {
		t.Error("Linux wrote no copy past the journal")
	}
}
