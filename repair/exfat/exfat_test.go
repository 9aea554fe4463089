package exfat

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
)

// disk returns an image of 16 clusters of 512 bytes with a file "a" of 700 bytes in the root: a
// boot sector, a FAT, and clusters from byte 1,024 on.
func disk() []byte {
	b := make([]byte, 1024+16*512)
	le := binary.LittleEndian
	copy(b[3:], "EXFAT   ")
	le.PutUint32(b[80:], 1) // FAT
	le.PutUint32(b[88:], 2) // clusters
	le.PutUint32(b[92:], 16)
	le.PutUint32(b[96:], 2) // the root
	b[108] = 9
	for cluster, next := range map[int]uint32{2: 0xffffffff, 3: 5, 5: 0xffffffff} {
		le.PutUint32(b[512+4*cluster:], next)
	}
	copy(b[1024:], set("a", archive, 3, 700))
	b[1024+512], b[1024+3*512] = 'x', 'y' // clusters 3 and 5
	return b
}

// TestDamaged reads damaged images: each gives an error that names the damage.
func TestDamaged(t *testing.T) {
	le := binary.LittleEndian
	for want, damage := range map[string]func(b []byte){
		"":                       func([]byte) {},
		"not one of exFAT":       func(b []byte) { b[3] = 'N' },
		"outside the image":      func(b []byte) { le.PutUint32(b[92:], 17) },
		"cluster 0 lies outside": func(b []byte) { le.PutUint32(b[512+4*3:], 0) },
		"has no end":             func(b []byte) { le.PutUint32(b[512+4*2:], 2) },
		"the checksum is wrong":  func(b []byte) { b[1024+4] ^= 1 },
		"no stream":              func(b []byte) { b[1024+1] = 1 },
		"name of 16 characters":  func(b []byte) { b[1024+32+3] = 16; resum(b[1024:]) },
		"a file of 9000 bytes":   func(b []byte) { le.PutUint64(b[1024+32+24:], 9000); resum(b[1024:]) },
		"701 of 700 bytes":       func(b []byte) { le.PutUint64(b[1024+32+8:], 701); resum(b[1024:]) },
		"cluster 999 lies outs":  func(b []byte) { le.PutUint32(b[1024+32+20:], 999); resum(b[1024:]) },
	} {
		b := disk()
		damage(b)
		got, err := contents(b)
		if want == "" {
			if err != nil || len(got) != 700 || got[0] != 'x' || got[512] != 'y' {
				t.Errorf("the sound image: %d bytes, %v", len(got), err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

func resum(b []byte) { binary.LittleEndian.PutUint16(b[2:], sum(b[:96])) }

// contents returns the contents of all files of the root.
func contents(b []byte) ([]byte, error) {
	f, err := Open(bytes.NewReader(b), uint64(len(b)))
	if err != nil {
		return nil, err
	}
	list, err := f.Entries(f.Root())
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, file := range list {
		if err := f.Copy(&out, file); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// FuzzOpen reads any image: an error or files, and no panic.
func FuzzOpen(f *testing.F) {
	f.Add(disk())
	f.Fuzz(func(_ *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		fs, err := Open(bytes.NewReader(b), uint64(len(b)))
		if err != nil {
			return
		}
		list, err := fs.Entries(fs.Root())
		if err != nil {
			return
		}
		for _, file := range list[:min(len(list), 16)] {
			_ = fs.Copy(io.Discard, file)
			_, _ = fs.Entries(file)
		}
	})
}
