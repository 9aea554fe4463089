package volume

import (
	"encoding/binary"
	"fmt"
)

const (
	mdMagic    = 0xa92b4efc
	mdReserved = 64 << 10 // bytes; a superblock 0.90 is in the last whole 64 KiB before the last ones
)

// mdMember returns the version of the superblock of Linux md on a device ("md member (1.2)"), "" if
// there is none. The version 1.1 has it at the start, 1.2 at byte 4096; 1.0 and 0.90 near the end.
func mdMember(d *device) (string, error) {
	places := []struct {
		version string
		off     uint64
		ok      bool
	}{
		{"1.1", 0, true}, {"1.2", 4096, true},
		{"1.0", (d.size/sector - 16) &^ 7 * sector, d.size >= 16*sector},
		{"0.90", d.size&^(mdReserved-1) - mdReserved, d.size >= mdReserved},
	}
	for _, p := range places {
		if !p.ok {
			continue
		}
		r, ok, err := d.read(p.off, 256)
		if err != nil {
			return "", err
		}
		if !ok {
			continue
		}
		magic, major := r.U32(mdMagicAt), r.U32(mdMajorAt)
		if p.version == "0.90" && magic != mdMagic {
			magic = binary.BigEndian.Uint32(r.Bytes()[mdMagicAt:])
			major = binary.BigEndian.Uint32(r.Bytes()[mdMajorAt:])
		}
		if magic == mdMagic && (major == 0) == (p.version == "0.90") &&
			(major == 0 || r.U64(mdSectorAt) == p.off/sector) {
			return fmt.Sprintf("md member (%s)", p.version), nil
		}
	}
	return "", nil
}
