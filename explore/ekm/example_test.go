package ekm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"fsward/explore/ekm"
)

// A program in a guest lets the first allocation of a mkdir fail in the kernel, and prints the
// choices that the kernel came to.
func ExampleControl() {
	c, err := ekm.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	if err := errors.Join(
		c.AddTree(uint32(os.Getpid())),
		c.Load([]uint32{1}), // the first choice is 1, failure; all later ones are 0
		c.Start(),
		c.Set(ekm.Slab, ekm.On, ekm.Limit{Symbol: "do_mkdirat"}),
	); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(os.Mkdir("new", 0o755))
	choices, err := c.Taken()
	if err := errors.Join(err, c.Set(ekm.Slab, ekm.Off, ekm.Limit{})); err != nil {
		fmt.Println(err)
		return
	}
	for _, choice := range choices {
		fmt.Println(choice.Point, choice.Value, choice.Site)
	}
}

// A header is the fixed part of a record, as the module writes it.
type header struct {
	Seq, Time, Object, Ino, Pos, Len, PFN uint64
	PageOff, DataLen                      uint32
	Type                                  ekm.Type
	Flags, Dev                            uint32
	Status                                int32
	PID, TGID                             uint32
	Comm                                  [16]byte
	DiskSeq                               uint64
}

// A Reader reads the log of the module, also outside of the guest. This log has a mark and a choice
// at which an allocation failed. The text of each record is padded to a multiple of 8 bytes.
func ExampleNewReader() {
	var log bytes.Buffer
	for _, v := range []any{
		header{Seq: 1, Type: ekm.Mark, DataLen: 5}, []byte("mkdir\x00\x00\x00"),
		header{Seq: 2, Type: ekm.Chosen, Flags: uint32(ekm.Slab), Len: 2, Status: 1, DataLen: 21},
		[]byte("ext4_alloc_inode+0x1f\x00\x00\x00"),
	} {
		if err := binary.Write(&log, binary.LittleEndian, v); err != nil {
			fmt.Println(err)
			return
		}
	}
	r := ekm.NewReader(&log)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(rec.Seq, rec.Type, string(rec.Data))
		if rec.Type == ekm.Chosen {
			fmt.Printf("%v: %d of the values below %d\n", ekm.Point(rec.Flags), rec.Status, rec.Len)
		}
	}
	// Output:
	// 1 mark mkdir
	// 2 choice ext4_alloc_inode+0x1f
	// slab: 1 of the values below 2
}
