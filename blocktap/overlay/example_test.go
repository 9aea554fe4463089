package overlay_test

import (
	"bytes"
	"fmt"

	"fsward/blocktap/overlay"
)

// contents are the bytes of a base.
type contents []byte

func (c contents) Size() uint64 { return uint64(len(c)) }

func (c contents) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(c).ReadAt(p, off)
}

// An overlay takes the writes, and its base stays as it is.
func ExampleDisk() {
	base := contents(bytes.Repeat([]byte("base"), 4096))
	disk, err := overlay.New(base)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer disk.Close()
	if _, err := disk.WriteAt([]byte("over"), 4096); err != nil {
		fmt.Println(err)
		return
	}
	b := make([]byte, 8)
	if _, err := disk.ReadAt(b, 4096); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("overlay %s, base %s\n", b, base[4096:4104])
	fmt.Println(disk.Changed(), "of", disk.Size(), "bytes changed")
	// Output:
	// overlay overbase, base basebase
	// 4096 of 16384 bytes changed
}

// Keep makes an overlay a snapshot: it keeps the old contents before its base changes.
func ExampleDisk_Keep() {
	base := contents(bytes.Repeat([]byte("old!"), 4096))
	snapshot, err := overlay.New(base)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer snapshot.Close()
	if err := snapshot.Keep(8192, 4); err != nil {
		fmt.Println(err)
		return
	}
	copy(base[8192:], "new!")
	b := make([]byte, 4)
	if _, err := snapshot.ReadAt(b, 8192); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("snapshot %s, base %s\n", b, base[8192:8196])
	// Output: snapshot old!, base new!
}
