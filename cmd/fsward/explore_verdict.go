package main

import (
	"fmt"
	"strings"

	"fsward/change"
	"fsward/explore"
)

// exploredVerdict returns the verdict of a run, and the reason if it is undecided.
func exploredVerdict(sum *explore.Summary) (verdict change.Outcome, reason string) {
	if sum.Broken() > 0 {
		return change.Violated, ""
	}
	if reason = sum.Unexamined(); reason != "" {
		return change.Undecided, reason
	}
	return change.Holds, ""
}

// An exchanged is the result of the runs of a stack with each value of a parameter.
type exchanged struct {
	Event     string   `json:"event"`
	Parameter string   `json:"parameter"`
	Found     []string `json:"found"`     // values with which errors were found
	Silent    []string `json:"silent"`    // values with which none was
	Undecided []string `json:"undecided"` // values with which nothing was examined
	Text      string   `json:"text"`
}

// add adds the verdict of the run with a value.
func (e *exchanged) add(value string, verdict change.Outcome) {
	switch verdict {
	case change.Violated:
		e.Found = append(e.Found, value)
	case change.Holds:
		e.Silent = append(e.Silent, value)
	default:
		e.Undecided = append(e.Undecided, value)
	}
}

// verdict returns the verdict of all runs.
func (e *exchanged) verdict() change.Outcome {
	switch {
	case len(e.Found) > 0:
		return change.Violated
	case len(e.Undecided) > 0:
		return change.Undecided
	}
	return change.Holds
}

// with returns values as a text, such as "cache=none or cache=writeback".
func (e *exchanged) with(values []string) string {
	var out []string
	for _, v := range values {
		out = append(out, e.Parameter+"="+v)
	}
	return alternatives(out)
}

// blame says what it means that errors were found with some values of the parameter.
func (e *exchanged) blame() string {
	var text string
	switch {
	case len(e.Found) == 0 && len(e.Silent) == 0:
		return "no run has examined anything, with any value of " + e.Parameter
	case len(e.Found) == 0:
		text = "no error was found with " + e.with(e.Silent)
	case len(e.Silent) == 0:
		text = fmt.Sprintf("errors were found with each of %s: the cause is in another layer, or in "+
			"all of them", strings.ReplaceAll(e.with(e.Found), " or ", " and "))
	default:
		text = fmt.Sprintf("errors were found with %s, and no error with %s: the cause is in what %s "+
			"selects, or in what the layers above expect of it", e.with(e.Found), e.with(e.Silent),
			e.Parameter)
	}
	if len(e.Undecided) > 0 {
		text += "; nothing was examined with " + e.with(e.Undecided)
	}
	return text
}
