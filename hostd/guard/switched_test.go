package guard_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/explore/recordtest"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/interp/detect"
)

// putBack is a disk whose contents can be exchanged, as at a checkpoint.
type putBack struct{ *overlay.Disk }

func layer(t *testing.T, on overlay.Base) *overlay.Disk {
	t.Helper()
	d, err := overlay.New(on)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// requests returns the requests of a log.
func requests(t *testing.T, path string) (out []blocktap.Request) {
	t.Helper()
	l, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for {
		e, err := l.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if q, ok := e.Request(); ok {
			q.Data = slices.Clone(q.Data)
			out = append(out, q)
		}
	}
}

// said returns the event of a guest's write as words.
func said(ev *guard.Event) string {
	return fmt.Sprintf("%s %s %d: %s, %d records", ev.Kind, ev.FS, ev.Generation, ev.Outcome,
		ev.Records)
}

// TestSwitched puts a guarded disk back, also in the middle of transactions. The guest's next
// commits get the same verdicts with the same changes as the first time. A guard that is not told
// refuses them.
func TestSwitched(t *testing.T) {
	const script = `for r in 1 2 3; do
		mkdir -p d$r; for i in 1 2 3 4 5 6 7 8; do echo $r > d$r/f$i; done; sync -f d$r/f1
		echo more >> d$r/f2; sync d$r/f2; ln d$r/f3 d$r/l; rm d$r/f4; mv d$r/f5 d$r/m; dd if=/dev/zero of=d$r/big bs=4k count=40 2>/dev/null
	done; sync -f .`
	for fs, size := range map[string]int64{"ext3": 32 << 20, "btrfs": 128 << 20} {
		t.Run(fs, func(t *testing.T) {
			image, log := recordtest.Record(t, recordtest.Load{FS: fs, Size: size,
				Do: recordtest.Script(script)})
			all := requests(t, log)
			base, err := blocktap.OpenImage(image)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = base.Close() })
			disk := &putBack{layer(t, base)}
			seen := &guardtest.Recorder{}
			d, err := guard.Open(guard.Config{Disks: []guard.DiskSpec{{Name: "disk", Disk: disk}},
				FS: detect.Auto, OnViolation: guard.OnRefuse, Sinks: []guard.Sink{seen}}, zaptest.NewLogger(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			// do performs requests and returns their events.
			do := func(list []blocktap.Request) (out []string) {
				from := len(seen.Events())
				for _, q := range list {
					q.Data = slices.Clone(q.Data) // it belongs to the device
					if err := d.Device("disk").Do(t.Context(), &q); err != nil &&
						!errors.Is(err, blocktap.ErrRefused) {
						t.Fatal(err)
					}
				}
				for _, ev := range seen.Events()[from:] {
					out = append(out, said(ev))
				}
				return out
			}
			const every = 7
			var moments []*overlay.Disk // before the requests 0, every, …
			var first [][]string        // events from each moment to the next
			for at := 0; at < len(all); at += every {
				moments = append(moments, disk.Disk)
				disk.Disk = layer(t, disk.Disk)
				first = append(first, do(all[at:min(at+every, len(all))]))
			}
			commits := 0
			for _, ev := range seen.Events() {
				if ev.Outcome != change.Holds {
					t.Errorf("the first time: %s", guardtest.TextOf(ev))
				}
				if ev.Kind == guard.KindCommit {
					commits++
				}
			}
			t.Logf("%d requests, %d commits, %d moments", len(all), commits, len(moments))
			if commits < 4 {
				t.Errorf("%d commits", commits)
			}
			// Backwards, so that the guard knows more than the disk holds.
			for m := len(moments) - 1; m >= 0; m-- {
				disk.Disk = layer(t, moments[m])
				if err := d.Switched(); err != nil {
					t.Fatalf("put back to request %d: %v", m*every, err)
				}
				end := min(m+8, len(moments))
				got, want := do(all[m*every:min(end*every, len(all))]), slices.Concat(first[m:end]...)
				if !slices.Equal(got, want) {
					t.Errorf("put back to request %d, it says\n%q, and said\n%q", m*every, got, want)
				}
			}
			// The guard is not told.
			disk.Disk = layer(t, moments[0])
			if got := do(all); slices.Equal(got, slices.Concat(first...)) {
				t.Error("a guard that is not told that its disk was put back says the same")
			}
		})
	}
}
