package explore

import (
	"fmt"
	"slices"
)

// Surprises says how surprises are reported.
type Surprises string

// The ways.
const (
	ReportSurprises   Surprises = "report" // as a class of their own
	SurprisesAreError Surprises = "error"  // as errors
)

// Check returns an error if the way is unknown. "" is valid, and means ReportSurprises.
func (s Surprises) Check() error {
	if s != "" && s != ReportSurprises && s != SurprisesAreError {
		return fmt.Errorf("surprises %q: there are %s and %s", s, ReportSurprises, SurprisesAreError)
	}
	return nil
}

// Repaired is the kind of the surprise that a recovery had to repair something.
const Repaired = "repaired"

// Surprise reports a surprise that a recovered crash state shows. property is as for Failure; "":
// that of the crash. It has no effect outside of recovery and Check.
func (e *Env) Surprise(kind, property, text string) {
	if len(e.surprises) >= maxSurprises {
		return
	}
	e.surprises = append(e.surprises, &Failure{Kind: kind, Property: property, Text: text,
		Surprise: true})
}

// maxSurprises bounds the surprises of one crash state.
const maxSurprises = 16

// orSurprise returns the failure of a recovered crash state, and beside it the surprises; they do
// not count beside a failure. If one of them is an error, it is the failure, and the only surprise.
func (f *Failure) orSurprise(e *Env, property string,
	isError func(kind string) bool) (failure, surprise *Failure) {
	if f != nil {
		return f, nil
	}
	if surprise = surpriseOf(e, property, isError); surprise != nil && !surprise.Surprise {
		failure = surprise
	}
	return failure, surprise
}

// surpriseOf returns the surprises of a recovered crash state as one failure; nil: there is none.
// The first one that isError selects is an error, and returned alone.
func surpriseOf(e *Env, property string, isError func(kind string) bool) *Failure {
	list := slices.Clone(e.surprises)
	for _, f := range list {
		if f.Property == "" {
			f.Property = property
		}
		if isError(f.Kind) {
			f.Surprise = false
			return f
		}
	}
	if len(list) == 0 {
		return nil
	}
	list[0].more = list[1:]
	return list[0]
}

// isError reports whether a surprise of a kind is an error in this run.
func (c *Config) isError(kind string) bool {
	return c.Surprises == SurprisesAreError || c.StrictRecovery && kind == Repaired
}

// noteSurprises keeps the surprises of a crash state that are the first of their kind and property
// in an execution. They do not end it.
func (r *execution) noteSurprises(s *session, bad *badDisk) {
	var copied *crashDisk
	for _, f := range append([]*Failure{bad.Failure}, bad.more...) {
		if slices.ContainsFunc(r.surprises, func(known *failureContext) bool {
			return known.matches(f.Kind, f.Property)
		}) {
			continue
		}
		if copied == nil {
			copied = bad.keep(s)
		}
		one := *f
		one.more = nil
		r.surprises = append(r.surprises, &failureContext{Failure: &one, execution: r, disk: copied})
	}
}
