package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"fsward/explore/crash"
)

// report minimizes the first failure of each cause, and writes its folder. It only counts later
// ones.
func (x *explorer) report(ctx context.Context, f *failureContext) (*Error, error) {
	if i := x.causes.known(f, x.errors); i >= 0 {
		x.errors[i].Count++
		return &x.errors[i], nil
	}
	x.tick()
	totals := x.totals
	found := f
	f, err := minimizer{x}.minimize(ctx, f)
	if err != nil {
		return nil, err
	}
	cause := f.cause()
	if i := slices.IndexFunc(x.errors, func(e Error) bool { return e.Cause == cause }); i >= 0 {
		x.totals = totals
		x.causes.add(found, x.errors, i)
		x.errors[i].Count++
		return &x.errors[i], nil
	}
	e := f.asError(&x.Config)
	err = x.confirm(ctx, &e)
	x.totals = totals // minimizing and replaying are not part of the exploration
	if err != nil {
		return nil, err
	}
	e.Seconds, e.Cause = totals.Seconds, cause
	e.Dir = fmt.Sprintf("%03d-%s", len(x.errors)+1, fileName(f.Property+" "+f.Kind))
	if err := x.writeFolder(&e, f); err != nil {
		return nil, fmt.Errorf("the folder of an error: %w", err)
	}
	x.errors = append(x.errors, e)
	x.causes.add(found, x.errors, len(x.errors)-1)
	event := "error"
	if e.Surprise {
		event = "surprise"
	}
	x.emit(Event{Event: event, Error: &e})
	return &e, nil
}

// asError returns the Error for a failure of a run, without a folder.
func (f *failureContext) asError(cfg *Config) Error {
	e := Error{Kind: f.Kind, Property: f.Property, Surprise: f.Surprise, Summary: f.Text,
		Origin: cfg.Origin, ReplayFlags: cfg.ReplayFlags,
		Setup: f.setup, Steps: f.steps, Did: f.did, Seed: cfg.Crash.Seed,
		Limit: cfg.Crash.Limit, Count: 1}
	e.StepFaults = f.injected
	if f.faults != nil {
		e.Fail = f.faults.plan
	}
	if f.disk != nil {
		e.Crash = &f.disk.CrashError
	}
	e.ProcessCrash, e.Unscheduled = f.process, f.unscheduled
	return e
}

// keep copies a crash state, and what the kernel and commands of its recovery printed.
func (c *badDisk) keep(s *session) *crashDisk {
	k := &crashDisk{CrashError: CrashError{Window: c.window, Epoch: c.Epoch.String(),
		Contents: c.sum(), After: c.At, Missing: c.Missing(), Early: s.disks.early(c.crashCase),
		Torn: tornBios(c.State), Choices: c.choices}}
	left := c.State
	if second := c.second; second != nil {
		left = second
		k.Second = &SecondCrash{Contents: second.Contents().String(), Missing: second.Missing(),
			Torn: tornBios(second)}
	}
	k.kernel, k.printed = slices.Clone(s.recovery.kernel), slices.Clone(s.recovery.printed)
	k.Complaint = s.recovery.complaint
	k.disks = s.disks.images(left)
	return k
}

// tornBios returns the torn writes of a crash state.
func tornBios(s *crash.State) (out []TornBio) {
	for _, w := range s.Torn() {
		t := TornBio{Bio: w.ID, Sectors: w.Len / crash.SectorSize}
		for _, r := range w.Done {
			first := int64(r.Off / crash.SectorSize)
			t.Done = append(t.Done, [2]int64{first, first + int64(r.Len/crash.SectorSize) - 1})
		}
		out = append(out, t)
	}
	return out
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// fileName returns a name of at most 40 bytes for a folder.
func fileName(kind string) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(kind), "-"), "-")
	return name[:min(len(name), 40)]
}

// number returns the number of an error in its run, from 1. It is the first part of the folder's
// name.
func (e *Error) number() int {
	first, _, _ := strings.Cut(e.Dir, "-")
	n, _ := strconv.Atoi(first) // 0 sorts before all others
	return n
}

// writeFolder writes the folder of an error. A run that was killed before it stored the error may
// have left a folder of this name. It is removed, because a log is never overwritten.
func (x *explorer) writeFolder(e *Error, f *failureContext) error {
	dir := filepath.Join(x.Dir, e.Dir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
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
	disks := x.session.disks
	for i, d := range disks.list {
		base := filepath.Join(dir, fmt.Sprintf("disk%d.base.zst", d.Number))
		if err := writeImage(base, disks.bases[i]); err != nil {
			return err
		}
		if f.disk != nil {
			left := filepath.Join(dir, fmt.Sprintf("disk%d.crash.zst", d.Number))
			if err := writeImage(left, f.disk.disks[i]); err != nil {
				return err
			}
		}
	}
	if err := writeKernelLog(dir, f); err != nil {
		return err
	}
	if err := writePrinted(dir, f); err != nil {
		return err
	}
	if err := writeTimeline(dir, f.execution); err != nil {
		return err
	}
	if err := writeReproducer(dir, e, disks.list); err != nil {
		return err
	}
	return disks.writeLogs(dir, f.records)
}

// kernelName is the file with the kernel's log, in the folder of an error.
const kernelName = "kernel.log"

func writeKernelLog(dir string, f *failureContext) error {
	text := "# From the mount of the pristine disks to the error, or to the unmount before " +
		"the crash states are checked:\n" + strings.Join(f.kernel, "")
	if f.disk != nil {
		text += "# While the crash state was recovered and checked:\n" + strings.Join(f.disk.kernel, "")
	}
	return os.WriteFile(filepath.Join(dir, kernelName), []byte(text), 0o644)
}

// printedName is the file with what the commands of the recovery printed, in the folder of an
// error.
const printedName = "recovery.log"

func writePrinted(dir string, f *failureContext) error {
	if f.disk == nil {
		return nil
	}
	text := "# Commands of the recovery, the mount, the check and the unmount:\n" +
		strings.Join(f.disk.printed, "")
	return os.WriteFile(filepath.Join(dir, printedName), []byte(text), 0o644)
}

// writeImage writes the contents of a disk, compressed by zstd.
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
