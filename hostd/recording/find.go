package recording

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fsward/blocktap/trace"
)

// A Replay says how the logs of a recording are replayed on copies of the bases.
type Replay struct {
	// Before are the logs whose writes have to be made on each base before the replay: an interrupted
	// process may have made a part of them. See Apply.
	Before [][]string
	// Segments are the logs to replay, in order: one for each disk.
	Segments [][]string
}

// Find finds the segments of a recording, given the log and the base of each disk, and checks that
// the bases are at their beginning. A log by itself, of any origin, is one segment.
func Find(logs, bases []string) (Replay, error) {
	out := Replay{Before: make([][]string, len(logs))}
	rings := make([][]int, len(logs))
	ring := false
	for i, log := range logs {
		var err error
		if rings[i], err = segmentsOf(log); err != nil {
			return out, err
		}
		ring = ring || len(rings[i]) > 0 && !slices.Equal(rings[i], []int{0})
	}
	states := make([]*baseState, len(bases))
	for i, base := range bases {
		var err error
		if states[i], err = readState(base); err != nil {
			return out, err
		}
		ring = ring || states[i] != nil && len(rings[i]) > 0
	}
	if !ring {
		out.Segments = [][]string{logs}
		return out, nil
	}
	start, err := startOf(logs, bases, states)
	if err != nil {
		return out, err
	}
	for i, log := range logs {
		if states[i] != nil {
			for n := states[i].Segment; n < start; n++ {
				out.Before[i] = append(out.Before[i], path(log, n))
			}
		}
	}
	return out, out.addSegments(logs, rings, start)
}

// startOf returns the number of the segment with which the replay begins, and checks that bases and
// logs belong together.
func startOf(logs, bases []string, states []*baseState) (start int, err error) {
	for i, s := range states {
		if s == nil {
			continue
		}
		at := s.Segment
		if s.Folding {
			at++
		}
		start = max(start, at)
		id, err := idOf(logs[i])
		if err != nil {
			return 0, err
		}
		if id != s.Recording {
			return 0, fmt.Errorf("%s belongs to the recording %s, and %s to %s", bases[i], s.Recording,
				logs[i], id)
		}
	}
	return start, nil
}

// idOf returns the name of the recording that the last segment of a log belongs to.
func idOf(log string) (string, error) {
	numbers, err := segmentsOf(log)
	if err != nil {
		return "", err
	}
	if len(numbers) == 0 {
		return "", fmt.Errorf("%s: there is no segment of this log", log)
	}
	_, id, err := markOf(path(log, numbers[len(numbers)-1]))
	return id, err
}

// addSegments adds the segments from start on. All must be there, for every disk.
func (out *Replay) addSegments(logs []string, rings [][]int, start int) error {
	last := 0
	for _, numbers := range rings {
		for _, n := range numbers {
			last = max(last, n)
		}
	}
	name := ""
	for n := start; n <= last; n++ {
		var files []string
		for i, log := range logs {
			if !slices.Contains(rings[i], n) {
				return fmt.Errorf("segment %d of %s is missing: the ring has discarded it, or it was removed. "+
					"A replay needs every segment since the base: record with --record-base", n, log)
			}
			number, id, err := markOf(path(log, n))
			if err != nil {
				return err
			}
			if name == "" {
				name = id
			}
			if number != n || id != name {
				return fmt.Errorf("%s is segment %d of the recording %s, want segment %d of %s",
					path(log, n), number, id, n, name)
			}
			files = append(files, path(log, n))
		}
		out.Segments = append(out.Segments, files)
	}
	return nil
}

// markOf returns the number of the segment that a log is, and the name of its recording.
func markOf(log string) (number int, id string, err error) {
	file, err := trace.Open(log)
	if err != nil {
		return 0, "", err
	}
	defer file.Close()
	for range 2 { // the mark of a turn may come first
		e, err := file.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, "", fmt.Errorf("%s: %w", log, err)
		}
		if text, ok := strings.CutPrefix(e.Mark, segmentMark); ok {
			if _, err := fmt.Sscanf(text, "%d %s", &number, &id); err == nil {
				return number, id, nil
			}
		}
	}
	return 0, "", fmt.Errorf("%s: no segment of a recording of fsward", log)
}
