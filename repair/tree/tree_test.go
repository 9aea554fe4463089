package tree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/repair/minix"
	"fsward/repair/testimage"
)

func built(t *testing.T, fs string) *testimage.Image {
	t.Helper()
	m, err := testimage.Build(t.Context(), fs, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// TestRead reads the same tree from each file system whose files fsward reads.
func TestRead(t *testing.T) {
	for _, fs := range []string{"ext2", "ext3", "minix1", "minix2", "minix3"} {
		t.Run(fs, func(t *testing.T) {
			files, err := Read(built(t, fs), fs)
			if err != nil {
				t.Fatal(err)
			}
			for path, mode := range map[string]uint32{"/": minix.Directory, "/bdev": minix.BlockDev,
				"/cdev": minix.CharDev, "/fdev": minix.FIFO, "/f": minix.Regular, "/d": minix.Directory,
				"/d/slink": minix.Symlink, "/d/hlink": minix.Regular, "/d/d2": minix.Directory,
				"/d/f100": minix.Regular} {
				if f := files[path]; f == nil || f.Mode&minix.TypeMask != mode {
					t.Errorf("%s is %+v, want the type %#o", path, f, mode)
				}
			}
			if f, link := files["/f"], files["/d/hlink"]; f != nil && (f.Size != 278<<10 ||
				f.Content != link.Content) {
				t.Errorf("/f is %+v, and its hard link is %+v", f, link)
			}
			if f := files["/d/f1"]; f != nil && f.Size != 0 {
				t.Errorf("/d/f1 has %d bytes", f.Size)
			}
		})
	}
	t.Run("exfat", func(t *testing.T) { // without special files and links
		files, err := Read(built(t, "exfat"), "exfat")
		if err != nil {
			t.Fatal(err)
		}
		if f := files["/f"]; f == nil || f.Mode&minix.TypeMask != minix.Regular || f.Size != 278<<10 {
			t.Errorf("/f is %+v", f)
		}
		if f := files["/d/d2"]; f == nil || f.Mode&minix.TypeMask != minix.Directory {
			t.Errorf("/d/d2 is %+v", f)
		}
		if f := files["/d/f100"]; f == nil || f.Size != 0 || len(files) != 104 {
			t.Errorf("/d/f100 is %+v, of %d files", f, len(files))
		}
	})
	if _, err := Read(built(t, "minix1"), "hpfs"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("the tree of an unknown file system: %v", err)
	}
}

// patched is an image with patches.
type patched struct {
	*bytes.Reader
}

func (p patched) Size() uint64 { return uint64(p.Reader.Size()) }

func patch(t *testing.T, m *testimage.Image, patches ...interp.Patch) patched {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(m, 0, int64(m.Size())))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range patches {
		copy(b[p.Off:], p.Data)
	}
	return patched{bytes.NewReader(b)}
}

// TestLosses finds what differs, and leaves out what the damage touched.
func TestLosses(t *testing.T) {
	for _, fs := range []string{"ext3", "minix2"} {
		t.Run(fs, func(t *testing.T) {
			m := built(t, fs)
			before, err := Read(m, fs)
			if err != nil {
				t.Fatal(err)
			}
			f := before["/f"]
			i := slices.IndexFunc(f.parts, func(r Range) bool { return r.End-r.Off == 1024 })
			data := f.parts[i+3]
			p := interp.Patch{Off: data.Off + 7, Data: []byte("?")}
			after, err := Read(patch(t, m, p), fs)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(Losses(before, after, nil)); got !=
				"[{/d/hlink has other contents} {/f has other contents}]" {
				t.Errorf("without a damage: %s", got)
			}
			if got := Losses(before, after, []interp.Patch{p}); len(got) != 0 {
				t.Errorf("the damage touched the file, and still %v", got)
			}
			delete(after, "/d/f7")
			after["/cdev"].Device++
			after["/fdev"].Mode ^= 0o22
			got := fmt.Sprint(Losses(before, after, []interp.Patch{p}))
			for _, want := range []string{"/d/f7 is gone", "/cdev has device", "/fdev has mode"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s lacks %q", got, want)
				}
			}
		})
	}
}

