package btrfs_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/interp"
	"fsward/interp/btrfs"
)

// TestKernelCompression checks that the contents of compressed files are those that the kernel
// reads: whole and inline extents, parts of extents, holes, and an end inside a sector.
func TestKernelCompression(t *testing.T) {
	k := startKernel(t, 256<<20)
	var names []string
	for _, by := range []string{"zlib", "lzo", "zstd"} {
		run(t, "mount", "-o", "remount,compress-force="+by, k.mnt)
		text := []byte(strings.Repeat("compressed by "+by+"\n", 20_000))
		write := func(name string, data []byte) {
			names = append(names, by+"-"+name)
			must(t, os.WriteFile(k.path(by+"-"+name), data, 0o600))
		}
		write("whole", text)
		write("inline", text[:1000])
		write("sector", text[:4096])
		sparse := bytes.Clone(text)
		clear(sparse[40_000:200_000])
		write("sparse", sparse)
		write("overwritten", text)
		run(t, "sync", "-f", k.mnt)
		f, err := os.OpenFile(k.path(by+"-overwritten"), os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteAt([]byte(strings.Repeat("later", 2000)), 70_001)
		must(t, err)
		must(t, f.Truncate(301_111))
		must(t, f.Close())
	}
	k.sync()
	files, err := btrfs.OpenFiles(k.disk)
	must(t, err)
	for _, name := range names {
		want, err := os.ReadFile(k.path(name))
		must(t, err)
		got, places, err := readFile(files, k.path(name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes that are not those that the kernel reads", name, len(got))
		}
		if packed := len(places) * 4096; packed > len(want)/2+4096 {
			t.Errorf("%s: is not compressed: %d bytes for %d", name, packed, len(want))
		}
		if strings.HasSuffix(name, "-whole") {
			k.disk.apply(interp.Write{Off: places[0] + 100, Len: 1, Data: []byte{0xff}})
			if _, _, err := readFile(files, k.path(name)); err == nil {
				t.Errorf("%s: an altered byte was not noticed", name)
			}
		}
	}
	k.end()
}

// readFile reads a file of the top subvolume, with the addresses of its data.
func readFile(files interp.Files, path string) (data []byte, places []uint64, err error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil, nil, err
	}
	err = files.Contents(5, st.Ino, uint64(st.Size), func(p interp.Piece) error {
		if p.Off != uint64(len(data)) {
			return fmt.Errorf("a piece at %d after %d bytes", p.Off, len(data))
		}
		if p.Placed {
			places = append(places, p.Addr)
		}
		data = append(data, p.Data...)
		if p.Data == nil {
			data = append(data, make([]byte, p.Len)...)
		}
		return nil
	})
	return data, places, err
}
