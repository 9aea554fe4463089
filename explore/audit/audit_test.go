package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/explore/crash"
)

const recordings = "../../hostd/guard/testdata/logs/"

// config returns the audit of a recording of a file system.
func config(t *testing.T, fs string, logs ...string) Config {
	t.Helper()
	base, err := blocktap.OpenImage(recordings + fs + ".base.zst")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = base.Close() })
	if len(logs) == 0 {
		logs = []string{recordings + fs + ".log.zst"}
	}
	return Config{Base: base, Logs: logs, FS: "auto", Crash: crash.Options{Limit: 20, Seed: 1}}
}

// alter writes a log in which a function changed or dropped entries, and returns its path.
func alter(t *testing.T, fs string, change func(e *trace.Entry, r *blocktap.Request) bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	w, err := trace.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	err = trace.Each(recordings+fs+".log.zst", func(e *trace.Entry) error {
		r, ok := e.Request()
		if !ok {
			return w.Mark(e.Mark)
		}
		if !change(e, &r) {
			return nil
		}
		return w.Log(&r)
	})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, cfg Config) *Summary {
	t.Helper()
	sum, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// The states of a sound log are sound, and the check sees each of them once.
func TestSoundLog(t *testing.T) {
	for _, fs := range []string{"ext3", "btrfs"} {
		cfg := config(t, fs)
		seen := make(map[crash.Signature]bool)
		cfg.Check = func(_ context.Context, s *crash.State) (*Problem, error) {
			seen[s.Sig] = true
			return nil, nil
		}
		sum := run(t, cfg)
		if sum.Outcome() != change.Holds || sum.States < 50 || sum.Checked != sum.States ||
			len(seen) == 0 || sum.Entries != sum.OfEntries || sum.FS != fs {
			t.Errorf("%s: %+v, %d different contents", fs, sum, len(seen))
		}
	}
}

// A disk that ignores flushes is found. Each finding has a folder from which it shows again.
func TestDroppedFlushes(t *testing.T) {
	for _, fs := range []string{"ext3", "btrfs"} {
		log := alter(t, fs, func(_ *trace.Entry, r *blocktap.Request) bool {
			r.FUA = false
			return r.Op != blocktap.OpFlush
		})
		cfg, out, n := config(t, fs, log), t.TempDir(), 0
		var dirs []string
		cfg.Found = func(f *Finding, s *crash.State) error {
			n++
			r := Record{Finding: *f, Base: recordings + fs + ".base.zst", Logs: cfg.Logs, Crash: cfg.Crash}
			dir, err := r.Write(out, n, s)
			dirs = append(dirs, dir)
			return err
		}
		sum := run(t, cfg)
		if sum.Outcome() != change.Violated || len(dirs) != len(sum.Findings) {
			t.Fatalf("%s: %+v", fs, sum)
		}
		for _, dir := range dirs {
			r, err := ReadRecord(dir)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Again(context.Background(), cfg, r.State)
			if err != nil || p == nil || p.Kind != r.Kind {
				t.Errorf("%s: %s: again %+v, %v", fs, r.Kind, p, err)
			}
			if len(r.Missing) == 0 {
				t.Errorf("%s: %s: no write is missing", fs, r.Kind)
			}
			text, err := os.ReadFile(filepath.Join(dir, textName))
			if err != nil || !strings.Contains(string(text), r.Kind) {
				t.Errorf("%s: %v", text, err)
			}
			if image, err := blocktap.OpenImage(filepath.Join(dir, imageName)); err != nil {
				t.Error(err)
			} else if err := image.Close(); err != nil || image.Size() != cfg.Base.Size() {
				t.Errorf("the image has %d bytes, %v", image.Size(), err)
			}
		}
	}
}

// A write that was altered is found, without any write missing.
func TestAlteredWrite(t *testing.T) {
	const tree = 0x10000 + 0x40 // begin of the magic of a Btrfs superblock
	log := alter(t, "btrfs", func(_ *trace.Entry, r *blocktap.Request) bool {
		if r.Op == blocktap.OpWrite && r.Off > 1<<20 && r.Len >= 4096 && r.Meta {
			r.Data = append([]byte(nil), r.Data...)
			r.Data[200] ^= 1
		}
		if r.Op == blocktap.OpWrite && r.Off <= tree && tree < r.Off+r.Len {
			r.Data = append([]byte(nil), r.Data...)
			r.Data[tree-r.Off+16] ^= 4 // the generation; the checksum is wrong now
		}
		return true
	})
	if sum := run(t, config(t, "btrfs", log)); sum.Outcome() != change.Violated {
		t.Errorf("%+v", sum)
	}
}

// A log in two parts has the states of the whole log, and entries that a guard refused are left
// out.
func TestPartsAndRefused(t *testing.T) {
	whole := run(t, config(t, "ext3"))
	middle := whole.OfEntries / 2
	first := alter(t, "ext3", func(e *trace.Entry, _ *blocktap.Request) bool {
		return e.Index < middle
	})
	second := alter(t, "ext3", func(e *trace.Entry, _ *blocktap.Request) bool {
		return e.Index >= middle
	})
	parts := run(t, config(t, "ext3", first, second))
	if parts.States != whole.States || parts.Outcome() != change.Holds {
		t.Errorf("whole: %+v\nparts: %+v", whole.Totals, parts.Totals)
	}

	refused := filepath.Join(t.TempDir(), "refused")
	w, err := trace.Create(refused)
	if err != nil {
		t.Fatal(err)
	}
	garbage := blocktap.Request{Op: blocktap.OpWrite, Len: 1 << 20, Data: make([]byte, 1<<20),
		FUA: true}
	err = errors.Join(w.Log(&garbage), w.Mark(trace.UndoneMark(0, 1)), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	if sum := run(t, config(t, "ext3", refused)); sum.Outcome() != change.Holds {
		t.Errorf("a refused write is on the disk: %+v", sum)
	}
}

// A base without a sound file system is an error, not a finding.
func TestUnsoundBase(t *testing.T) {
	cfg := config(t, "ext3")
	cfg.Base = zeros(1 << 20)
	if sum, err := Run(context.Background(), cfg); err == nil {
		t.Errorf("a disk of zeros is audited: %+v", sum)
	}
}

type zeros uint64

func (z zeros) Size() uint64 { return uint64(z) }

func (zeros) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}
