package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"fsward/hostd/guard"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

const (
	maxCheck = time.Second // for the largest commit
	// slope of the logarithm of the time over that of the records; 1: each record takes the same time
	maxSlope = 1.05
	replays  = 5 // of each commit; the fastest counts
)

// growth measures the time of a commit for commits of more and more new files. It omits the first
// commit of a mount, which marks the superblock: the guard cannot forecast it. It records each
// commit and replays it. During the replay only the check runs, and the guest does not wait between
// the flush and the commit write.
func (b *bench) growth(ctx context.Context, largest int) error {
	fmt.Printf("%s: one commit of new files. held: during the load, from the commit write to"+
		" the verdict.\nchecked: during a replay, from the flush to the verdict."+
		" all CPU: processor time of the replay, with the loading of rules and log.\n", b.fs)
	fmt.Printf("%10s %10s %8s %12s %12s %12s %12s\n", "files", "records", "commits", "held", "checked",
		"all CPU", "ns/record")
	var records, took []float64
	var last point
	// about 30 records a file: from a thousand to more than a million
	for files := min(35, largest); ; files = min(files*10, largest) {
		p, err := b.point(ctx, files)
		if err != nil {
			return err
		}
		last = p
		fmt.Printf("%10d %10d %8d %12s %12s %12s %12.0f\n", files, p.records, p.commits, round(p.held),
			round(p.checked), round(p.cpu), float64(p.checked)/float64(p.records))
		records = append(records, math.Log(float64(p.records)))
		took = append(took, math.Log(float64(p.checked)))
		if files == largest {
			break
		}
	}
	fmt.Println()
	b.aims.time(fmt.Sprintf("a commit of %d new files, held until its verdict", largest), last.held,
		maxCheck)
	b.aims.time(fmt.Sprintf("a commit of %d new files, from the flush to the verdict, replayed",
		largest), last.checked, maxCheck)
	if len(took) > 1 {
		b.aims.ratio(fmt.Sprintf("slope of time over records, from %.0f to %.0f", math.Exp(records[0]),
			math.Exp(records[len(records)-1])), slope(records, took), maxSlope)
	}
	return nil
}

// A point is the measurement of one set of new files. If the kernel splits the files into several
// commits, the times are their sums.
type point struct {
	records, commits   int
	held, checked, cpu time.Duration
}

// point measures a commit of new files.
func (b *bench) point(ctx context.Context, files int) (point, error) {
	log := filepath.Join(b.dir, "log")
	defer os.Remove(log)
	defer os.Remove(log + ".base")
	run, err := b.do(ctx, job{
		first:   "touch first; sync -f .; ",
		load:    fmt.Sprintf("-fill %d", files),
		size:    8 << 30,
		checked: true,
		record:  log,
	})
	if err != nil {
		return point{}, err
	}
	p := point{}
	commits := run.commits
	if len(commits) < 2 {
		return point{}, errors.New("no second commit, which would have the new files")
	}
	for _, c := range commits[1:] {
		p.records += c.records
		p.held += c.held
	}
	p.commits = len(commits) - 1
	for i := range replays {
		checked, cpu, err := b.replay(ctx, log)
		if err != nil {
			return point{}, err
		}
		if i == 0 || checked < p.checked {
			p.checked = checked
		}
		if i == 0 || cpu < p.cpu {
			p.cpu = cpu
		}
	}
	return p, nil
}

// replay replays a log. It returns the sum of the times of its commits but the first, each from the
// flush to the verdict, and the processor time of the whole replay.
func (b *bench) replay(ctx context.Context, log string) (checked, cpu time.Duration, err error) {
	s := &recorder{}
	before := usage().cpu
	_, err = offline.Replay(ctx, offline.ReplayConfig{
		Disks: []offline.ReplayDisk{{Base: log + ".base", Log: log}},
		FS:    detect.Auto,
		Sinks: []guard.Sink{s},
	}, b.log)
	cpu = usage().cpu - before
	if err == nil {
		err = s.err()
	}
	if err != nil {
		return 0, 0, err
	}
	for _, c := range s.commits[1:] {
		checked += c.early + c.held
	}
	return checked, cpu, nil
}

// slope returns the slope of the least-squares line through points.
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(x))
	for i := range x {
		sx, sy = sx+x[i], sy+y[i]
		sxx, sxy = sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
