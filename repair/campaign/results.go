package campaign

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"fsward/repair/paths"
)

// Results are what a campaign found so far.
type Results struct {
	Config
	Version  string // what the program says of its version; "" if nothing was found
	Progress Progress
	Findings []*Finding
	Search   *paths.Found // for paths; nil if there was none
}

// Path returns the path of the finding's folder.
func (f *Finding) Path() string { return f.path }

// Sentence says what a kind of failure means.
func Sentence(kind string) string { return sentences[kind] }

// LoadResults reads the folder of a campaign.
func LoadResults(dir string) (*Results, error) {
	r := &Results{}
	text, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &r.Config); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, configFile), err)
	}
	if err := loadJSON(dir, pathsFile, &r.Search); err != nil {
		return nil, err
	}
	s, err := loadState(dir)
	if err != nil {
		return nil, err
	}
	r.Progress = s.progress
	if r.Findings, err = LoadFindings(dir); err != nil {
		return nil, err
	}
	for _, f := range r.Findings {
		if of := s.findings[f.Dir]; of != nil {
			f.Count = of.Count
		}
		r.Version, r.Program = f.Version, f.Program
	}
	return r, nil
}
