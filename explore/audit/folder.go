package audit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/klauspost/compress/zstd"

	"fsward/explore/crash"
)

// A Record is what the folder of a finding has in its finding.json: the finding, and what forms its
// crash state again.
type Record struct {
	Finding
	Base     string        `json:"base"`            // absolute path
	Asked    string        `json:"fs_asked"`        // Config.FS
	Only     string        `json:"only,omitempty"`  // Config.Volume
	RulesDir string        `json:"rules,omitempty"` // absolute path
	Logs     []string      `json:"logs"`            // absolute paths
	Crash    crash.Options `json:"crash"`
	AddRules []string      `json:"add_rules,omitempty"`
	Script   string        `json:"script,omitempty"` // absolute path of the script of --check
}

// Names of the files in the folder of a finding.
const (
	recordName = "finding.json"
	textName   = "what.txt"
	imageName  = "disk.crash.zst"
)

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Write makes a folder in dir for a finding, with the crash state, and returns its path. n is the
// number of the finding, from 1.
func (r *Record) Write(dir string, n int, s *crash.State) (string, error) {
	kind := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(r.Kind), "-"), "-")
	dir = filepath.Join(dir, fmt.Sprintf("%03d-%s", n, kind[:min(len(kind), 40)]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", err
	}
	return dir, errors.Join(os.WriteFile(filepath.Join(dir, recordName), append(text, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, textName), []byte(r.text(dir)), 0o644),
		writeImage(filepath.Join(dir, imageName), s))
}

// text returns the text of what.txt.
func (r *Record) text(dir string) string {
	var b strings.Builder
	if r.Volume != "" {
		fmt.Fprintf(&b, "volume %s: ", r.Volume)
	}
	fmt.Fprintf(&b, "%s\n\n%s\n\nThe crash: after entry %d of %s", r.Kind, r.Text, r.After.Entry,
		r.After.Log)
	if r.Mark != "" {
		fmt.Fprintf(&b, ", after the mark %q", r.Mark)
	}
	b.WriteString(".\n")
	if len(r.Missing) == 0 {
		b.WriteString("Every write before it is on the disk.\n")
	} else {
		b.WriteString("These writes were not durable yet, and are not on the disk:\n")
		for _, p := range r.Missing {
			fmt.Fprintf(&b, "  entry %d of %s\n", p.Entry, p.Log)
		}
	}
	fmt.Fprintf(&b, "\nShow it again:\n  fsward explore log --replay %s\nThe disk after the crash:\n"+
		"  zstd -d %s/%s\n", dir, dir, imageName)
	return b.String()
}

// ReadRecord reads the finding.json in the folder of a finding.
func ReadRecord(dir string) (r Record, err error) {
	path := filepath.Join(dir, recordName)
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	r.Asked = cmp.Or(r.Asked, r.FS)
	return r, nil
}

// writeImage writes the contents of a crash state, compressed by zstd.
func writeImage(path string, s *crash.State) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := zstd.NewWriter(f)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, io.NewSectionReader(s, 0, int64(s.Size())))
	return errors.Join(err, w.Close())
}

// Absolute makes all paths absolute.
func (r *Record) Absolute() (err error) {
	paths := []*string{&r.Base, &r.Script, &r.RulesDir}
	for i := range r.Logs {
		paths = append(paths, &r.Logs[i])
	}
	for i := range r.AddRules {
		paths = append(paths, &r.AddRules[i])
	}
	for _, p := range paths {
		if *p == "" {
			continue
		}
		if *p, err = filepath.Abs(*p); err != nil {
			return err
		}
	}
	return nil
}
