package guard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
)

// workloads are scripts with a commit at the end of each round; $i counts the rounds.
var workloads = []struct {
	name   string
	rounds int
	script string
}{
	{"small files", 60, `
		mkdir -p small/$((i % 5))
		for j in 1 2 3 4 5 6; do head -c $((j * j * 500)) /dev/urandom > small/$((i % 5))/f$i.$j; done
		rm -f small/$(((i + 3) % 5))/f$((i - 3)).[123]
		sync -f .`},
	{"names", 60, `
		mkdir -p names/d$i/e/f
		echo x > names/d$i/a; ln names/d$i/a names/d$i/e/hard; ln -s ../a names/d$i/e/soft
		mkfifo names/d$i/pipe
		mv names/d$i/a names/d$i/e/f/renamed
		[ $i -lt 4 ] || { mv names/d$((i - 2))/e names/d$i/moved; rm -r names/d$((i - 3)); }
		sync -f .`},
	{"appends and fsync", 40, `
		for j in 1 2 3; do head -c 3000 /dev/urandom >> log.$j; sync log.$j; done
		sync -f .`},
	{"large, sparse, truncated", 30, `
		head -c $((i * 40000)) /dev/urandom > big.$((i % 4))
		truncate -s $((i * 1000)) big.$(((i + 1) % 4))
		dd if=/dev/urandom of=sparse bs=4k count=2 seek=$((i * 300)) conv=notrunc 2> /dev/null
		[ $((i % 10)) != 9 ] || truncate -s 100k sparse
		sync -f .`},
	{"one large directory", 25, `
		mkdir -p flat
		for j in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
			: > flat/a-rather-long-name-that-fills-the-directory-$i-$j
		done
		[ $i -lt 6 ] || rm flat/a-rather-long-name-that-fills-the-directory-$((i - 5))-*
		sync -f .`},
}

// TestNoFalseAlarm runs real loads on real file systems: no commit is refused or undecided, and
// their own checkers find the result sound.
func TestNoFalseAlarm(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		t.Run(fs, func(t *testing.T) {
			r := guardtest.Attach(t, guardtest.Mkfs(t, fs, 1<<30), nil)
			r.MustMount(fs)
			for _, w := range workloads {
				r.MustRun(fmt.Sprintf("i=0; while [ $i -lt %d ]; do %s\ni=$((i + 1)); done", w.rounds,
					w.script))
				t.Logf("%s: %d commits so far", w.name, r.NoAlarm())
			}
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			// A second mount finds the files of the first, under the same guard.
			r.MustMount(fs)
			r.MustRun("rm -r names small; sync -f .")
			if commits := r.NoAlarm(); commits < 200 {
				t.Errorf("only %d commits were checked, want 200", commits)
			}
			r.End()
			guardtest.MustBeClean(t, fs, r.Image)
		})
	}
}

// TestMkfsUnderGuard checks that writes to a blank disk pass until a file system appears, which is
// checked from then on.
func TestMkfsUnderGuard(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		t.Run(fs, func(t *testing.T) {
			r := guardtest.Attach(t, guardtest.BlankImage(t, 512<<20), nil)
			guardtest.Run(t, "mkfs."+fs, map[string]string{"btrfs": "-q", "ext3": "-Fq"}[fs], r.LoopDev)
			r.MustMount(fs)
			r.MustRun("for i in 1 2 3; do cp -r /etc/apt d$i; sync -f .; done")
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			if commits := r.NoAlarm(); commits < 3 {
				t.Errorf("%d commits were checked after mkfs, want at least 3", commits)
			}
			r.End()
			guardtest.MustBeClean(t, fs, r.Image)
		})
	}
}

