package guard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/offline"
	"fsward/interp"
	"fsward/interp/detect"
)

// Bounds of one input of the fuzzer. An unaltered recording takes a tenth of them or less.
const (
	fuzzCPU    = 10 * time.Second // of the process, all threads
	fuzzAllocs = 2 << 30          // bytes allocated in total
	fuzzHang   = 5 * time.Minute  // wall time: an input that takes longer does not end
)

func FuzzBtrfsLog(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte{mutDrop, 9, 0, 0, 0, 0, 0, 0}, true)
	f.Add([]byte{mutSeal, 20, 0, 0, 0, 130, 0, 3, mutMove, 30, 0, 35, 0, 0, 0, 0}, true)
	f.Add([]byte{mutField, 0, 0, 12, 0, 4, 0, 0}, false)
	f.Add([]byte{mutField, 60, 0, 40, 2, 1, 3, 5, mutSplice, 40, 0, 50, 0, 10, 1, 9}, true)
	f.Add([]byte{mutHeader, 9, 0, 16, 0, 1, 0, 0, mutKind, 12, 0, 1, 0, 0, 0, 0}, true)
	fuzzPipeline(f, "btrfs")
}

func FuzzDisksLog(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte{mutMove, 100, 0, 20, 0, 0, 0, 0}, true)
	f.Add([]byte{mutSwap, 40, 0, 90, 0, 0, 0, 0, mutSeal, 20, 0, 0, 0, 130, 0, 3}, true)
	f.Add([]byte{mutMisdirect, 60, 0, 150, 0, 0, 0, 1, mutField, 60, 0, 40, 2, 1, 3, 5}, true)
	fuzzPipeline(f, "disks")
}

func FuzzExt3Log(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte{mutDrop, 9, 0, 0, 0, 0, 0, 0}, true)
	f.Add([]byte{mutWord, 20, 0, 0, 0, 130, 0, 3, mutSwap, 30, 0, 35, 0, 0, 0, 0}, true)
	f.Add([]byte{mutSplice, 10, 0, 20, 0, 10, 1, 9, mutCut, 12, 0, 1, 0, 0, 0, 0}, true)
	fuzzPipeline(f, "ext3")
}

// fuzzPipeline alters a recorded log by the fuzzer's program and replays it through the whole flow:
// it reads the log, interprets each write, checks each commit by all rules, and checks the result
// as an image. Every event must have a verdict, in bounded time and memory.
func fuzzPipeline(f *testing.F, name string) {
	p := openPipeline(f, name)
	f.Fuzz(func(t *testing.T, program []byte, keepGoing bool) {
		hang := time.AfterFunc(fuzzHang, func() {
			panic(fmt.Sprintf("an input has not ended after %v",
				fuzzHang))
		})
		defer hang.Stop()
		cpu, allocs := processTime(t), allocated()
		p.run(t, program, keepGoing)
		if took := processTime(t) - cpu; took > fuzzCPU {
			t.Errorf("%v of the processor's time, at most %v", took, fuzzCPU)
		}
		if n := allocated() - allocs; n > fuzzAllocs {
			t.Errorf("%d bytes were allocated, at most %d", n, fuzzAllocs)
		}
	})
}

// A pipeline has the parts that inputs share.
type pipeline struct {
	bases    []blocktap.Disk
	requests []blocktap.Request // of the recording, at addresses of an interp.Set
	rules    *guard.Rules
	specs    []interp.Alterable
}

func openPipeline(f testing.TB, name string) *pipeline {
	f.Helper()
	i := slices.IndexFunc(fuzzLogs, func(r fuzzLog) bool { return r.name == name })
	p := &pipeline{specs: detect.Alterables(fuzzLogs[i].fs)}
	var recordings []*trace.Reader
	for _, d := range fuzzLogs[i].replayDisks() {
		base, err := blocktap.OpenImage(d.Base)
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { _ = base.Close() })
		recording, err := trace.Open(d.Log)
		if err != nil {
			f.Fatal(err)
		}
		defer recording.Close()
		p.bases, recordings = append(p.bases, base), append(recordings, recording.Reader)
	}
	merged, err := trace.Merge(recordings...)
	if err != nil {
		f.Fatal(err)
	}
	for {
		disk, entry, err := merged.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			f.Fatal(err)
		}
		if r, ok := entry.Request(); ok {
			r.Off, r.Data = interp.Address(disk, r.Off), bytes.Clone(r.Data)
			p.requests = append(p.requests, r)
		}
	}
	if p.rules, err = (guard.RulesConfig{}).Load(); err != nil {
		f.Fatal(err)
	}
	return p
}

