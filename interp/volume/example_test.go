package volume_test

import (
	"encoding/binary"
	"fmt"

	"fsward/interp/volume"
)

// An MBR with one partition gives one volume. Boot code precedes it, and a gap follows it.
func ExampleRead() {
	image := make([]byte, 4<<20)
	entry := image[446:]
	entry[4] = 0x83                                 // Linux
	binary.LittleEndian.PutUint32(entry[8:], 2048)  // first sector
	binary.LittleEndian.PutUint32(entry[12:], 4096) // sectors
	binary.LittleEndian.PutUint16(image[510:], 0xaa55)
	m, err := volume.Read(memory(image))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range m.Volumes {
		fmt.Println(v.Path, v.Kind, v.Size, v.Type)
	}
	for _, addr := range []uint64{0, 2 << 20, 7 << 19} {
		fmt.Println(addr, m.Place(addr).What)
	}
	// Output:
	// p1 partition 2097152 0x83
	// 0 boot code
	// 2097152 volume
	// 3670016 gap
}