// TestRefusal simulates a bug in the third commit: it is refused, and the file system goes
// read-only. Everything from before the commit is there, and nothing from after it.
func TestRefusal(t *testing.T) {
	for _, tc := range []struct{ fs, bug, rule string }{
		{"btrfs", "inode_item.nlink+1@mode=0o100644", "btrfs/14"},
		{"ext3", "inode.links_count+1", "ext3/7"},
	} {
		t.Run(tc.fs, func(t *testing.T) {
			r := guardtest.Attach(t, guardtest.Mkfs(t, tc.fs, 512<<20), nil)
			r.MustMount(tc.fs)
			r.MustRun("echo one > one; sync -f .; echo two > two; sync -f .")
			if err := r.Daemon.Simulator("disk").Arm(tc.bug); err != nil {
				t.Fatal(err)
			}
			// ext3 reports the failed commit with the next operation; either may fail.
			_, _ = r.Run(context.Background(), "echo three > three; sync -f .; echo four > four; sync -f .")
			if out, err := r.Run(context.Background(), "echo five > five"); err == nil {
				t.Errorf("the file system still takes writes after the refusal: %s", out)
			}
			if out := r.MustRun(`grep " $FSWARD_DIR " /proc/mounts; cat one two`); !strings.HasSuffix(out,
				"one\ntwo\n") {
				t.Errorf("what was synced cannot be read any more: %q", out)
			}
			refused := 0
			for _, ev := range r.Seen.Events() {
				if ev.Kind == guard.KindCommit && ev.Action == guard.Refused {
					refused++
					if ev.Outcome != change.Violated || !strings.Contains(guardtest.TextOf(ev), tc.rule+" ") {
						t.Errorf("refused for another reason than %s: %s", tc.rule, guardtest.TextOf(ev))
					}
				}
			}
			// Copies of a superblock are one commit.
			if refused != 1 {
				t.Errorf("%d commits were refused, want 1; the bug: %q", refused,
					r.Daemon.Simulator("disk").Done())
			}
			r.End()

			guardtest.RecoverImage(t, tc.fs, r.Image)
			guardtest.MustBeClean(t, tc.fs, r.Image)
			after := guardtest.Attach(t, r.Image, nil)
			after.MustMount(tc.fs)
			if got := after.MustRun("cat one two; ls"); got != "one\ntwo\n"+map[string]string{"btrfs": "",
				"ext3": "lost+found\n"}[tc.fs]+"one\ntwo\n" {
				t.Errorf("on the disk after the refusal: %q", got)
			}
			if err := after.Unmount(); err != nil {
				t.Fatal(err)
			}
			after.NoAlarm()
		})
	}
}

// TestGarbageOverTheSuperblock checks that garbage over the superblock is refused, and that the
// guest goes on as before.
func TestGarbageOverTheSuperblock(t *testing.T) {
	for fs, at := range map[string]uint64{"btrfs": 65536, "ext3": 1024} {
		t.Run(fs, func(t *testing.T) {
			r := guardtest.Attach(t, guardtest.Mkfs(t, fs, 256<<20), nil)
			r.MustMount(fs)
			r.MustRun("echo one > one; sync -f .")
			// The write bypasses the kernel, whose own copy of the superblock must not change.
			garbage := bytes.Repeat([]byte("garbage!"), 128)
			err := r.Daemon.Devices()["disk"].Do(context.Background(),
				&blocktap.Request{Op: blocktap.OpWrite, Off: at, Len: 1024, Data: garbage})
			if !errors.Is(err, blocktap.ErrRefused) {
				t.Errorf("the garbage was not refused: %v", err)
			}
			r.MustRun("echo two > two; sync -f .")
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			refused := 0
			for _, ev := range r.Seen.Events() {
				if ev.Action == guard.Refused {
					refused++
					if ev.Kind != guard.KindWrite || !strings.Contains(guardtest.TextOf(ev), fs+"/superblock") {
						t.Errorf("refused: %s", guardtest.TextOf(ev))
					}
				}
			}
			if refused != 1 {
				t.Errorf("%d writes were refused, want 1", refused)
			}
			r.End()
			guardtest.MustBeClean(t, fs, r.Image)
		})
	}
}
