package oracle

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/explore/crash"
	"fsward/interp"
	"fsward/interp/detect"
)

// contentsOfFiles are the contents of the files of an image: one that fills whole blocks, one that
// ends in the middle of one, one with a hole, and one that an item of Btrfs holds.
func contentsOfFiles() map[string][]byte {
	sparse := bytes.Repeat([]byte("hole"), 20_000)
	clear(sparse[10_000:60_000])
	return map[string][]byte{
		"whole":  bytes.Repeat([]byte("12345678"), 8192),
		"part":   bytes.Repeat([]byte("odd"), 33_333),
		"sparse": sparse,
		"small":  []byte("small"),
		"empty":  nil,
	}
}

// imageOf makes an image with files.
func imageOf(t *testing.T, files map[string][]byte, program ...string) image {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return makeImage(t, 128<<20, append(program, dir)...)
}

// programs make images of a folder.
var programs = map[string][]string{
	"ext3":  {"mke2fs", "-q", "-F", "-t", "ext3", "-b", "1024", "-d"},
	"btrfs": {"mkfs.btrfs", "-q", "-f", "--rootdir"},
}

// fileAt returns a file of a commit.
func fileAt(t *testing.T, d interp.Disk, path string) File {
	t.Helper()
	c, err := ReadCommitted(d, detect.Auto)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Entries {
		if f.Path == path {
			return f
		}
	}
	t.Fatalf("there is no %s", path)
	return File{}
}

// TestContents: the contents of the last commit are those of the files. Other bytes in the place of
// a file are its contents on ext3, and damage on Btrfs, which has checksums.
func TestContents(t *testing.T) {
	for fs, program := range programs {
		disk := imageOf(t, contentsOfFiles(), program...)
		for name, data := range contentsOfFiles() {
			f := fileAt(t, disk, name)
			if !f.Known || f.Sum != sha256.Sum256(data) {
				t.Errorf("%s: %s has other contents: %+v", fs, name, f.Contents)
			}
		}
		before := fileAt(t, disk, "whole")
		if _, err := disk.WriteAt([]byte("lost"), int64(before.placed[3].addr)); err != nil {
			t.Fatal(err)
		}
		after := fileAt(t, disk, "whole")
		switch {
		case fs == "ext3" && (!after.Known || after.Sum == before.Sum):
			t.Errorf("%s: an altered block is %+v", fs, after.Contents)
		case fs == "btrfs" && (after.Known || !strings.Contains(after.Damage, "no copy has it")):
			t.Errorf("%s: an altered block is %+v", fs, after.Contents)
		}
	}
}

// TestUnwritten: data that a commit names is on the disk, or was there before the log.
func TestUnwritten(t *testing.T) {
	for fs, program := range programs {
		disk := imageOf(t, contentsOfFiles(), program...)
		c, err := ReadCommitted(disk, fs)
		if err != nil {
			t.Fatal(err)
		}
		at := fileAt(t, disk, "whole").placed[0].addr
		for _, row := range []struct {
			name    string
			written bool
			before  *Committed
			want    bool // something is unwritten
		}{
			{"written", true, &Committed{}, false},
			{"never written", false, &Committed{}, true},
			{"there before the log", false, c, false},
			{"what was before is not known", false, nil, false},
		} {
			d := stateOf(t, disk, c, at, row.written)
			one, err := ReadCommitted(disk, fs)
			if err != nil {
				t.Fatal(err)
			}
			one.MarkUnwritten(d, func() *Committed { return row.before })
			damaged := ""
			for _, f := range one.Entries {
				damaged += f.Damage
			}
			if got := strings.Contains(damaged, "nothing was written yet"); got != row.want {
				t.Errorf("%s, %s: damage %q", fs, row.name, damaged)
			}
		}
	}
}

// stateOf returns a crash state with a write to each place of data, but for the page at an address
// unless written is set.
func stateOf(t *testing.T, base image, c *Committed, at uint64, written bool) *crash.Disk {
	t.Helper()
	e := crash.New(base, crash.Options{})
	id := uint64(0)
	for addr := range c.places() {
		if !written && addr/crash.PageSize == at/crash.PageSize {
			continue
		}
		data := make([]byte, crash.SectorSize)
		if _, err := base.ReadAt(data, int64(addr)); err != nil {
			t.Fatal(err)
		}
		id++
		w := crash.Write{ID: id, Off: addr, Len: crash.SectorSize, Data: data}
		if err := e.Add(crash.Event{Kind: crash.Issued, At: id, Write: w}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Add(crash.Event{Kind: crash.Settled, At: id, All: true}, nil); err != nil {
		t.Fatal(err)
	}
	var last *crash.Disk
	err := e.Now(func(s *crash.State) error {
		last = s.Disk(0)
		return nil
	})
	if err != nil || last == nil {
		t.Fatalf("there is no whole state: %v", err)
	}
	return last
}
