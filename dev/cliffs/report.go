package main

import (
	"fmt"
	"strings"
)

// String returns a line about a cliff.
func (c cliff) String() string {
	var times []string
	for i := range c.CPU {
		rows := ""
		if c.Rows != nil {
			rows = fmt.Sprintf(" and %.0f rows", c.Rows[i])
		}
		times = append(times, fmt.Sprintf("%.3f s%s for %.0f", c.CPU[i], rows, c.Work[i]))
	}
	return fmt.Sprintf("%s: slope %.2f, %s (%.0f %% of the time): %s", c.What, c.Slope, c.Part,
		100*c.Share, strings.Join(times, ", "))
}

// String returns a line about a finding.
func (f finding) String() string {
	if f.CPU == nil {
		return fmt.Sprintf("%s: %s [%s]", f.m, f.What, f.folder)
	}
	return fmt.Sprintf("%s: %s; most in %s [%s]", f.m, f.cliff, f.function, f.folder)
}

// summary returns the records and the time of each phase at the largest size.
func summary(at [][]sample) string {
	var words []string
	for _, s := range at[len(at)-1] {
		words = append(words, fmt.Sprintf("%s %d records %.3f s", s.What, s.Records, s.CPU.Seconds()))
	}
	return strings.Join(words, ", ")
}

// candidates returns what is to be measured again.
func candidates(found []cliff) string {
	text := ""
	for _, c := range found {
		text += fmt.Sprintf("; candidate: %s %s %.2f", c.What, c.Part, c.Slope)
	}
	return text
}

// table prints what was found, a row each.
func (s *search) table() {
	for _, f := range s.found {
		part, slope := f.Part, fmt.Sprintf("%.2f", f.Slope)
		if f.CPU == nil {
			part, slope = f.What, "-"
		}
		fmt.Fprintf(s.out, "| %s | %s | %s | %s | %s |\n", f.m, f.What, slope, part, f.function)
	}
}
