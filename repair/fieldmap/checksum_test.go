package fieldmap_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fsward/repair/fieldmap"
	"fsward/repair/testimage"
)

// TestRemade makes checksums again where nothing is wrong: they stay what the programs that made
// the image wrote.
func TestRemade(t *testing.T) {
	for fs, least := range map[string]int{"ext4": 40, "exfat": 1, "xfs": 12, "f2fs": 2} {
		image, _, found, seals := find(t, fs)
		made := 0
		for _, f := range found {
			if f.Width == 0 {
				continue
			}
			sums, err := seals.Mend(image, []fieldmap.Change{{Off: f.Off, Data: f.Bytes(f.Old)}})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range sums {
				made++
				was := make([]byte, len(s.Data))
				if _, err := image.ReadAt(was, int64(s.Off)); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(was, s.Data) {
					t.Errorf("%s: over %s, the checksum at %d is %x, and made again %x", fs, f.Name(), s.Off,
						was, s.Data)
				}
			}
		}
		if len(seals) < least || made < len(seals) {
			t.Errorf("%s: %d checksums, made %d times", fs, len(seals), made)
		}
	}
}

// find returns an image, its path, its fields and its checksums.
func find(t *testing.T, fs string) (*testimage.Image, string, []*fieldmap.Found, fieldmap.Seals) {
	t.Helper()
	image, err := testimage.Build(t.Context(), fs, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = image.Close() })
	path := filepath.Join(t.TempDir(), "disk.img")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := image.CopyTo(f); err != nil {
		t.Fatal(err)
	}
	m, err := fieldmap.Known(fs)
	if err != nil {
		t.Fatal(err)
	}
	found, seals, err := m.Find(image)
	if err != nil {
		t.Fatal(err)
	}
	return image, path, found, seals
}

// stillWrong matches the fields of ext4 after whose damage e2fsck does report a checksum, although
// those over the field are right.
var stillWrong = regexp.MustCompile(`_csum|checksum|det_|` + // they are damaged themselves
	// Other bytes are taken for what is summed, and a block for another inode's.
	`bitmap$|bitmap_hi$|inode_table|ee_block|_start|ee_len|eh_depth|eh_magic|inode_size|desc_size`)

// TestExt4Checksums damages each field of ext4, with checksums that are made right: e2fsck reports
// what is wrong with the field, and no checksum. With one that is not made right it does.
func TestExt4Checksums(t *testing.T) {
	image, path, found, seals := find(t, "ext4")
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tried, reported := 0, 0
	for i, f := range found {
		if f.Width == 0 && i%64 != 0 {
			continue // one of many bits
		}
		change := fieldmap.Change{Off: f.Off, Data: f.Bytes(f.Old ^ 1)}
		if f.Width == 0 {
			b, _ := f.Flipped()
			change.Data = []byte{b}
		}
		changes := []fieldmap.Change{change}
		sums, err := seals.Mend(image, changes)
		if err != nil {
			t.Fatal(err)
		}
		write(t, file, append(changes, sums...))
		if out := e2fsck(path); strings.Contains(out, "checksum") && !stillWrong.MatchString(f.Group) {
			t.Errorf("%s: %s", f.Name(), out)
		}
		if len(sums) > 0 && tried%16 == 0 {
			var old []fieldmap.Change
			for _, s := range sums {
				data := make([]byte, len(s.Data))
				if _, err := image.ReadAt(data, int64(s.Off)); err != nil {
					t.Fatal(err)
				}
				old = append(old, fieldmap.Change{Off: s.Off, Data: data})
			}
			write(t, file, old)
			if strings.Contains(e2fsck(path), "checksum") {
				reported++
			}
		}
		tried++
		if err := image.CopyTo(file); err != nil {
			t.Fatal(err)
		}
	}
	if reported < 10 {
		t.Errorf("of %d fields, e2fsck reports %d checksums that are not made right", tried, reported)
	}
	t.Logf("%d fields; %d checksums that are not made right are reported", tried, reported)
}

func write(t *testing.T, f *os.File, changes []fieldmap.Change) {
	t.Helper()
	for _, c := range changes {
		if _, err := f.WriteAt(c.Data, int64(c.Off)); err != nil {
			t.Fatal(err)
		}
	}
}

// e2fsck returns what a check prints. Its status says no more.
func e2fsck(path string) string {
	out, _ := exec.Command("e2fsck", "-fn", path).CombinedOutput()
	return string(out)
}
