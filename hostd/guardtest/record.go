package guardtest

import (
	"testing"

	"fsward/hostd/guard"
	"fsward/hostd/offline"
)

// A Recorded is a recorded file system: an image, and the log of the writes of the host's kernel to
// it.
type Recorded struct{ Base, Log string }

// Record makes an image, keeps a copy of it, and records the kernel's writes to it under a
// workload.
func Record(t *testing.T, fs, script string) Recorded {
	t.Helper()
	return RecordOn(t, fs, Mkfs(t, fs, 256<<20), script)
}

// RecordOn is Record with an image that exists already.
func RecordOn(t *testing.T, fs, image, script string) Recorded {
	t.Helper()
	rec := Recorded{Base: image + ".base", Log: image + ".log"}
	Run(t, "cp", "--sparse=always", image, rec.Base)
	r := Attach(t, image, func(c *guard.Config) { c.Record = rec.Log })
	r.MustMount(fs)
	r.MustRun(script)
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	r.NoAlarm()
	r.End()
	return rec
}

// RecordedDisks are recorded disks, and the events of the guard.
type RecordedDisks struct {
	Disks []offline.ReplayDisk
	Seen  Events
}

// AttachRecorded is AttachDisks that copies the images as they are, and records.
func AttachRecorded(t *testing.T, images []string) (*Rig, []offline.ReplayDisk) {
	t.Helper()
	dir := t.TempDir()
	var disks []offline.ReplayDisk
	r := AttachDisks(t, images, func(c *guard.Config) {
		c.Record = dir + "/log"
		for _, d := range c.Disks {
			Run(t, "cp", "--sparse=always", d.Path, dir+"/"+d.Name)
			disks = append(disks, offline.ReplayDisk{Name: d.Name, Base: dir + "/" + d.Name,
				Log: guard.RecordPath(*c, d.Name)})
		}
	})
	return r, disks
}

// RecordDisks records what a script does to the file system on some disks.
func RecordDisks(t *testing.T, images []string, script string) RecordedDisks {
	t.Helper()
	r, disks := AttachRecorded(t, images)
	r.MustMount("btrfs")
	r.MustRun(r.DiskVariables() + script)
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	r.NoAlarm()
	r.End()
	return RecordedDisks{disks, r.Seen.Events()}
}

// Filled is a script that writes some of everything to a mounted file system.
const Filled = `mkdir -p d; cp -r /etc/apt d
for i in 1 2 3 4; do head -c 3000000 /dev/urandom > f$i; done; sync -f .
`
