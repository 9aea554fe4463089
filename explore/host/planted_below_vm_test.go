//go:build vmtest

package host

import (
	"errors"
	"slices"

	"fsward/explore"
	"fsward/explore/component"
	"fsward/explore/ramdisk"
)

// always returns a rule that applies to each bio with one of the operations, or to each bio if
// there are none.
func always(a ramdisk.Action, arg uint64, ops ...ramdisk.Op) []ramdisk.Rule {
	return []ramdisk.Rule{{Action: a, Ops: ops, Nth: 1, Times: 1 << 40, Arg: arg}}
}

// lostWrite drops the n-th write and reports success.
func lostWrite(nth uint64) []ramdisk.Rule {
	return []ramdisk.Rule{{Action: ramdisk.Tear, Ops: []ramdisk.Op{ramdisk.Write}, Nth: nth, Times: 1}}
}

// twentiethFlush drops the twentieth flush. Short sequences of operations have fewer flushes.
var twentiethFlush = []ramdisk.Rule{{Action: ramdisk.DropFlush, Nth: 20, Times: 1}}

// secondFlushes drops every second flush, up to the largest number of rules.
func secondFlushes() (out []ramdisk.Rule) {
	for i := range uint64(ramdisk.MaxRules) {
		out = append(out, ramdisk.Rule{Action: ramdisk.DropFlush, Nth: 2 * (i + 1), Times: 1})
	}
	return out
}

// pastFlush moves the write before each flush behind the flush.
func pastFlush(list []ramdisk.Record) []ramdisk.Record {
	list = slices.Clone(list)
	for i := 2; i+1 < len(list); i++ {
		w, f := list[i-2:i], list[i:i+2]
		write := w[0].Type == ramdisk.Submit && w[0].Op == ramdisk.Write &&
			w[1].Type == ramdisk.Complete && w[1].ID == w[0].ID
		flush := f[0].Type == ramdisk.Submit && f[0].Flags&ramdisk.Preflush != 0 &&
			f[1].Type == ramdisk.Complete && f[1].ID == f[0].ID
		if write && flush {
			copy(list[i-2:], []ramdisk.Record{f[0], f[1], w[0], w[1]})
			i += 2
		}
	}
	return list
}

// noFUA removes the FUA flag from all bios.
func noFUA(list []ramdisk.Record) []ramdisk.Record {
	list = slices.Clone(list)
	for i := range list {
		list[i].Flags &^= ramdisk.FUA
	}
	return list
}

// forgetJournal clears the flag for a journal replay (EXT4_FEATURE_INCOMPAT_RECOVER,
// fs/ext4/ext4.h, in the superblock's s_feature_incompat), so that jbd2 starts an empty journal.
// The rest of the word is EXT4_FEATURE_INCOMPAT_FILETYPE.
func forgetJournal(e *explore.Env, c *component.Component) error {
	const incompat = 1024 + 0x60
	return e.Sh(`printf '\002' | dd of=%s bs=1 seek=%d conv=notrunc,fsync 2>/dev/null`, c.On[0].Path(),
		incompat)
}

// emptied recovers the file system and then removes all files. A checker misses only synced files,
// and the file system is sound.
func emptied(e *explore.Env, c *component.Component) error {
	if err := errors.Join(c.Recover(e), c.Mount(e)); err != nil {
		return err
	}
	return errors.Join(e.Sh("find %s -mindepth 1 -maxdepth 1 ! -name lost+found -exec rm -rf {} +",
		c.At), c.Unmount(e))
}

// wrongBitmap marks some unused blocks at the end of the second group as used. The descriptor of
// the group is the second one in the block after the superblock (bg_block_bitmap, fs/ext4/ext4.h).
func wrongBitmap(e *explore.Env, device string) error {
	const block = 1024
	return e.Sh(`set -e
		b=$(dd if=%[1]s bs=1 skip=%[2]d count=4 2>/dev/null | od -An -tu4 | tr -d ' ')
		printf '\377' | dd of=%[1]s bs=1 seek=$((b * %[3]d + 800)) conv=notrunc,fsync 2>/dev/null`,
		device, 2*block+32, block)
}
