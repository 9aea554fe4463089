package campaign

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/renameio/v2"
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
	findings map[string]*Finding // by folder
	counts   map[string]uint64   // trials that showed a finding, by its folder, which may be missing
	renamed  map[string]string   // folders of findings whose group has changed, and the new ones
	done     map[uint64]bool     // damages after progress.Next that were tried
}

// saved is the text of a state. The folders of findings have the rest.
type saved struct {
	Progress
	Seen  []uint64          `json:"seen"`  // hashes of paths
	Found map[string]uint64 `json:"found"` // count by folder
	Done  []uint64          `json:"done"`  // damages after Next that were tried
}

func newState() *state {
	return &state{paths: map[uint64]struct{}{}, findings: map[string]*Finding{},
		counts: map[string]uint64{}, renamed: map[string]string{}, done: map[uint64]bool{}}
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
	for _, n := range in.Done {
		s.done[n] = true
	}
	if in.Found != nil {
		s.counts = in.Found
	}
	list, err := LoadFindings(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		s.findings[f.Dir] = f
		f.Count = max(s.counts[f.Dir], 1)
	}
	s.progress.Findings = len(s.findings)
	return s, nil
}

// A damageCount counts the trials of one damage. They count for the campaign when all have ended,
// so that a campaign that is killed and resumed counts each damage once.
type damageCount struct {
	runs, states, failures uint64
	cpu                    time.Duration
	paths                  []uint64 // of first runs
	found                  []string // folders of findings, one for each trial that showed one
}

// add counts a trial, with its path and the crash states that it tried.
func (a *damageCount) add(t *trial, path, states uint64) {
	a.runs += uint64(len(t.runs))
	for _, r := range t.runs {
		a.cpu += r.CPU
	}
	if len(t.failures) > 0 {
		a.failures++
	}
	a.states += states
	a.paths = append(a.paths, path)
}

// finish counts a damage that was tried with all modes. Without a count it was skipped.
func (s *state) finish(n uint64, a *damageCount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a != nil {
		s.progress.Damages++
		s.progress.Runs += a.runs
		s.progress.States += a.states
		s.progress.Failures += a.failures
		s.progress.CPU += a.cpu.Seconds()
		for _, h := range a.paths {
			s.paths[h] = struct{}{}
		}
		s.progress.Paths = len(s.paths)
		for _, dir := range a.found {
			s.counts[s.current(dir)]++
		}
	}
	s.done[n] = true
	for s.done[s.progress.Next] {
		delete(s.done, s.progress.Next)
		s.progress.Next++
	}
}

// isDone reports whether a damage was tried.
func (s *state) isDone(n uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return n < s.progress.Next || s.done[n]
}

// current returns the folder that a finding has now.
func (s *state) current(dir string) string {
	if now, ok := s.renamed[dir]; ok {
		return now
	}
	return dir
}

// claim reports whether a failure is the first of its group, which the caller then completes and
// saves.
func (s *state) claim(f *Finding) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := s.current(f.Dir)
	if s.findings[dir] != nil {
		return false
	}
	f.Count = 1
	s.findings[dir] = f
	s.progress.Findings = len(s.findings)
	return true
}

// regroup keeps a finding by its folder, and not by an earlier one. It returns false if there is
// another finding with that folder, which then counts what this one counted.
func (s *state) regroup(earlier string, f *Finding) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Dir == earlier {
		return true
	}
	delete(s.findings, earlier)
	for from, to := range s.renamed {
		if to == earlier {
			s.renamed[from] = f.Dir
		}
	}
	s.renamed[earlier] = f.Dir
	s.counts[f.Dir] += s.counts[earlier]
	delete(s.counts, earlier)
	isNew := s.findings[f.Dir] == nil
	if isNew {
		s.findings[f.Dir] = f
	}
	s.progress.Findings = len(s.findings)
	return isNew
}

// snapshot returns the progress at a moment.
func (s *state) snapshot(m damages, seconds float64) Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at(m, seconds)
}

func (s *state) at(m damages, seconds float64) Progress {
	p := s.progress
	p.Seconds += seconds
	p.First, p.Count = m.First(), m.Count()
	p.Fields, p.Groups = m.Fields()
	return p
}

// save writes the state at a moment.
func (s *state) save(path string, m damages, seconds float64) error {
	s.mu.Lock()
	out := saved{Progress: s.at(m, seconds), Found: maps.Clone(s.counts),
		Seen: slices.Sorted(maps.Keys(s.paths)), Done: slices.Sorted(maps.Keys(s.done))}
	s.mu.Unlock()
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, append(text, '\n'), 0o644)
}

// savePause is Campaign.saveEvery, but for tests.
const savePause = 5 * time.Second
