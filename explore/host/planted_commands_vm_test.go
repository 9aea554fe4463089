//go:build vmtest

package host

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/machine"
	"fsward/explore/spec"
)

const (
	// withSource is an ext3 that is made with a file, so that the kernel has read nothing of it when a
	// step begins.
	withSource = `init: |
  mkdir -p /tmp/source; yes source | head -c 20000 > /tmp/source/src
  mke2fs -q -F -t ext3 -E nodiscard,lazy_itable_init=0 -b 1024 -d /tmp/source $DEVICE
type: ext3
bytes: 16777216
`
	// smallFAT reads its table of blocks as buffers. Those of ext3 stay in the journal.
	smallFAT = `init: mkfs.fat $DEVICE > /dev/null
type: vfat
recover: fsck.fat -a $DEVICE > /dev/null
recovered: [0, 1]
bytes: 16777216
`
	writesSource = `init: yes source | head -c 20000 > $AT/src; sync
`
	// careless copies a file and ignores all errors.
	careless = `mutate:
- cp $AT/src $AT/dst; sync $AT/dst; sync $AT
- crash: now
check: cmp -s $AT/src $AT/dst || { echo copy lost; exit 1; }
`
	// careful copies a file, and expects the copy only if nothing failed.
	careful = `mutate:
- rm -f /tmp/ok; cp $AT/src $AT/dst && sync $AT/dst && sync $AT && echo ok > /tmp/ok
- {crash: now, capture: cat /tmp/ok; rm -f /tmp/ok}
check: |
  [ "$EXPECT" != ok ] || cmp -s $AT/src $AT/dst || { echo copy lost; exit 1; }
`
	// emptiedByFault is recovered by commands that make it empty if a copy fails.
	emptiedByFault = smallExt3 + `recover: |
  cp /etc/mke2fs.conf /tmp/copy && cmp -s /etc/mke2fs.conf /tmp/copy || mke2fs -q -F $DEVICE
`
	oneFile = `mutate:
- echo test > $AT/f
- sync
- crash: now
check: '[ -e $AT/f ] || { echo file gone; exit 1; }'
`
	// replaced is a file that is removed before its replacement is there.
	replaced = `init: echo old > $AT/f; sync
mutate:
- {mark: old, capture: cat $AT/f}
- rm $AT/f; sync $AT
- echo new > $AT/f
- sync
- {crash: now, expect: new}
check: '[ "$(cat $AT/f)" = new ] || [ "$(cat $AT/f)" = "$EXPECT" ] || { echo file gone; exit 1; }'
`
	inTheLog = "crashes: [{after: flush, from: old}]\n"
)

// A scriptRow is a checker of shell commands with what it finds.
type scriptRow struct {
	name, kind, checker string
	points              string // kinds of calls that fail; "": none
	found               string // kind of an error; "": there is none
	byDefault           bool
}

var scriptRows = []scriptRow{
	{"a careless copy, no faults", withSource, careless, "", "", false},
	{"a careful copy", withSource, careful, "page-read", "", false},
	{"a careless copy", withSource, careless, "slab", "copy lost", true},
	{"a careless copy", withSource, careless, "page", "copy lost", false},
	{"a careless copy, vfat", smallFAT, writesSource + careless, "buffer-read", "copy lost",
		false},
	{"a careless copy", withSource, careless, "page-read", "copy lost", true},
	{"a careless copy", withSource, careless, "user-memory", "copy lost", false},
	{"a careless copy", withSource, careless, "submit", "copy lost", false},
	{"a careless copy", withSource, careless, "end", "copy lost", false},
	{"a recovery that ignores a fault", emptiedByFault, oneFile, "slab", "file gone", false},
	{"a removed file, at the end", smallExt3, replaced, "", "", true},
	{"a removed file, in the log", smallExt3, replaced + inTheLog, "", "file gone", true},
}

// find explores with the checker up to the first error of the kind that is sought.
func (row *scriptRow) find(ctx context.Context, t *testing.T, m *machine.Machine) error {
	dir := t.TempDir()
	fs, checker := filepath.Join(dir, "fs.yaml"), filepath.Join(dir, "checker.yaml")
	for name, text := range map[string]string{fs: row.kind, checker: row.checker} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	r := spec.Run{Strategy: explore.BreadthFirst, Depth: 1, Limit: 8, NoCommits: true,
		FailPoints: row.points}
	if row.points != "" {
		r.MaxFaults = 1
	}
	var err error
	if r.Spec, err = spec.FileSystem(fs, "", "", checker, ""); err != nil {
		return err
	}
	cfg, err := r.Config()
	if err != nil {
		return err
	}
	until, stop := context.WithTimeout(ctx, 4*time.Minute)
	defer stop()
	cfg.System, cfg.Dir = m, t.TempDir()
	cfg.OnEvent = func(e explore.Event) {
		if e.Event == "error" && e.Error.Kind == row.found {
			stop()
		}
	}
	sum, err := explore.Run(until, cfg)
	if err != nil {
		return err
	}
	t.Logf("%s, %q: %d executions, %d with faults, %d mounts with faults, %d recoveries, %.1f s",
		row.name, row.points, sum.Runs, sum.Failed, sum.MountFaults, sum.Recovered, sum.Seconds)
	errs := withoutSurprises(sum.Errors)
	i := slices.IndexFunc(errs, func(e explore.Error) bool { return e.Kind == row.found })
	switch {
	case row.found == "" && (len(errs) > 0 || !sum.Complete && row.points == ""):
		t.Errorf("%s, %q: %+v", row.name, row.points, sum)
	case row.found != "" && (i < 0 || errs[i].Shown == 0):
		t.Errorf("%s, %q: %+v", row.name, row.points, sum)
	}
	return nil
}

// TestGuestCommands checks that faults while shell commands run are found, at each choice point
// and in a recovery, and that crashes in the log of a step are tried.
// By default a few rows run. $FSWARD_PLANTED is a regular expression that selects rows by name.
func TestGuestCommands(t *testing.T) {
	inGuest(t, 30*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		which, err := regexp.Compile(os.Getenv("FSWARD_PLANTED"))
		if err != nil {
			return err
		}
		clean, err := m.Save(ctx)
		if err != nil {
			return err
		}
		for _, row := range scriptRows {
			if which.String() == "" && !row.byDefault || !which.MatchString(row.name) {
				continue
			}
			if err := m.Load(ctx, clean); err != nil {
				return err
			}
			if err := row.find(ctx, t, m); err != nil {
				t.Errorf("%s, %q: %v", row.name, row.points, err)
			}
		}
		return m.Forget(ctx, clean)
	})
}
