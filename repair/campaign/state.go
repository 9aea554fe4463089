package campaign

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Progress counts what a campaign did.
type Progress struct {
	Next     uint64  `json:"next"`         // number of the first damage that was not tried
	Damages  uint64  `json:"damages"`      // tried, each with all modes
	Runs     uint64  `json:"runs"`         // of the program
	States   uint64  `json:"crash_states"` // of interrupted repairs
	Failures uint64  `json:"failures"`     // trials with a failure
	Paths    int     `json:"paths"`        // different messages of first runs
	Findings int     `json:"findings"`     // groups of failures
	Seconds  float64 `json:"seconds"`
	CPU      float64 `json:"cpu_seconds"` // processor time of the program's runs
	// First and Count are the damages that there are: with one value of each field after the other,
	// and with all values of small fields.
	First uint64 `json:"first"`
	Count uint64 `json:"count"`
	// Fields and Groups are those of the image.
	Fields int `json:"fields"`
	Groups int `json:"groups"`
}

// state is what a campaign knows. It is safe for concurrent use.
type state struct {
	mu       sync.Mutex
	progress Progress
	paths    map[uint64]struct{}
	findings map[string]*Finding // by key
	renamed  map[string]string   // keys of findings whose group has changed, and the new ones
	done     map[uint64]bool     // damages after progress.Next that were tried
}

// saved is the text of a state. The folders of findings have the rest.
type saved struct {
	Progress
	Seen  []uint64          `json:"seen"`  // hashes of paths
	Found map[string]uint64 `json:"found"` // count by folder
}

func newState() *state {
	return &state{paths: map[uint64]struct{}{}, findings: map[string]*Finding{},
		renamed: map[string]string{}, done: map[uint64]bool{}}
}

// loadState reads the state in the folder of a campaign, with its findings.
func loadState(dir string) (*state, error) {
	s := newState()
	in := saved{}
	text, err := readBounded(filepath.Join(dir, progressFile))
	if err == nil {
		err = json.Unmarshal(text, &in)
	}
	if err != nil && !os.IsNotExist(err) { // without it, the campaign ended before it wrote one
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, progressFile), err)
	}
	s.progress = in.Progress
	for _, h := range in.Seen {
		s.paths[h] = struct{}{}
	}
	list, err := LoadFindings(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		f.Count = max(in.Found[f.Dir], 1)
		s.findings[f.key()] = f
	}
	s.progress.Findings = len(s.findings)
	return s, nil
}

// tried counts a trial of a mode.
func (s *state) tried(t *trial, path, crashStates uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress.Runs += uint64(len(t.runs))
	for _, r := range t.runs {
		s.progress.CPU += r.CPU.Seconds()
	}
	if len(t.failures) > 0 {
		s.progress.Failures++
	}
	s.progress.States += crashStates
	s.paths[path] = struct{}{}
	s.progress.Paths = len(s.paths)
}

// finish counts a damage that was tried with all modes, or, if skipped, changes nothing.
func (s *state) finish(n uint64, skipped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !skipped {
		s.progress.Damages++
	}
	s.done[n] = true
	for s.done[s.progress.Next] {
		delete(s.done, s.progress.Next)
		s.progress.Next++
	}
}

// claim counts a failure. It reports whether it is the first of its group, which the caller then
// completes and saves.
func (s *state) claim(f *Finding) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := f.key()
	if now, ok := s.renamed[key]; ok {
		key = now
	}
	if have := s.findings[key]; have != nil {
		have.Count++
		return false
	}
	f.Count = 1
	s.findings[key] = f
	s.progress.Findings = len(s.findings)
	return true
}

// regroup keeps a finding by its key, and not by an earlier one. It returns false if there is
// another finding with that key, which then counts what this one counted.
func (s *state) regroup(earlier string, f *Finding) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := f.key()
	if key == earlier {
		return true
	}
	delete(s.findings, earlier)
	s.renamed[earlier] = key
	have := s.findings[key]
	if have != nil {
		have.Count += f.Count
	} else {
		s.findings[key] = f
	}
	s.progress.Findings = len(s.findings)
	return have == nil
}

// snapshot returns the progress at a moment.
func (s *state) snapshot(m damages, seconds float64) Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.progress
	p.Seconds += seconds
	p.First, p.Count = m.First(), m.Count()
	p.Fields, p.Groups = m.Fields()
	return p
}

// save writes the state.
func (s *state) save(path string, p Progress) error {
	s.mu.Lock()
	out := saved{Progress: p, Found: map[string]uint64{}}
	for h := range s.paths {
		out.Seen = append(out.Seen, h)
	}
	for _, f := range s.findings {
		out.Found[f.Dir] = f.Count
	}
	s.mu.Unlock()
	slices.Sort(out.Seen)
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return replaceFile(path, append(text, '\n'))
}

// saveEvery is the time between two saves of the state.
const saveEvery = 5 * time.Second
