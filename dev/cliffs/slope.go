package main

import (
	"math"
	"strings"
	"time"

	"fsward/dev/cost"
)

const (
	maxSlope = 1.15
	// a slope of less time than this at the largest size is noise
	minCPU = 80 * time.Millisecond
)

// A cliff is a cost that grows faster than its cause.
type cliff struct {
	What  string    // the phase, or the check
	Part  string    // the rule that costs, or the interpretation
	Slope float64   // of the rows of the rule; else of the processor time of all
	Share float64   // of the part in the time at the largest size
	CPU   []float64 // seconds at each size
	Rows  []float64 // that the rule visited; nil if Slope is that of the time
	Work  []float64
}

// cliffs compares samples of one thing at several sizes. floor is the time that an empty phase
// takes.
func cliffs(sizes []int, at []sample, floor time.Duration) (found []cliff) {
	x, cpu := growth(sizes, at), make([]float64, len(at))
	for i, s := range at {
		cpu[i] = max(s.CPU-floor, time.Millisecond).Seconds()
	}
	last := at[len(at)-1]
	one := cliff{What: last.What, CPU: cpu}
	for _, s := range at {
		one.Work = append(one.Work, s.Work)
	}
	total := 0.0
	for _, took := range last.Parts {
		total += took.Seconds()
	}
	for part, visited := range last.Rows {
		rows := make([]float64, len(at))
		for i := range at {
			rows[i] = max(float64(at[i].Rows[part]), 1)
		}
		slope := cost.Slope(x, rows)
		if visited > int64(last.Records) && slope > maxSlope {
			c := one
			c.Part, c.Slope, c.Rows, c.Share = part, slope, rows, last.Parts[part].Seconds()/total
			found = append(found, c)
		}
	}
	if slope := cost.Slope(x, cpu); len(found) == 0 && slope > maxSlope &&
		last.CPU-floor > max(minCPU, floor) {
		one.Slope = slope
		one.Part, one.Share = steepest(x, at, total)
		found = append(found, one)
	}
	return found
}

// growth returns how large each sample is: in operations or in work, whichever grows more. A
// snapshot costs as much as what it shares, and an operation may cause many records.
func growth(sizes []int, at []sample) []float64 {
	x := make([]float64, len(at))
	for i, s := range at {
		x[i] = math.Max(float64(sizes[i])/float64(sizes[0]), s.Work/math.Max(at[0].Work, 1))
	}
	return x
}

// partTimes returns the time of a part in each sample, in seconds.
func partTimes(at []sample, part string) []float64 {
	took := make([]float64, len(at))
	for i, s := range at {
		took[i] = max(s.Parts[part], 100*time.Microsecond).Seconds()
	}
	return took
}

// steepest returns the part that grows most beyond proportion, and its share of the time.
func steepest(x []float64, at []sample, total float64) (part string, share float64) {
	most := 0.0
	for p := range at[0].Parts {
		took := partTimes(at, p)
		last := took[len(took)-1]
		if excess := last - took[0]*x[len(x)-1]/x[0]; excess > most {
			part, share, most = p, last/total, excess
		}
	}
	return part, share
}

// alarms returns the verdicts on sound file systems that are not "holds".
func alarms(samples []sample) string {
	var text []string
	for _, s := range samples {
		if s.Sound && s.Verdict != "holds" {
			text = append(text, s.What+": "+s.Verdict+" "+s.Alarms)
		}
	}
	return strings.Join(text, "; ")
}
