package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"fsward/blocktap/trace"
	"fsward/explore/ramdisk"
)

// errorName is the file of an Error in its folder.
const errorName = "error.json"

// An Error is one that was found, with all that finds it again.
type Error struct {
	Kind string `json:"kind"`
	// Property is that of Failure.
	Property     string          `json:"property,omitempty"`
	Summary      string          `json:"summary"` // what was expected and what is there
	Dir          string          `json:"dir"`     // its folder, in that of the run
	Origin       json.RawMessage `json:"origin,omitempty"`
	Steps        [][]Choice      `json:"steps"`
	Did          [][]string      `json:"did"`            // what each step did, for people
	Fail         []InjectedFault `json:"fail,omitempty"` // calls inside the kernel that failed in the last step
	Seed         uint64          `json:"seed"`           // of the crash states that are formed where there are too many
	Limit        int             `json:"limit"`
	Crash        *CrashError     `json:"crash,omitempty"`   // nil: it was found without a crash
	ProcessCrash *ProcessCrash   `json:"soft,omitempty"`    // nil: it was none of a program alone
	Unscheduled  []string        `json:"strayed,omitempty"` // threads that ran though they were held: it may not replay
	Seconds      float64         `json:"seconds"`           // of the run, until it was found; after that it was made smaller
	Count        uint64          `json:"count"`             // how often errors of this kind were found, this one and those like it
}

// A CrashError says which crash it was.
type CrashError struct {
	Window   int      `json:"window"` // of the last step, from 0
	Epoch    string   `json:"epoch"`
	Contents string   `json:"contents"` // signature of what the disks held
	After    uint64   `json:"after"`    // number of the record of the log after which it was
	Missing  []uint64 `json:"missing"`  // writes, by their bios, that had been submitted and did not reach the disk
	// Early are the blocks that had not been submitted and did reach the disk.
	Early []EarlyBlock `json:"early,omitempty"`
	// Second is a crash in the middle of the recovery; nil: there was none.
	Second *SecondCrash `json:"second,omitempty"`
}

// A SecondCrash is one while the disk that a crash left was recovered.
type SecondCrash struct {
	Contents string   `json:"contents"` // as CrashError.Contents
	Missing  []uint64 `json:"missing"`  // writes of the recovery
}

// A crashDisk is a crash disk that is kept.
type crashDisk struct {
	CrashError
	disks  []memory
	kernel []string // what the kernel said when it was recovered and checked
}

// keep copies a crash disk.
func (s *session) keep(c crashed) *crashDisk {
	k := &crashDisk{CrashError: CrashError{Window: c.window, Epoch: c.Epoch.String(), Contents: c.sum(), After: c.At, Missing: c.Missing(), Early: s.early(c)}}
	left := c.State
	if c.second != nil {
		left, k.Second = c.second, &SecondCrash{Contents: c.second.Contents().String(), Missing: c.second.Missing()}
	}
	k.kernel = slices.Clone(s.heard)
	for i := range s.disks {
		disk := make(memory, len(s.bases[i]))
		_, _ = left.Disk(i).ReadAt(disk, 0) // memory
		k.disks = append(k.disks, disk)
	}
	return k
}

// report makes the first error of its kind as small as it can and writes its folder, and counts the others.
func (x *explorer) report(ctx context.Context, f *failureContext) (*Error, error) {
	for i := range x.errors {
		if f.like(x.errors[i].Kind, x.errors[i].Property) {
			x.errors[i].Count++
			return &x.errors[i], nil
		}
	}
	x.tick()
	totals := x.totals
	f, err := x.minimise(ctx, f)
	x.totals = totals // what was run again is no part of the exploration
	if err != nil {
		return nil, err
	}
	e := x.errorOf(f)
	e.Seconds = totals.Seconds
	e.Dir = fmt.Sprintf("%03d-%s", len(x.errors)+1, fileName(f.Property+" "+f.Kind))
	if err := x.writeFolder(&e, f); err != nil {
		return nil, fmt.Errorf("the folder of an error: %w", err)
	}
	x.errors = append(x.errors, e)
	x.tell(Event{Event: "error", Error: &e})
	return &e, nil
}

// errorOf is what there is to say of a failureContext.
func (x *explorer) errorOf(f *failureContext) Error {
	e := Error{Kind: f.Kind, Property: f.Property, Summary: f.Text, Origin: x.Origin, Steps: f.steps, Did: f.did, Seed: x.Crash.Seed, Limit: x.Crash.Limit, Count: 1}
	if f.fail != nil {
		e.Fail = f.fail.plan
	}
	if f.disk != nil {
		e.Crash = &f.disk.CrashError
	}
	e.ProcessCrash, e.Unscheduled = f.soft, f.unscheduled
	return e
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

func fileName(kind string) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(kind), "-"), "-")
	return name[:min(len(name), 40)]
}

func (x *explorer) writeFolder(e *Error, f *failureContext) error {
	dir := filepath.Join(x.Dir, e.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	b, err := json.MarshalIndent(e, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, errorName), append(b, '\n'), 0o644)
	}
	if err != nil {
		return err
	}
	for i, d := range x.session.disks {
		if err := writeImage(filepath.Join(dir, fmt.Sprintf("disk%d.base.zst", d.Number)), x.session.bases[i]); err != nil {
			return err
		}
		if f.disk != nil {
			if err := writeImage(filepath.Join(dir, fmt.Sprintf("disk%d.crash.zst", d.Number)), f.disk.disks[i]); err != nil {
				return err
			}
		}
	}
	if err := writeKernelLog(dir, f); err != nil {
		return err
	}
	if err := writeTimeline(dir, f.execution); err != nil {
		return err
	}
	if err := writeReproducer(dir, e, x.session.disks); err != nil {
		return err
	}
	return x.session.writeLogs(dir, f.records)
}