// run replays one program's log.
func (p *pipeline) run(t *testing.T, program []byte, keepGoing bool) *verdicts {
	m := newMutant(p.requests)
	m.run(program, p.specs)
	merged, err := mergeLogs(m.logs(t, len(p.bases)))
	if err != nil {
		return &verdicts{} // the program has changed a log's own superblock
	}
	var disks []interp.Disk
	var overlays []*overlay.Disk
	for _, base := range p.bases {
		disk, err := overlay.New(base)
		if err != nil {
			t.Fatal(err)
		}
		defer disk.Close()
		disks, overlays = append(disks, disk), append(overlays, disk)
	}
	disk, err := interp.NewSet(disks...)
	if err != nil {
		t.Fatal(err)
	}
	interpreter, err := detect.Follow(disk, detect.Auto)
	if err != nil {
		t.Fatal(err)
	}
	seen := &verdicts{t: t}
	var bug *guard.Simulator
	var arm func()
	if m.spec != "" {
		bug = guard.NewSimulator(disk)
		arm = func() { _ = bug.Arm(m.spec) } // many specs name something that does not exist
	}
	cfg := guard.PipelineConfig{Interpreter: interpreter, Rules: p.rules, Policy: guard.RefusePolicy{},
		Sinks: []guard.Sink{seen}, Simulator: bug}
	if keepGoing {
		cfg.Policy = guard.LogPolicy{}
	}
	for i, d := range overlays {
		cfg.Disks, cfg.Names = append(cfg.Disks, d), append(cfg.Names, fmt.Sprint(i))
	}
	line := guard.NewPipeline(cfg, zap.NewNop())
	var devices []*blocktap.Device
	for i, d := range overlays {
		devices = append(devices, blocktap.NewDevice(d,
			&armed{Guard: line.Guards[i], after: m.armAfter, arm: arm}))
	}
	err = offline.Feed(t.Context(), devices, merged)
	line.Close() // the rules are used again
	if err != nil && !invalidLog(err) {
		t.Errorf("the replay: %v", err)
	}
	if len(program) == 0 && (seen.commits < 4 || !seen.hold) {
		t.Errorf("%d commits of the recording, all hold: %v", seen.commits, seen.hold)
	}
	if name, obs, err := detect.Image(disk, detect.Auto); err == nil {
		seen.Event(guard.CheckImage(t.Context(), p.rules, name, obs,
			0, func(disk int) string { return fmt.Sprint(disk) }))
	}
	return seen
}

// mergeLogs returns a reader of logs that were written together.
func mergeLogs(logs [][]byte) (*trace.Merged, error) {
	var readers []*trace.Reader
	for _, b := range logs {
		r, err := trace.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		readers = append(readers, r)
	}
	return trace.Merge(readers...)
}

// invalidLog reports whether an error says that a log is invalid or incomplete, or that one of its
// requests is invalid.
func invalidLog(err error) bool {
	var format *trace.FormatError
	return errors.As(err, &format) || strings.Contains(err.Error(), "no log contains turn") ||
		errors.Is(err, blocktap.ErrRange) || errors.Is(err, blocktap.ErrUnaligned)
}

// TestMutantsReachRules checks that random programs that correct checksums reach the rules, and not
// only the first checks of the bytes.
func TestMutantsReachRules(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		fs               string
		structure, rules int // number of each kind that must be violated
	}{{"btrfs", 8, 3}, {"ext3", 6, 4}} {
		t.Run(tc.fs, func(t *testing.T) {
			t.Parallel()
			p := openPipeline(t, tc.fs)
			random := rand.New(rand.NewPCG(1, 2))
			structure, rules := make(map[string]int), make(map[string]int)
			for range 150 {
				program := make([]byte, 5*instructionLen)
				for i := range program {
					program[i] = byte(random.Uint32())
					if i%instructionLen == 0 {
						program[i] = [...]byte{mutSeal, mutSplice, mutField}[random.IntN(3)]
					}
				}
				for _, v := range p.run(t, program, false).violations {
					if v.Kind == change.ByRule {
						rules[v.Rule]++
					} else {
						structure[v.Rule]++
					}
				}
			}
			t.Logf("structure: %v; rules: %v", structure, rules)
			if len(structure) < tc.structure || len(rules) < tc.rules {
				t.Errorf("%d checks of structure and %d rules are violated, want %d and %d", len(structure),
					len(rules), tc.structure, tc.rules)
			}
		})
	}
}

// armed is a guard that arms a bug after some writes.
type armed struct {
	*guard.Guard
	after int
	arm   func()
}

func (a *armed) Handle(ctx context.Context, r *blocktap.Request, do func() error) error {
	if a.after--; a.after < 0 && a.arm != nil {
		a.arm()
		a.arm = nil
	}
	return a.Guard.Handle(ctx, r, do)
}

// verdicts is a Sink that checks the form of each event.
type verdicts struct {
	t          *testing.T
	commits    int
	hold       bool
	violations []change.Violation
}

func (v *verdicts) Event(ev *guard.Event) {
	v.violations = append(v.violations, ev.Violations...)
	if ev.Kind == guard.KindCommit {
		v.commits++
		v.hold = ev.Outcome == change.Holds && (v.hold || v.commits == 1)
	}
	ok := false
	switch ev.Outcome {
	case change.Holds:
		ok = len(ev.Violations) == 0 && len(ev.Undecided) == 0
	case change.Violated:
		ok = len(ev.Violations) > 0
	case change.Undecided:
		ok = len(ev.Undecided) > 0
	}
	if !ok {
		v.t.Errorf("%s with %d violations and %d undecided", ev.Outcome, len(ev.Violations),
			len(ev.Undecided))
	}
	guard.NewTextReport(io.Discard).Event(ev)
	guard.NewJSONReport(io.Discard, "").Event(ev)
}

func processTime(t *testing.T) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// allocated returns the number of bytes that the process has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
