package ext3

import (
	"errors"
	"io"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A file system without a journal (ext2, or any that the ext4 driver mounts without one) has no
// transactions. The kernel writes its blocks one by one, in any order, and between two writes no
// invariant holds. It claims to be consistent at one moment: when its superblock is marked clean
// again, after all other writes, at an unmount or a read-only remount. This write is its commit,
// and the whole image is judged as one transaction of additions. If the write is refused, the file
// system stays marked as in use, and e2fsck runs before the next mount. In between, the superblock
// has to stay that of the same file system.

// observeNoJournal judges a write over the superblock of a file system without a journal.
func (f *FS) observeNoJournal(sb []byte, geo *ondisk.Geometry, dev io.ReaderAt,
	obs *interp.Observation) {
	before, err := readSuper(f.disk)
	if err != nil {
		obs.Unknown = err
		return
	}
	f.pending.super = &superChange{geo: geo}
	mounted := !ondisk.MarksClean(before) && !f.geo.HasJournal()
	if mounted && geo.UUID == f.geo.UUID &&
		ondisk.SuperOf(sb).FeatureCompat() == ondisk.SuperOf(before).FeatureCompat() {
		if changed := geo.ReshapedFrom(f.geo); changed != "" {
			obs.Violations = append(obs.Violations, on(checkImmutable.at(ondisk.SuperOff, "%s", changed),
				ondisk.KindSuperblock, 0))
			return
		}
	}
	switch {
	case mounted && ondisk.MarksClean(sb):
		m, err := Mount(dev, f.disk.Size())
		var bad *interp.CorruptError
		if errors.As(err, &bad) {
			obs.Violations = append(obs.Violations, checkBaseline.at(bad.Addr, "%s", bad.Reason))
			return
		}
		if err != nil {
			obs.Unknown = err
			return
		}
		*obs = wholeImage(m.Snapshot, m.Log.nextSeq, dev, f.disk.Size(),
			interp.ImageOptions{Budget: f.memory})
		if obs.Stream != nil { // the guest waits: no time for a stream
			obs.Stream, obs.View, obs.Unknown = nil, nil, f.memory.Full()
		}
		obs.Generation = uint64(ondisk.SuperOf(sb).Wtime())
		obs.Note = "unmounted: without a journal, this is when it is judged"
	case !mounted && !ondisk.MarksClean(sb):
		obs.Note = "mounted, without a journal: it is judged when it is marked clean again"
	}
}