// TestSparseFile reads a file that a damage of its size made sparse. Only its size differs: a hole
// is no loss, however large it is, and neither is one that is full of zeros.
func TestSparseFile(t *testing.T) {
	for fs, at := range map[string]uint64{"ext3": 108, "minix2": 11} { // i_size_high, and i_size
		t.Run(fs, func(t *testing.T) {
			m := built(t, fs)
			before, err := Read(m, fs)
			if err != nil {
				t.Fatal(err)
			}
			f := before["/f"]
			damage := interp.Patch{Off: f.parts[0].Off + at, Data: []byte{0x3f}}
			after, err := Read(patch(t, m, damage), fs)
			if err != nil {
				t.Fatal(err)
			}
			if g := after["/f"]; g.Size < 0x3f<<24 || g.Content != f.Content {
				t.Errorf("%+v, and before %+v", g, f)
			}
		})
	}
	c, d := newContents(1<<20), newContents(1<<20)
	c.add(7, []byte("seven"))
	d.add(5, make([]byte, 5))
	d.add(7, []byte("seven"))
	e := newContents(1 << 20)
	e.add(8, []byte("seven"))
	if s := c.hash.Sum64(); s != d.hash.Sum64() || s == e.hash.Sum64() {
		t.Error("zeros count, or the place of a block does not")
	}
}

// An entry of the root without a name is not the root.
func TestNoName(t *testing.T) {
	m := built(t, "minix2")
	all, err := io.ReadAll(io.NewSectionReader(m, 0, int64(m.Size())))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(all, []byte("bdev\x00"))
	if at < 0 {
		t.Fatal("the image has no file bdev")
	}
	files, err := Read(patch(t, m, interp.Patch{Off: uint64(at), Data: []byte{0}}), "minix2")
	if err != nil {
		t.Fatal(err)
	}
	if root := files["/"]; root.Mode&minix.TypeMask != minix.Directory || files["/"+noName] == nil {
		t.Errorf("the root is %+v, and the entry without a name is %+v", root, files["/"+noName])
	}
}

// TestHostile reads directories that contain themselves, and inodes with impossible numbers: an
// error each, in bounded time.
func TestHostile(t *testing.T) {
	m := built(t, "minix1")
	f, err := minix.Open(m, m.Size())
	if err != nil {
		t.Fatal(err)
	}
	root, err := f.Inode(minix.Root)
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.Entries(root)
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	// The third entry of the root is its first file: let it be the root again.
	at := list[0].Block*minix.BlockSize + 2*32
	number := func(n uint16) interp.Patch {
		return interp.Patch{Off: at, Data: binary.LittleEndian.AppendUint16(nil, n)}
	}
	for n, want := range map[uint16]string{minix.Root: "contain themselves", 0xffff: "inode 65535"} {
		if _, err := Read(patch(t, m, number(n)), "minix1"); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("entry with inode %d: %v, want %q", n, err, want)
		}
	}
	// A block of pointers to itself, three levels deep.
	m = built(t, "ext3")
	before, err := Read(m, "ext3")
	if err != nil {
		t.Fatal(err)
	}
	parts := before["/f"].parts
	loop := parts[slices.IndexFunc(parts, func(r Range) bool { return r.End-r.Off == 1024 })]
	itself := binary.LittleEndian.AppendUint32(nil, uint32(loop.Off/1024))
	if _, err := Read(patch(t, m, interp.Patch{Off: loop.Off, Data: bytes.Repeat(itself, 256)},
		interp.Patch{Off: parts[0].Off + 40 + 14*4, Data: itself},
		interp.Patch{Off: parts[0].Off + 108, Data: []byte{1}}), "ext3"); err == nil ||
		!strings.Contains(err.Error(), "more blocks than the disk") {
		t.Errorf("a block of pointers to itself: %v", err)
	}
	if _, err := Read(patched{bytes.NewReader(make([]byte, 1<<16))}, "ext3"); err == nil {
		t.Error("an image of zeros has files")
	}
}
