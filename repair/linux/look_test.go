package linux_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/explore/agent"
	"fsward/repair/linux"
	"fsward/repair/testimage"
)

// started returns a kernel for images of a size. It ends with the test.
func started(t *testing.T, size uint64) *linux.Machine {
	t.Helper()
	m, err := linux.Start(t.Context(), size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// TestLook shows images of all file systems to the kernel, with -short of one in three: it mounts
// and writes each, and finds the files.
func TestLook(t *testing.T) {
	for i, fs := range linux.FileSystems() {
		if testing.Short() && i%3 > 0 {
			t.Logf("-short: without %s", fs)
			continue
		}
		t.Run(fs, func(t *testing.T) {
			image, err := testimage.Build(t.Context(), fs, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer image.Close()
			m := started(t, image.Size())
			for range 2 {
				if err := m.Put(image); err != nil {
					t.Fatal(err)
				}
				v, err := m.Look(t.Context(), fs, true)
				if err != nil {
					t.Fatal(err)
				}
				if v.Problem != "" || len(v.Complaints) > 0 {
					t.Errorf("%s %q", v.Problem, v.Complaints)
				}
				paths := map[string]uint64{}
				for _, f := range v.Files {
					paths[f.Path] = f.Size
				}
				if paths["f"] != 278<<10 || len(paths) < 104 {
					t.Errorf("%d files, f has %d bytes", len(paths), paths["f"])
				}
			}
		})
	}
}

// image is an image in memory.
type image []byte

func (i image) Size() uint64 { return uint64(len(i)) }

func (i image) CopyTo(f *os.File) error {
	_, err := f.WriteAt(i, 0)
	return err
}

// TestRefused shows the kernel an image that it does not mount, and then one that it does.
func TestRefused(t *testing.T) {
	good, err := testimage.Build(t.Context(), "minix2", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	m := started(t, good.Size())
	if err := m.Put(make(image, good.Size()-512)); err == nil {
		t.Error("an image of another size is accepted")
	}
	if err := m.Put(make(image, good.Size())); err != nil {
		t.Fatal(err)
	}
	v, err := m.Look(t.Context(), "minix2", true)
	if err != nil || !strings.Contains(v.Problem, "mount") {
		t.Errorf("an image of zeros: %+v, %v", v, err)
	}
	if err := m.Put(good); err != nil {
		t.Fatal(err)
	}
	if v, err := m.Look(t.Context(), "minix2", false); err != nil || v.Problem != "" {
		t.Errorf("%+v, %v", v, err)
	}
	if err := m.Fill(t.Context(), "minix2", make([]agent.Op, 1000)); err == nil {
		t.Error("1000 operations are accepted")
	}
}

// TestUnreadable shows the kernel a directory with an entry without a name, which it does not list.
func TestUnreadable(t *testing.T) {
	good, err := testimage.Build(t.Context(), "minix2", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	path := filepath.Join(t.TempDir(), "disk.img")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(good.CopyTo(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	bad, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(bad, []byte("bdev\x00"))
	if at < 0 {
		t.Fatal("the image has no file bdev")
	}
	bad[at] = 0
	m := started(t, good.Size())
	if err := m.Put(image(bad)); err != nil {
		t.Fatal(err)
	}
	v, err := m.Look(t.Context(), "minix2", true)
	if err != nil || !strings.Contains(v.Problem, "read") || v.Where != "." {
		t.Errorf("%+v, %v", v, err)
	}
}
