package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A File is a file of the submitter that workers need, such as a set of workloads. A campaign
// carries it, and the value of a flag is its name.
type File struct {
	Name string `json:"name"` // filePrefix and a hash of Text
	Text string `json:"text"`
}

// filePrefix begins the names of files.
const filePrefix = "file-"

// maxCarried bounds the files of a campaign, in bytes. Their definition is one message.
const maxCarried = 32 << 10

// NewFile returns a file with a text.
func NewFile(text string) File { return File{filePrefix + shortHash(text), text} }

// check returns an error for a file that no submitter makes.
func (f *File) check() error {
	if f.Name != filePrefix+shortHash(f.Text) {
		return fmt.Errorf("the file %.40q has the hash %s", f.Name, shortHash(f.Text))
	}
	if !utf8.ValidString(f.Text) {
		return fmt.Errorf("%s is not UTF-8", f.Name)
	}
	for _, r := range f.Text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return fmt.Errorf("%s has the character %U", f.Name, r)
		}
	}
	return nil
}

// TakesFile reports whether the value of a flag may be a file that the campaign carries.
func (k *Kind) TakesFile(flag string) bool { return slices.Contains(k.files, flag) }

// checkFiles returns an error unless the files of a campaign are those that its flags name.
func (d *Definition) checkFiles(k *Kind) error {
	named := make(map[string]bool)
	for _, f := range d.Flags {
		if k.TakesFile(f.Name) && strings.HasPrefix(f.Value, filePrefix) {
			named[f.Value] = true
		}
	}
	total := 0
	for _, f := range d.Files {
		if total += len(f.Text); total > maxCarried {
			return fmt.Errorf("the files have more than %d bytes", maxCarried)
		}
		if err := f.check(); err != nil {
			return err
		}
		if !named[f.Name] {
			return fmt.Errorf("no flag names %s", f.Name)
		}
		delete(named, f.Name)
	}
	if len(named) > 0 {
		return errors.New("a file is missing that a flag names")
	}
	return nil
}

// Carry replaces the path that a flag has by the file, which the campaign carries from then on. It
// does nothing where the flag's value is a name.
func (d *Definition) Carry(flag int) error {
	f := &d.Flags[flag]
	if !strings.ContainsAny(f.Value, "/.") {
		return nil
	}
	text, err := os.ReadFile(f.Value)
	if err != nil {
		return err
	}
	one := NewFile(string(text))
	f.Value = one.Name
	d.Files = append(d.Files, one)
	return nil
}

// WriteFiles writes the files of a campaign to a folder, for Args.
func (d *Definition) WriteFiles(dir string) error {
	for _, f := range d.Files {
		if err := os.WriteFile(filePath(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func filePath(dir, name string) string { return filepath.Join(dir, name+".yaml") }

// onDisk returns a flag whose value is the path of a file, if the campaign carries it.
func (d *Definition) onDisk(f Flag, dir string) Flag {
	if slices.ContainsFunc(d.Files, func(file File) bool { return file.Name == f.Value }) {
		f.Value = filePath(dir, f.Value)
	}
	return f
}
