package ext3

import (
	"bytes"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// TestJournalCopy checks that a write of the superblock may not change the copy of the journal's
// pointers to something else. A copy that is out of date from the beginning is no fault.
func TestJournalCopy(t *testing.T) {
	fs, _, w := replay(t, func(fs *FS, w interp.Write) bool {
		return mountedNow(fs, w) && touches(w, ondisk.SuperOff, ondisk.SuperLen)
	})
	if obs := fs.Observe(w); len(obs.Violations) > 0 || obs.Unknown != nil {
		t.Fatalf("%v %v", obs.Violations, obs.Unknown)
	}
	w.Data = bytes.Clone(w.Data)
	w.Data[ondisk.SuperOff-w.Off+ondisk.SuperJnlBlocksAt]++
	only(t, fs.Observe(w), "ext3/journal-backup")

	image := altered(t, imageFault{mkfs: smallInodes, alter: func(b []byte, _ *Mounted) {
		b[ondisk.SuperOff+ondisk.SuperJnlBlocksAt]++
	}})
	peer(t, "e2fsck", "-fn", image)
	if found := judgedImage(t, image); len(found) > 0 {
		t.Errorf("an old copy is found: %v", found)
	}
}
