package ext3_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3"
	"fsward/interp/ext3/corrupt"
)

// TestCorruptedJournalsHaveRightChecksums checks that a mount reads an altered journal with
// checksums, and only the alteration differs. debugfs makes the journal and accepts the result.
func TestCorruptedJournalsHaveRightChecksums(t *testing.T) {
	for version := range 4 {
		for _, spec := range []string{"journal_tag.blocknr+7", "journal_commit.commit_sec+1",
			"revoke_record.blocknr+1", "journal_tag!swap", "journal_superblock.errno=5"} {
			if version == 1 && strings.HasPrefix(spec, "revoke") {
				continue // the journal has none
			}
			t.Run(fmt.Sprintf("version %d %s", version, spec), func(t *testing.T) {
				d := ext3.OpenImage(t, ext3.Journaled(t, version))
				before, err := ext3.Mount(d, d.Size())
				if err != nil {
					t.Fatal(err)
				}
				c, err := corrupt.NewCorrupter(d, false)
				if err != nil {
					t.Fatal(err)
				}
				out, err := c.Corrupt(spec, 0)
				if err != nil {
					t.Fatal(err)
				}
				altered := patched(d, out)
				m, err := ext3.Mount(altered, d.Size())
				if err != nil {
					t.Fatalf("%s: %v", out.What, err)
				}
				if m.Log.NextSeq() != before.Log.NextSeq() {
					t.Errorf("%s: the log continues with %d, before with %d", out.What, m.Log.NextSeq(),
						before.Log.NextSeq())
				}
				if len(out.Patches) == 0 {
					t.Errorf("%s: nothing is patched", out.What)
				}
			})
		}
	}
}

func patched(d interp.Disk, c interp.Corruption) *ext3.MemDisk {
	out := ext3.NewDisk(d, d.Size())
	for _, p := range c.Patches {
		out.Apply(interp.Write{Off: p.Off, Len: uint64(len(p.Data)), Data: p.Data})
	}
	return out
}

// TestCorruptedChecksum checks that an altered checksum stays wrong.
func TestCorruptedChecksum(t *testing.T) {
	for version := 1; version < 4; version++ {
		d := ext3.OpenImage(t, ext3.Journaled(t, version))
		c, err := corrupt.NewCorrupter(d, false)
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.Corrupt("journal_commit.chksum^1", 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ext3.Mount(patched(d, out), d.Size()); err == nil || !strings.Contains(err.Error(),
			"checksum") {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// TestEveryAlterationIsMade checks that every field and every action of every object that a
// recorded file system has can be altered. The patches are whole blocks, at least one byte differs,
// and the text names the object. An alteration without a place returns ErrNoPlace. After
// unmounting, nothing is known of the last transaction.
func TestEveryAlterationIsMade(t *testing.T) {
	image := ext3.Mkfs(t, "16M", "-b", "1024", "-J", "size=1")
	ext3.Follow(t, image, 0, nil, nil, `
		long=$(head -c 90 /dev/zero | tr '\0' n)
		mkdir a a/b a/c; for i in 1 2 3; do echo $i > a/f$i; done
		ln -s x a/link; ln -s $long a/slow; mkfifo a/pipe
		head -c 400000 /dev/urandom > a/big; for i in $(seq 200); do ln a/f1 a/b/name$long$i; done
		for i in 1 2 3 4 5; do setfattr -n user.n$i -v $long a/f1; done; sync -f .
		rm a/f2 a/b/*11; sync -f .; exec 9> open; echo x >&9; rm open; sync -f .`)
	d := ext3.OpenImage(t, image)
	c, err := corrupt.NewCorrupter(d, false)
	if err != nil {
		t.Fatal(err)
	}
	nowhere := regexp.MustCompile(`^(journal_(descriptor|tag|commit|revoke)|revoke_record|` +
		`.*_bitmap!(set_freed|unset_new)$)`)
	made, none := 0, 0
	for _, a := range corrupt.Alterables() {
		specs := make([]string, 0, len(a.Fields)+len(a.Actions))
		for _, f := range a.Fields {
			specs = append(specs, a.Object+"."+f.Name+"^1")
		}
		for _, act := range a.Actions {
			specs = append(specs, a.Object+"!"+act)
		}
		for _, spec := range specs {
			out, err := c.Corrupt(spec, 0)
			if errors.Is(err, interp.ErrNoPlace) {
				if none++; !nowhere.MatchString(spec) {
					t.Errorf("%s: no place", spec)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", spec, err)
				continue
			}
			made++
			if !strings.HasPrefix(out.What, a.Object) || len(out.Patches) == 0 {
				t.Errorf("%s: %q, %d patches", spec, out.What, len(out.Patches))
			}
			for _, p := range out.Patches {
				was := make([]byte, len(p.Data))
				if _, err := d.ReadAt(was, int64(p.Off)); err != nil || bytes.Equal(was, p.Data) ||
					len(p.Data) != 1024 {
					t.Errorf("%s: the patch at %d, %d bytes, changes nothing: %v", spec, p.Off, len(p.Data), err)
				}
			}
		}
	}
	if made < 200 {
		t.Errorf("%d alterations were made, %d had no place", made, none)
	}
}

// FuzzCorrupt alters an image that is already damaged.
func FuzzCorrupt(f *testing.F) {
	base := ext3.Small(f)
	meta := ext3.Metadata(f, base)
	var specs []string
	for _, a := range corrupt.Alterables() {
		for _, action := range a.Actions {
			specs = append(specs, a.Object+"!"+action)
		}
		for _, field := range a.Fields {
			specs = append(specs, a.Object+"."+field.Name+"+1")
		}
	}
	for i := range specs {
		f.Add([]byte{8, 1, 2, 0, 8, 4, 2, 0}, uint16(i)) // the names of . and .. are empty
		f.Add([]byte{}, uint16(i))
	}
	f.Fuzz(func(t *testing.T, edits []byte, spec uint16) {
		d := ext3.NewDisk(bytes.NewReader(base), uint64(len(base)))
		ext3.Patch(d, meta, edits)
		c, err := corrupt.NewCorrupter(d, false)
		if err != nil {
			return
		}
		out, err := c.Corrupt(specs[int(spec)%len(specs)], 0)
		for _, p := range out.Patches {
			if err != nil || p.Off+uint64(len(p.Data)) > d.Size() {
				t.Errorf("%d bytes at %d, %v", len(p.Data), p.Off, err)
			}
		}
	})
}
