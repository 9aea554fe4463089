// Package bundle reads the rules of a site: a folder, or a zip file of one. It has rules for each
// file system, tests of them, tables of data that rules ask for, and settings of single rules,
// those of fsward included. Start reading at Open.
package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

const (
	// Format is the version of the format of bundles.
	Format = 1
	// Manifest is the name of the file that describes a bundle.
	Manifest = "bundle.json"
	// dataDir and CasesDir are its folders of tables and of tests.
	dataDir  = "data"
	CasesDir = "cases"

	maxBytes = 16 << 20 // of a zip file
)

// A Bundle is the rules of a site.
type Bundle struct {
	Path          string
	Name, Version string // of the manifest; "" if it has none
	Settings      []Setting
	from          fs.FS
}

// A Setting changes a rule, of the bundle or built in.
type Setting struct {
	Rule string // "ext3/15", "site/uid_drop"
	ruleset.Setting
	Reason string
	Exempt []Object
}

// An Object is named as reports name it. "*" stands for any.
type Object struct{ Tree, ID string }

// manifest is the content of bundle.json.
type manifest struct {
	Format  int                    `json:"format"`
	Name    string                 `json:"name"`
	Version string                 `json:"version"`
	Rules   map[string]settingJSON `json:"rules"`
}

type settingJSON struct {
	Enabled  *bool        `json:"enabled"`
	Severity string       `json:"severity"`
	Exempt   []objectJSON `json:"exempt"`
	Reason   string       `json:"reason"`
}

type objectJSON struct {
	Tree any    `json:"tree"` // a number or a word
	ID   string `json:"id"`
}

// Open reads the manifest of a bundle. A folder need not have one, a zip file must.
func Open(name string) (*Bundle, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Path: name}
	if info.IsDir() {
		b.from = os.DirFS(name)
	} else if b.from, err = openZip(name, info); err != nil {
		return nil, err
	}
	text, err := syntax.ReadText(b.from, Manifest)
	if errors.Is(err, fs.ErrNotExist) && info.IsDir() {
		return b, nil
	}
	if err == nil {
		err = b.read(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(name, Manifest), err)
	}
	return b, nil
}

func openZip(name string, info fs.FileInfo) (fs.FS, error) {
	if info.Size() > maxBytes {
		return nil, fmt.Errorf("%s: a bundle has at most %d bytes", name, maxBytes)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("%s is neither a folder nor a zip file: %w", name, err)
	}
	return z, nil
}

// read reads the manifest.
func (b *Bundle) read(text []byte) error {
	var m manifest
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after the object")
	}
	if m.Format != Format {
		return fmt.Errorf("its format is %d, and this fsward reads format %d", m.Format, Format)
	}
	b.Name, b.Version = m.Name, m.Version
	for rule, s := range m.Rules {
		setting, err := s.setting(rule)
		if err != nil {
			return err
		}
		b.Settings = append(b.Settings, setting)
	}
	return nil
}

// setting checks the entry of a rule.
func (s settingJSON) setting(rule string) (Setting, error) {
	out := Setting{Rule: rule, Reason: s.Reason}
	out.Off = s.Enabled != nil && !*s.Enabled
	if s.Reason == "" {
		return out, fmt.Errorf("%s has no reason: say why it differs", rule)
	}
	if s.Severity != "" {
		var ok bool
		if out.Severity, ok = syntax.Severity(s.Severity); !ok {
			return out, fmt.Errorf("%s has the unknown severity %q; write refuse, pause or log", rule,
				s.Severity)
		}
	}
	for _, o := range s.Exempt {
		tree := fmt.Sprint(o.Tree)
		if o.Tree == nil || o.ID == "" {
			return out, fmt.Errorf("%s: an exempt object has a tree and an id, as reports write them; "+
				"\"*\" stands for any", rule)
		}
		out.Exempt = append(out.Exempt, Object{tree, o.ID})
	}
	return out, nil
}

// String names the bundle with its version.
func (b *Bundle) String() string {
	if b.Name == "" {
		return b.Path
	}
	return fmt.Sprintf("%s %s (%s)", b.Name, b.Version, b.Path)
}

// Rules returns the files with the rules of a file system, and the tables as files of facts. It
// returns nil if there are no rules for the file system.
func (b *Bundle) Rules(fileSystem string) ([]syntax.File, error) {
	files, err := syntax.ReadFiles(b.from, fileSystem, path.Join(b.Path, fileSystem))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(files) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range files {
		files[i].Site = true
	}
	tables, err := b.tables()
	return append(files, tables...), err
}

// Cases returns the folder of tests; nil if there is none.
func (b *Bundle) Cases() fs.FS {
	if info, err := fs.Stat(b.from, CasesDir); err != nil || !info.IsDir() {
		return nil
	}
	sub, err := fs.Sub(b.from, CasesDir)
	if err != nil {
		return nil // not reached: the name is valid
	}
	return sub
}