// kernelName is the file of an error's folder with what the kernel has logged.
const kernelName = "kernel.log"

func writeKernelLog(dir string, f *failureContext) error {
	text := "# From the mount of the pristine disks to the error, or to the unmount before its crash disks are looked at:\n" + strings.Join(f.kernel, "")
	if f.disk != nil {
		text += "# While the crash disk was recovered and checked:\n" + strings.Join(f.disk.kernel, "")
	}
	return os.WriteFile(filepath.Join(dir, kernelName), []byte(text), 0o644)
}

func writeImage(path string, image []byte) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := zstd.NewWriter(f)
	if err != nil {
		return err
	}
	_, err = w.Write(image)
	return errors.Join(err, w.Close())
}

func logName(d *Disk) string { return fmt.Sprintf("disk%d.log", d.Number) }

// writeLogs writes what each disk was told as a dm-log-writes log, for fsward replay.
func (s *session) writeLogs(dir string, records []ramdisk.Record) (err error) {
	logs := make(map[uint32]*trace.Writer)
	for _, d := range s.disks {
		w, err := trace.Create(filepath.Join(dir, logName(d)))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		logs[d.Number] = w
	}
	trace.Together(slices.Collect(maps.Values(logs))...)
	c := ramdisk.NewConverter(logs)
	for i := range records {
		if err := c.Add(&records[i]); err != nil {
			return err
		}
	}
	return nil
}

// ReadError reads an error's folder.
func ReadError(dir string) (e Error, err error) {
	b, err := os.ReadFile(filepath.Join(dir, errorName))
	if err == nil {
		err = json.Unmarshal(b, &e)
	}
	if err != nil {
		return e, fmt.Errorf("%s is not the folder of an error that was found: %w", dir, err)
	}
	return e, nil
}

// Replay runs the choices that led to an error once more, with the same crashes after them, and returns the error if it is found
// again, nil if not.
func Replay(ctx context.Context, cfg Config, e Error) (found *Failure, err error) {
	x := &explorer{Config: cfg, memo: make(memo), stop: ctx}
	x.Crash.Seed, x.Crash.Limit, x.MaxFaults = e.Seed, e.Limit, len(e.Fail)
	ctx = context.WithoutCancel(ctx)
	if x.session, err = newSession(ctx, cfg); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.session.close(ctx)) }()
	if err := x.prepare(ctx); err != nil {
		return nil, err
	}
	f, err := x.again(ctx, e)
	if err != nil || f == nil {
		return nil, err
	}
	return f.Failure, nil
}

// again runs the choices of an error, and tries its crash, or those like it.
func (x *explorer) again(ctx context.Context, e Error) (f *failureContext, err error) {
	if len(e.Steps) == 0 {
		return nil, errors.New("an error without a step")
	}
	last := len(e.Steps) - 1
	if err := x.stopped(); err != nil {
		return nil, err
	}
	r, err := x.session.run(ctx, &state{Steps: e.Steps[:last], Next: Values(e.Steps[last]), Fail: e.Fail}, true)
	if err != nil {
		return nil, err
	}
	if r.idle != "" {
		return nil, divergedTurn(r.idle)
	}
	if i := slices.IndexFunc(r.beside, func(f *Failure) bool { return f.Kind == e.Kind }); i >= 0 {
		return &failureContext{Failure: r.beside[i], execution: r}, nil
	}
	if r.found == nil && e.ProcessCrash != nil {
		return x.softAgain(ctx, r, e)
	}
	if r.found != nil || e.Crash == nil {
		return sameKind(&failureContext{Failure: r.found, execution: r}, e), nil
	}
	if found, err := x.session.finish(ctx); err != nil || found != nil {
		return sameKind(&failureContext{Failure: found, execution: r}, e), err
	}
	var by *examiner
	// What is equal to the disk that was kept first. Where blocks were allocated otherwise, any that shows the error will do.
	for _, exact := range []bool{true, false} {
		if by, err = x.newExaminer(ctx); err != nil { // for a log from its beginning
			return nil, err
		}
		_, err := x.session.crashes(r, x.Crash, func(c crashed) error {
			if c.window != e.Crash.Window || c.Epoch.String() != e.Crash.Epoch || exact != (c.sum() == e.Crash.Contents) {
				return x.stopped()
			}
			bad, _, err := x.checkCrash(ctx, by, c)
			if err != nil || bad == nil {
				return err
			}
			if f = sameKind(&failureContext{Failure: bad.Failure, execution: r}, e); f != nil {
				f.disk = x.session.keep(bad.crashed)
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) || f != nil {
			if f != nil {
				err = nil
			}
			return f, err
		}
	}
	return nil, nil
}

// sameKind returns a failureContext that is like an error, else nil.
func sameKind(f *failureContext, e Error) *failureContext {
	if f.Failure == nil || !f.like(e.Kind, e.Property) {
		return nil
	}
	return f
}
