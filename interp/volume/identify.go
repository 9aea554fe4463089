package volume

import (
	"bytes"

	"fsward/interp"
)

// magic is a text at a place of a device that a format always has.
type magic struct {
	name string
	off  uint64 // bytes; from the end of the device if fromEnd
	text string
	end  bool
}

// magics lists formats by their magic, as libblkid and file(1) know them. Formats whose magic is
// long or deep in the device stand before those whose magic is short: the first that fits counts.
var magics = []magic{
	{name: "LUKS1", text: "LUKS\xba\xbe\x00\x01"},
	{name: "LUKS2", text: "LUKS\xba\xbe\x00\x02"},
	{name: "LUKS2 (second header)", off: 16 << 10, text: "SKUL\xba\xbe\x00\x02"},
	{name: "bcache", off: 4096 + 24,
		text: "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"},
	{name: "bcachefs", off: 4096 + 24,
		text: "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"},
	{name: "VDO", text: "dmvdo001"},
	{name: "DRBD metadata", off: 4096 - 4, end: true, text: "\x83\x74\x02\x6b"},
	{name: "XFS", text: "XFSB"},
	{name: "btrfs", off: btrfsSuper + btrfsMagicAt, text: btrfsMagic},
	{name: "qcow2 image", text: "QFI\xfb"},
	{name: "QED image", text: "QED\x00"},
	{name: "VMDK image", text: "KDMV"},
	{name: "VMDK image", text: "COWD"},
	{name: "VMDK descriptor", text: "# Disk DescriptorFile"},
	{name: "VDI image", off: 64, text: "\x7f\x10\xda\xbe"},
	{name: "VHDX image", text: "vhdxfile"},
	{name: "VHD image", text: "conectix"},
	{name: "VHD image", off: 512, end: true, text: "conectix"},
	{name: "reiserfs", off: 64<<10 + 52, text: "ReIsErFs"},
	{name: "reiserfs", off: 64<<10 + 52, text: "ReIsEr2Fs"},
	{name: "reiserfs", off: 64<<10 + 52, text: "ReIsEr3Fs"},
	{name: "reiserfs", off: 8<<10 + 52, text: "ReIsErFs"},
	{name: "reiser4", off: 64 << 10, text: "ReIsEr4"},
	{name: "jfs", off: 32 << 10, text: "JFS1"},
	{name: "f2fs", off: 1024, text: "\x10\x20\xf5\xf2"},
	{name: "nilfs2", off: 1024 + 6, text: "\x34\x34"},
	{name: "squashfs", text: "hsqs"},
	{name: "erofs", off: 1024, text: "\xe2\xe1\xf5\xe0"},
	{name: "cramfs", text: "\x45\x3d\xcd\x28"},
	{name: "gfs2", off: 64 << 10, text: "\x01\x16\x19\x70"},
	{name: "ocfs2", off: 8 << 10, text: "OCFSV2"},
	{name: "iso9660", off: 32<<10 + 1, text: "CD001"},
	{name: "udf", off: 32<<10 + 1, text: "BEA01"},
	{name: "hfsplus", off: 1024, text: "H+\x00\x04"},
	{name: "hfsplus", off: 1024, text: "HX\x00\x05"},
	{name: "exfat", off: 3, text: "EXFAT   "},
	{name: "NTFS", off: 3, text: "NTFS    "},
	{name: "ReFS", off: 3, text: "ReFS\x00\x00\x00\x00"},
	{name: "BitLocker", off: 3, text: "-FVE-FS-"},
	{name: "zstd-compressed file", text: "\x28\xb5\x2f\xfd"},
	{name: "xz-compressed file", text: "\xfd7zXZ\x00"},
	{name: "bzip2-compressed file", text: "BZh"},
	{name: "lz4-compressed file", text: "\x04\x22\x4d\x18"},
	{name: "gzip-compressed file", text: "\x1f\x8b\x08"},
	{name: "zip file", text: "PK\x03\x04"},
	{name: "ELF file", text: "\x7fELF"},
}

// identifyHead covers the places of all magics that count from the start, bytes.
const identifyHead = 68 << 10

// Identify names the content of a device by its magic: "XFS", "swap", "LUKS2", "md member (1.2)".
// It returns "" for unknown content, and for an empty device. It reads less than 1 MiB.
//
// A format that contains other ones comes first: a container of LUKS, md or LVM, then file systems,
// then compressed files, whose magic is short.
func Identify(d interp.Disk) string {
	whole := newDevice(d, 0, d.Size())
	dev := &whole
	if version, _ := mdMember(dev); version != "" {
		return version
	}
	if p, _ := readPV(dev); p != nil {
		return "LVM2 PV"
	}
	r, err := dev.head(identifyHead)
	if err != nil {
		return ""
	}
	if zfs, _ := zfsMember(dev); zfs {
		return "ZFS member"
	}
	for i := range magics {
		if magics[i].on(dev, r.Bytes()) {
			return magics[i].name
		}
	}
	switch {
	case swap(r.Bytes()):
		return "swap"
	case r.Len() >= extSuper+extIncompatAt+4 && r.U16(extSuper+extMagicAt) == extMagic:
		return ext(r.U32(extSuper+extCompatAt), r.U32(extSuper+extIncompatAt))
	}
	return bootSector(r)
}

// on reports whether a device whose first bytes are head has a magic.
func (m *magic) on(d *device, head []byte) bool {
	if m.end {
		if d.size < m.off {
			return false
		}
		r, ok, err := d.read(d.size-m.off, uint64(len(m.text)))
		return ok && err == nil && string(r.Bytes()) == m.text
	}
	return uint64(len(head)) > m.off && bytes.HasPrefix(head[m.off:], []byte(m.text))
}

// ext names a file system of the ext family by its compatible and incompatible features.
func ext(compat, incompat uint32) string {
	const hasJournal, journalDevice, extents = 0x4, 0x8, 0x40
	switch {
	case incompat&journalDevice != 0:
		return "external journal of ext3 or ext4"
	case incompat&extents != 0:
		return "ext4"
	case compat&hasJournal != 0:
		return "ext3"
	}
	return "ext2"
}

// swap reports whether a device is swap space, or a hibernated system in one. The magic stands at
// the end of the first page, whose size is that of the machine.
func swap(head []byte) bool {
	for _, page := range []int{4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10} {
		if len(head) < page {
			return false
		}
		switch string(head[page-10 : page]) {
		case "SWAPSPACE2", "SWAP-SPACE", "S1SUSPEND\x00", "S2SUSPEND\x00", "ULSUSPEND\x00":
			return true
		}
	}
	return false
}

const (
	zfsLabel  = 256 << 10 // bytes; two stand at the start of a device, and two at its end
	zfsUbers  = 128 << 10 // offset of the uberblocks in a label
	zfsStride = 1 << 10   // bytes of the smallest uberblock
	zfsMagic  = 0x00bab10c
)

// zfsMember reports whether a device has an uberblock of ZFS in its first label, in either byte
// order.
func zfsMember(d *device) (bool, error) {
	r, ok, err := d.read(zfsUbers, zfsLabel-zfsUbers)
	if err != nil || !ok {
		return false, err
	}
	for o := 0; o+zfsStride <= r.Len(); o += zfsStride {
		switch r.U64(o) {
		case zfsMagic, 0x0cb1ba0000000000:
			return true, nil
		}
	}
	return false, nil
}
