package guard_test

import (
	"strings"
	"testing"
	"time"

	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// filledSeed makes a file system with some files on the first disk of a rig, makes it a seed, and
// mounts it. The other disks are blank.
func filledSeed(
	t *testing.T, blank int, change func(*guard.Config), mkfs ...string,
) *guardtest.Rig {
	t.Helper()
	images := append(guardtest.MadeDisks(t, 1, 512<<20, mkfs...),
		guardtest.BlankDisks(t, blank, 512<<20)...)
	r := guardtest.AttachDisks(t, images, change)
	r.MustMount("btrfs")
	r.MustRun(guardtest.Filled)
	if err := r.Unmount(); err != nil {
		r.T.Fatal(err)
	}
	guardtest.Run(r.T, "btrfstune", "-S", "1", r.LoopDev)
	r.MustMount("btrfs") // read-only
	return r
}

// sprouted adds disk 1 to the mounted seed, and changes the sprout.
const sprouted = `
	btrfs -q device add -f $DISK1 .; mount -o remount,rw .
	cp -r d e; rm f1; sync -f .; btrfs -q subvolume snapshot . s; echo x >> s/f2; sync -f .`

// mustUnmount unmounts the first disk of a rig.
func mustUnmount(r *guardtest.Rig) {
	r.T.Helper()
	if err := r.Unmount(); err != nil {
		r.T.Fatal(err)
	}
}

// mustRunOn runs a script on the file system of a disk, which it mounts for that time.
func mustRunOn(r *guardtest.Rig, disk int, script string, opts ...string) {
	r.T.Helper()
	loop := r.LoopOf(disk)
	if err := loop.Mount("btrfs", opts...); err != nil {
		r.T.Fatal(err)
	}
	out, failed := loop.Run(r.T.Context(), r.DiskVariables()+script)
	if err := loop.Unmount(); err != nil {
		r.T.Fatal(err)
	}
	if failed != nil {
		r.NoAlarm()
		r.T.Fatalf("%v\n%s", failed, out)
	}
}

// TestSprout makes a sprout of a guarded seed, mounts it again, and removes the seed from it.
func TestSprout(t *testing.T) {
	for name, mkfs := range map[string][]string{
		"single": {"-m", "single"}, "mixed": {"-M", "-n", "4096"},
		"old": {"-R", "^free-space-tree", "-O", "^no-holes,^skinny-metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			verify := func(cfg *guard.Config) { cfg.Verify = true }
			r := filledSeed(t, 1, verify, mkfs...)
			r.MustRun(r.DiskVariables() + sprouted)
			mustUnmount(r)
			guardtest.Run(t, "btrfs", "check", r.LoopOf(1).LoopDev)
			commits := r.NoAlarm()
			r.End()
			guardtest.MustHold(t, r.Images)
			guardtest.MustHold(t, r.Images[:1]) // the seed alone

			r = guardtest.AttachDisks(t, r.Images, verify)
			mustRunOn(r, 1, `cp -r d g; sync -f .
				btrfs -q device remove $DISK0 .; cp -r d h; rm -r e; sync -f .`, "device="+r.LoopDev)
			guardtest.Run(t, "btrfs", "check", r.LoopOf(1).LoopDev)
			if commits += r.NoAlarm(); commits < 8 {
				t.Errorf("%d commits", commits)
			}
			r.End()
			guardtest.MustHold(t, r.Images[1:]) // needs the seed no more
		})
	}
}

// TestSproutOfSprout makes a seed of a sprout, and a sprout of that: the third file system uses the
// disks of the two others.
func TestSproutOfSprout(t *testing.T) {
	r := filledSeed(t, 2, nil)
	r.MustRun(r.DiskVariables() + sprouted)
	mustUnmount(r)
	guardtest.Run(t, "btrfstune", "-f", "-S", "1", r.LoopOf(1).LoopDev)
	mustRunOn(r, 1, `btrfs -q device add -f $DISK2 .; mount -o remount,rw .
		cp -r e h; rm f2; sync -f .`, "device="+r.LoopDev)
	guardtest.Run(t, "btrfs", "check", r.LoopOf(2).LoopDev)
	r.NoAlarm()
	r.End()
	guardtest.MustHold(t, r.Images)
	guardtest.MustHold(t, r.Images[:2])
}

// TestSproutWithoutSeed checks that the error for a missing seed says that a disk is missing.
func TestSproutWithoutSeed(t *testing.T) {
	r := filledSeed(t, 1, nil)
	r.MustRun(r.DiskVariables() + sprouted)
	mustUnmount(r)
	r.NoAlarm()
	r.End()
	_, err := offline.Check(t.Context(), r.Images[1:], detect.Auto, guard.RulesConfig{})
	if err == nil || !strings.Contains(err.Error(), "has 2 devices, 1 of them are here") {
		t.Errorf("the sprout alone: %v", err)
	}
}

// TestUndecidedSprout checks that a sprout with a commit that passed undecided is guarded again
// once a check has found it sound. The check reads the seed too, which has no mark.
func TestUndecidedSprout(t *testing.T) {
	r := filledSeed(t, 1, func(c *guard.Config) {
		c.OnUndecided, c.Work, c.Verify = guard.OnPass, smallCommits, true
	})
	r.MustRun(r.DiskVariables() + sprouted + "\n" + largeCommit)
	checked := baselineOn(r, 1, 2*time.Minute)
	commits, _ := commitsSince(r)
	if len(commits) == 0 || !strings.Contains(checked.Note, "guarded again") || checked.Unverified {
		t.Errorf("%d undecided commits, then %s", len(commits), guardtest.TextOf(checked))
	}
	for _, s := range r.Daemon.Status() {
		if s.Unverified != nil {
			t.Errorf("%s is unverified since commit %d", s.Name(), s.Unverified.Since)
		}
	}
	mustUnmount(r)
	r.End()
}
