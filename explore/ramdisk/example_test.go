package ramdisk_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"fsward/explore/ramdisk"
)

// A program in a guest makes a disk in memory, lets its first write be torn, and takes all writes
// back.
func ExampleControl_Make() {
	c, err := ramdisk.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	d, err := c.Make(0, 64<<20)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := errors.Join(
		d.Snapshot("empty"),
		d.Inject(ramdisk.Rule{Action: ramdisk.Tear, Ops: []ramdisk.Op{ramdisk.Write},
			Nth: 1, Times: 1, Arg: 1}), // only its first sector reaches the disk
		os.WriteFile(d.Path(), make([]byte, 1<<20), 0),
	); err != nil {
		fmt.Println(err)
		return
	}
	restored, err := d.Restore("empty")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(restored.Pages, "pages restored in", restored.Took)
}

// A header is the fixed part of a record, as the module writes it.
type header struct {
	Seq, Time, ID, Sector, Len, Done uint64
	DataLen                          uint32
	Type                             ramdisk.Type
	Op                               ramdisk.Op
	Flags                            ramdisk.Flags
	Disk                             uint32
	Status                           int32
	Injected, PID, TGID              uint32
	Comm                             [16]byte
}

// A Reader reads the log of the disks, also outside of the guest. This log has a write of two
// sectors. It was torn after the first.
func ExampleNewReader() {
	var log bytes.Buffer
	for _, v := range []any{
		header{Seq: 1, ID: 7, Type: ramdisk.Submit, Op: ramdisk.Write, Sector: 8, Len: 1024,
			DataLen: 1024},
		make([]byte, 1024),
		header{Seq: 2, ID: 7, Type: ramdisk.Complete, Op: ramdisk.Write, Sector: 8, Len: 1024,
			Done: 512, Injected: 1 << ramdisk.Tear},
	} {
		if err := binary.Write(&log, binary.LittleEndian, v); err != nil {
			fmt.Println(err)
			return
		}
	}
	r := ramdisk.NewReader(&log)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v of %v %d at sector %d: %d of %d bytes done, torn %v\n", rec.Type, rec.Op,
			rec.ID, rec.Sector, rec.Done, rec.Len, rec.Injected.Has(ramdisk.Tear))
	}
	// Output:
	// submit of write 7 at sector 8: 0 of 1024 bytes done, torn false
	// complete of write 7 at sector 8: 512 of 1024 bytes done, torn true
}
