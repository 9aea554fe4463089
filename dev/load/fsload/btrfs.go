package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// An administrator runs the btrfs program while the workers run. Most of its commands may fail for
// good reasons (no such snapshot, a balance is running), so it ignores their results.
type administrator struct {
	*rand.Rand
	top, work string   // root of the file system; subvolume of the workers
	devices   []string // devices to add, remove and replace; nil: the devices do not change
	created   int      // number of subvolumes
}

// subvolume makes dir a subvolume, which can have snapshots, if it does not exist yet.
func subvolume(top, dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(top, "snap"), 0o755); err != nil {
		return err
	}
	out, err := exec.Command("btrfs", "subvolume", "create", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// run runs commands until ctx is done.
func (a *administrator) run(ctx context.Context) error {
	for ctx.Err() == nil {
		for _, args := range a.next() {
			// Two minutes are enough for a small balance on a busy machine. Then SIGINT stops the command.
			limited, cancel := context.WithTimeout(ctx, 2*time.Minute)
			cmd := exec.CommandContext(limited, "btrfs", args...)
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
			_ = cmd.Run()
			cancel()
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(a.IntN(400)) * time.Millisecond):
		}
	}
	// Background jobs must not delay the unmount.
	_ = exec.Command("btrfs", "balance", "cancel", a.top).Run()
	_ = exec.Command("btrfs", "scrub", "cancel", a.top).Run()
	// Linux sometimes miscounts if quota groups are assigned and rescanned under load, and btrfs check
	// reports it. These counts are not what this test is for.
	_ = exec.Command("btrfs", "quota", "disable", a.top).Run()
	return nil
}

// next chooses the next action: one or several commands of the btrfs program.
func (a *administrator) next() [][]string {
	snap := filepath.Join(a.top, "snap", fmt.Sprintf("s%d", a.IntN(12)))
	one := func(words string, more ...string) [][]string {
		return [][]string{append(strings.Fields(words), more...)}
	}
	kinds := 16
	if len(a.devices) > 0 {
		kinds = 24
	}
	switch a.IntN(kinds) {
	case 0, 1, 2:
		return one("subvolume snapshot", a.work, snap)
	case 3:
		return one("subvolume snapshot -r", a.work, snap)
	case 4, 5, 6:
		return one("subvolume delete", snap)
	case 7:
		a.created++
		return [][]string{{"subvolume", "create", filepath.Join(a.work, fmt.Sprintf("v%d", a.created))},
			{"subvolume", "delete", filepath.Join(a.work, fmt.Sprintf("v%d", a.created-2))}}
	case 8:
		filters := []string{"-dlimit=1", "-mlimit=1", "-dusage=30"}
		return one("balance start "+filters[a.IntN(3)], a.top)
	case 9:
		return one("filesystem resize "+[]string{"-64m", "-16m", "max", "max"}[a.IntN(4)], a.top)
	case 10:
		return one("scrub start -B", a.top)
	case 11:
		return one("filesystem defragment -r "+[]string{"", "-czlib", "-clzo", "-czstd"}[a.IntN(4)],
			filepath.Join(a.work, fmt.Sprintf("d%d", a.IntN(5))))
	case 12:
		return one("quota "+[]string{"enable", "enable", "enable --simple", "disable"}[a.IntN(4)], a.top)
	case 13:
		group := fmt.Sprintf("1/%d", a.IntN(4))
		return [][]string{{"qgroup", "create", group, a.top}, {"qgroup", "assign", "0/256", group, a.top},
			{"qgroup", "limit", "900m", group, a.top}, {"quota", "rescan", "-w", a.top}}
	case 14:
		return [][]string{{"property", "set", snap, "ro", []string{"true", "false"}[a.IntN(2)]},
			{"subvolume", "set-default", snap}, {"subvolume", "set-default", a.top}}
	case 15:
		return one("filesystem sync", a.top)
	default:
		return a.onDevices()
	}
}

// onDevices chooses a command that changes the devices of the file system or the profiles of its
// chunks.
func (a *administrator) onDevices() [][]string {
	one, other := a.devices[a.IntN(len(a.devices))], a.devices[a.IntN(len(a.devices))]
	profiles := []string{"single", "raid0", "raid1", "raid1", "raid1c3", "raid1c4", "raid10", "dup"}
	data, metadata := profiles[a.IntN(len(profiles))], profiles[a.IntN(len(profiles))]
	switch a.IntN(6) {
	case 0:
		return [][]string{{"device", "add", "-f", one, a.top}}
	case 1:
		return [][]string{{"device", "remove", one, a.top}}
	case 2:
		return [][]string{{"replace", "start", "-B", "-f", one, other, a.top}}
	case 3:
		return [][]string{{"balance", "start", "-f", "-dconvert=" + data + ",soft",
			"-mconvert=" + metadata + ",soft", a.top}}
	case 4:
		return [][]string{{"balance", "start", "-dconvert=" + data, a.top}}
	default:
		return [][]string{{"filesystem", "resize", fmt.Sprintf("%d:%s", 1+a.IntN(len(a.devices)),
			[]string{"-64m", "max"}[a.IntN(2)]), a.top}}
	}
}
