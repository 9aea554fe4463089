package testimage

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestUnpack reads an image that is compressed in each way, and one that is not.
func TestUnpack(t *testing.T) {
	plain := sparse(t)
	want, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"gzip", "-k"}, {"xz", "-k"}, {"zstd", "-q", "-k"}} {
		if out, err := exec.Command(argv[0], append(argv[1:], plain)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	for _, suffix := range []string{"", ".gz", ".xz", ".zst"} {
		m, err := Unpack(t.Context(), plain+suffix, "ext4", t.TempDir())
		if err != nil {
			t.Errorf("%q: %v", suffix, err)
			continue
		}
		if !bytes.Equal(contents(t, m), want) {
			t.Errorf("%q: the contents differ", suffix)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, suffix := range []string{".gz", ".xz", ".zst"} {
		bad := filepath.Join(t.TempDir(), "bad"+suffix)
		if err := os.WriteFile(bad, []byte("no archive"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Unpack(t.Context(), bad, "ext4", t.TempDir()); err == nil {
			t.Errorf("text is read as %s", suffix)
		}
	}
}

// TestUnpackDump restores a dump of btrfs-image.
func TestUnpackDump(t *testing.T) {
	m, err := Build(t.Context(), "btrfs", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	path, dump := filepath.Join(t.TempDir(), "disk.img"), filepath.Join(t.TempDir(), "dump.img")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := m.CopyTo(f); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("btrfs-image", path, dump).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	restored, err := Unpack(t.Context(), dump, "btrfs", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	magic := make([]byte, len(btrfsMagic))
	if _, err := restored.ReadAt(magic, btrfsMagicAt); err != nil || string(magic) != btrfsMagic {
		t.Errorf("%q, %v", magic, err)
	}
}
