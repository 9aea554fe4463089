//go:build vmtest

package host

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/machine"
	"fsward/explore/spec"
)

// Recoveries that lose the last commit, before the mount that recovers.
const (
	// dropsCommit erases the commit block with the highest number in the journal, which begins at
	// block 594.
	dropsCommit = `recover: |
  last=$(dd if=$DEVICE bs=1024 skip=594 count=100 2>/dev/null | od -An -v -tx1 -w1024 |
    grep -n '^ c0 3b 39 98 00 00 00 02' | cut -c -50 | sort -t' ' -k 10,13 | tail -n 1 |
    cut -d: -f 1)
  [ -z "$last" ] ||
    dd if=/dev/zero of=$DEVICE bs=1024 seek=$((593 + last)) count=1 conv=notrunc 2>/dev/null
`
	// endsJournal clears the flag that the journal has to be replayed: the mount empties it.
	endsJournal = `recover: printf '\002' | dd of=$DEVICE bs=1 seek=1120 conv=notrunc 2>/dev/null
`
	// takesCopy takes the copy of the superblock, which is written without a flush.
	takesCopy = `recover: |
  dd if=/dev/zero of=$DEVICE bs=4096 seek=16 count=1 conv=notrunc 2>/dev/null
  btrfs rescue super-recover -y $DEVICE; true
`
	// altersFile writes into the first place on the disk that has the contents of the file f: that is
	// in the journal, if the file is in it.
	altersFile = `recover: |
  set -- $(strings -t d $DEVICE | grep -m 1 'committed contents')
  [ -z "$1" ] || printf lost | dd of=$DEVICE bs=1 seek=$1 conv=notrunc 2>/dev/null
`
)

const (
	smallExt3 = `init: mke2fs -q -F -t ext3 -E nodiscard,lazy_itable_init=0 -b 1024 $DEVICE
type: ext3
bytes: 16777216
oracle: ext3
promises: {data: exact}
`
	smallBtrfs = `init: mkfs.btrfs -q -f $DEVICE
type: btrfs
bytes: 134217728
oracle: btrfs
`
	// indifferent asks for nothing after a crash.
	indifferent = `mutate:
- mkdir $AT/d
- sync
- crash: now
check: true
`
	// withFile is an indifferent with a file, whose data is forced to the disk only by the sync at its
	// end, or if the file system orders it before the commit for the directory.
	withFile = `mutate:
- yes 'committed contents' | head -c 8192 > $AT/f
- mkdir $AT/d
- sync $AT/d
- crash: now
- sync
- crash: now
check: true
`
)

// Mount options of a component.
const (
	journalOption   = "options: data=journal\n"
	writebackOption = "options: data=writeback\n"
	noSumsOption    = "options: nodatasum\n"
)

// commitRows are components whose recovered trees are compared with the last commit.
var commitRows = []struct {
	name, kind, checker string
	found               bool
	byDefault           bool
}{
	{"ext3", smallExt3, withFile, false, true},
	{"a commit block is erased", smallExt3 + dropsCommit, indifferent, true, false},
	{"the journal ends early", smallExt3 + endsJournal, indifferent, true, true},
	{"ext3, a file is altered", smallExt3 + altersFile, withFile, true, false},
	{"data=journal", smallExt3 + journalOption, withFile, false, false},
	{"data=journal, a file is altered", smallExt3 + journalOption + altersFile, withFile, true, true},
	{"ext3, a commit without its data", smallExt3 + writebackOption, withFile, true, false},
	{"btrfs", smallBtrfs, withFile, false, true},
	{"an old copy of the superblock", smallBtrfs + takesCopy, indifferent, true, false},
	{"btrfs, a file is altered", smallBtrfs + altersFile, withFile, true, false},
	{"nodatasum", smallBtrfs + noSumsOption, withFile, false, false},
	{"nodatasum, a file is altered", smallBtrfs + noSumsOption + altersFile, withFile, true, false},
}

// loseCommits checks that recoveries which lose a commit are found although no checker asks for
// what was committed, and that the recoveries of the kernel are not.
func loseCommits(ctx context.Context, t *testing.T, m *machine.Machine) error {
	dir := t.TempDir()
	for _, p := range commitRows {
		if !p.byDefault && os.Getenv("FSWARD_PLANTED") == "" {
			continue
		}
		fs, checker := filepath.Join(dir, "kind.yaml"), filepath.Join(dir, "indifferent.yaml")
		for name, text := range map[string]string{fs: p.kind, checker: p.checker} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				return err
			}
		}
		_, sum, err := runStack(ctx, t, m, fs, checker,
			spec.Run{Strategy: explore.BreadthFirst, Depth: 1, Limit: 8})
		if err != nil {
			return err
		}
		t.Logf("%s: %d recoveries, %d compared, %d files, %.1f s", p.name, sum.Recovered,
			sum.CommitKnown, sum.CommitContents, sum.Seconds)
		if sum.CommitKnown == 0 || sum.CommitUnknown != 0 || sum.CommitUnread != 0 ||
			p.checker == withFile && sum.CommitContents == 0 {
			t.Errorf("%s: %+v", p.name, sum.Totals)
		}
		switch found := withoutSurprises(sum.Errors); {
		case !p.found && len(found) > 0, p.found && len(found) != 1:
			t.Errorf("%s: found %+v", p.name, found)
		case p.found && (found[0].Kind != "commit lost" || found[0].Property != explore.Committed ||
			found[0].Shown == 0):
			t.Errorf("%s: found %+v", p.name, found[0])
		}
	}
	return nil
}

// TestGuestCommits checks that recoveries which lose the last commit are found: one by default,
// and all with $FSWARD_PLANTED.
func TestGuestCommits(t *testing.T) {
	inGuest(t, 10*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		return loseCommits(ctx, t, m)
	})
}
