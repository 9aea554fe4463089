package ext3

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsward/interp"
)

// Journaled makes a file system whose journal holds transactions that debugfs wrote, with checksums
// of a version (0: none). Its blocks 333, 334 and 2000 have no owner and different contents.
func Journaled(t *testing.T, version int) string {
	t.Helper()
	dir := t.TempDir()
	image, commands, data := filepath.Join(dir, "disk.img"), filepath.Join(dir, "commands"),
		filepath.Join(dir, "data")
	opts := []string{"-q", "-F", "-b", "1024", "-J", "size=1"}
	open := "jo"
	if version > 1 {
		opts, open = append(opts, "-O", "metadata_csum,^metadata_csum_seed"), fmt.Sprintf("jo -c -v %d",
			version)
	} else if version == 1 {
		open = "jo -c"
	}
	peer(t, "mkfs.ext3", append(opts, image, "8M")...)
	var contents []byte
	// one is escaped in the journal
	for _, first := range [][]byte{{1, 2, 3}, {0xc0, 0x3b, 0x39, 0x98}, {4, 5, 6}} {
		contents = append(contents, append(bytes.Clone(first), bytes.Repeat([]byte{first[0]},
			1024-len(first))...)...)
	}
	script := open + "\njw -b 2333,2334,4000 " + data + "\n"
	// with version 1, debugfs writes a checksum for a commit that has only revoke blocks, and its own
	// replay rejects it
	if version != 1 {
		script += "jw -r 2333\n"
	}
	script += "jw -b 2335 " + data + "\njc\n"
	if version > 1 { // ext3 has no checksums elsewhere
		script += "feature -metadata_csum\n"
	}
	if err := os.WriteFile(data, contents, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(commands, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	peer(t, "debugfs", "-w", "-f", commands, image)
	return image
}

// TestJournalChecksums checks that fsward reads a journal as debugfs does, with every version of
// checksums. With checksums, it notices an altered byte.
func TestJournalChecksums(t *testing.T) {
	for version := range 4 {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) {
			image := Journaled(t, version)
			d := OpenImage(t, image)
			m, err := Mount(d, d.Size())
			if err != nil {
				t.Fatal(err)
			}
			if j := m.Log.Journal; j.Checksum != (version == 1) || version > 1 && j.CsumVersion != version {
				t.Fatalf("checksums: %v, version %d", j.Checksum, j.CsumVersion)
			}
			transactions, blocks := uint32(3), 3 // 2333 is revoked
			if version == 1 {
				transactions, blocks = 2, 4
			}
			if m.Log.nextSeq != transactions+1 {
				t.Errorf("the log continues with %d, want %d", m.Log.nextSeq, transactions+1)
			}
			if changed := replayedAsDebugfs(t, image, d, m); changed != blocks {
				t.Errorf("%d blocks were replayed, want %d", changed, blocks)
			}
			noticesAlteredBytes(t, d, m, version)
		})
	}
}

// replayedAsDebugfs compares the blocks of a mounted image with a replay by debugfs. It returns the
// number of blocks that the replay changes.
func replayedAsDebugfs(t *testing.T, image string, d *MemDisk, m *Mounted) (changed int) {
	t.Helper()
	run := filepath.Join(t.TempDir(), "run.img")
	peer(t, "cp", image, run)
	peer(t, "debugfs", "-w", "-R", "journal_run", run)
	after := OpenImage(t, run)
	for b := uint32(2000); b < 5000; b++ {
		have, err := m.State.Block(b)
		if err != nil {
			t.Fatal(err)
		}
		want, err := ReadBlock(after, m.Geo, b)
		if err != nil {
			t.Fatal(err)
		}
		before, err := ReadBlock(d, m.Geo, b)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, want) {
			t.Errorf("block %d is not as debugfs replays it", b)
		}
		if !bytes.Equal(before, want) {
			changed++
		}
	}
	return changed
}

// noticesAlteredBytes checks that a mount fails with a checksum error if a byte of the journal is
// altered.
func noticesAlteredBytes(t *testing.T, d *MemDisk, m *Mounted, version int) {
	t.Helper()
	for _, at := range []struct {
		block uint32 // of the journal
		off   uint64
		what  string
		found []int // the versions that notice
	}{
		{1, 20, "descriptor", []int{1, 2, 3}},
		{2, 500, "copy", []int{1, 2, 3}},
		// with version 1, the bytes behind the tags of a descriptor count
		{6, 900, "revoke block", []int{1, 2, 3}},
		{5, 60, "commit block", []int{2, 3}},
	} {
		alter := NewDisk(d, d.size)
		block := m.Log.Block(at.block)
		b, err := ReadBlock(d, m.Geo, block)
		if err != nil {
			t.Fatal(err)
		}
		alter.Apply(interp.Write{Off: m.Geo.Addr(block) + at.off, Len: 1,
			Data: []byte{b[at.off] ^ 0x40}})
		_, err = Mount(alter, d.Size())
		noticed := err != nil && strings.Contains(err.Error(), "checksum")
		if want := slices.Contains(at.found, version); want != noticed {
			t.Errorf("with another byte in a %s: %v", at.what, err)
		}
	}
}

// TestJournalChecksumsOfLinux checks that the checksums that Linux puts into commit blocks (mount
// -o journal_checksum) fit their transactions. A copy that is damaged on its way is refused with
// its commit.
func TestJournalChecksumsOfLinux(t *testing.T) {
	image := Mkfs(t, "16M", "-b", "1024", "-J", "size=1")
	base := ReadFile(t, image)
	f := followAs(t, "ext4", image, 3, nil, []string{"journal_checksum"},
		"for i in 1 2 3 4 5 6 7 8 9; do echo $i > f$i; sync f$i; done; rm f3; sync -f .")
	if f.commits < 9 {
		t.Fatalf("%d commits", f.commits)
	}
	d := NewDisk(bytes.NewReader(base), uint64(len(base)))
	fs, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range f.Writes {
		if fs.m == nil || !fs.m.Log.Checksum || !fs.m.Log.holdsCommit(w, fs.m.Log.nextSeq) {
			fs.Observe(w)
			d.Apply(w)
			fs.Settle(true)
			continue
		}
		copied := fs.geo.Addr(fs.m.Log.Block(fs.m.Log.Next(fs.m.Log.head)))
		b := make([]byte, 1)
		if _, err := (PendingDevice{d, w}).ReadAt(b, int64(copied)+100); err != nil {
			t.Fatal(err)
		}
		b[0]++
		d.Apply(interp.Write{Off: copied + 100, Len: 1, Data: b})
		if touches(w, copied+100, 1) {
			w.Data[copied+100-w.Off] = b[0]
		}
		only(t, fs.Observe(w), "ext3/journal-checksum")
		return
	}
	t.Error("no commit with a checksum")
}
