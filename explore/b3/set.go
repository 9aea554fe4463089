package b3

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Version is the version of the generator: of the order of workloads, and of Complete. It is a part
// of Set.Version.
const Version = 2

// A Set is a set of workloads: all sequences of operations that a file of the user describes.
type Set struct {
	Name string `yaml:"-" json:"-"`

	// Length is the number of operations of a workload, without those that make it persistent.
	Length int `yaml:"length"`
	// First and Second are the names of files. creat, write and the like take names of the first
	// list only, because the second list has the same role: that halves symmetrical workloads.
	First  []string `yaml:"first"`
	Second []string `yaml:"second"`
	// Directories and SecondDirectories are the names of directories.
	Directories       []string `yaml:"directories"`
	SecondDirectories []string `yaml:"second_directories"`

	Operations []Operation `yaml:"operations"`

	// Persist names what fsync is called on after an operation: the names that the workload uses
	// ("used"), or also their siblings and parents ("related").
	Persist Persistence `yaml:"persist"`
	// Alone lists operations that are persistence points of their own, and are not followed by
	// another one. Without it, fdatasync and mmapwrite are followed by one as all operations are.
	Alone []string `yaml:"alone"`

	// NotOnly lists operations of which alone no workload consists: another set has these.
	NotOnly []string `yaml:"not_only"`
	// Appends leaves only workloads whose first operation has the range append, and not all do.
	Appends bool `yaml:"appends"`
	// Reuse leaves only workloads whose operations belong together: each operation after the first
	// uses a name that an earlier one used, or is on directories, or all operations before it are on
	// the same two directories.
	Reuse bool `yaml:"reuse"`

	version string
	counter *counter
}

// Persistence says on which names fsync is called.
type Persistence string

// The kinds of Persistence.
const (
	Used    Persistence = "used"
	Related Persistence = "related"
)

// An Operation is an operation of a set, with the parameters that it takes.
type Operation struct {
	Op     string   `yaml:"op"`
	Ranges []Where  `yaml:"ranges"` // of falloc, write, dwrite, mmapwrite
	Modes  []Mode   `yaml:"modes"`  // of falloc
	Sizes  []uint64 `yaml:"sizes"`  // of truncate, bytes
	// Flags are those of chattr, each the letters that a file has at once.
	Flags []string `yaml:"flags" json:",omitempty"`
	// Names selects the files that the operation takes: those of the first list ("first") or of both
	// ("both"). unlink, remove, link, rename and symlink take both; the others the first.
	Names string `yaml:"names"`
	// To selects the new names of link, rename and symlink, in the same way or by "second", which is
	// the default.
	To string `yaml:"to"`
}

//go:embed sets/*.yaml
var sets embed.FS

// Names returns the names of the sets that fsward has.
func Names() (names []string) {
	for _, size := range []string{"1", "2", "3-data", "3-metadata", "3-nested"} {
		names = append(names, "seq-"+size)
	}
	return append(names, "subvolumes")
}

// Load returns a set: one with a name that Names returns, or one from a file.
func Load(name string) (*Set, error) {
	var text []byte
	var err error
	if slices.Contains(Names(), name) {
		text, err = sets.ReadFile(path.Join("sets", name+".yaml"))
	} else {
		text, err = os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(name, "/.") {
			err = fmt.Errorf("there is no set %q: want one of %s, or a file", name,
				strings.Join(Names(), ", "))
		}
	}
	if err != nil {
		return nil, err
	}
	return DecodeNamed(name, text)
}

// DecodeNamed reads a set from the YAML of a file, after which it is named.
func DecodeNamed(name string, text []byte) (*Set, error) {
	s, err := Decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.Name = strings.TrimSuffix(path.Base(name), ".yaml")
	return s, nil
}

// Decode reads a set from YAML.
func Decode(text []byte) (*Set, error) {
	s := new(Set)
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(s); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the file is empty")
		}
		return nil, plain(err)
	}
	if s.Persist == "" {
		s.Persist = Used
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	var err error
	if s.version, err = s.hash(); err != nil {
		return nil, err
	}
	s.counter, err = newCounter(s)
	var wrong *operationError
	if errors.As(err, &wrong) {
		err = fmt.Errorf("%s%w", placeOf(text, wrong.index), err)
	}
	return s, err
}

// Bounds of a set.
const (
	maxLength = 16
	maxNames  = 48 // with the root, and with siblings and parents
	maxParams = 1 << 12
)

// check returns an error for a set that has no meaning.
func (s *Set) check() error {
	if s.Length < 1 || s.Length > maxLength {
		return fmt.Errorf("length is %d: want 1 to %d", s.Length, maxLength)
	}
	if s.Persist != Used && s.Persist != Related {
		return fmt.Errorf("persist is %q: want used or related", s.Persist)
	}
	if len(s.Operations) == 0 {
		return errors.New("operations is empty")
	}
	if err := s.checkNames(); err != nil {
		return err
	}
	ops := make(map[string]bool)
	for _, o := range s.Operations {
		if ops[o.Op] {
			return fmt.Errorf("operations has %s twice", o.Op)
		}
		ops[o.Op] = true
	}
	for key, list := range map[string][]string{"alone": s.Alone, "not_only": s.NotOnly} {
		for _, name := range list {
			if !ops[name] {
				return fmt.Errorf("%s: the set has no operation %q", key, name)
			}
		}
	}
	for _, name := range s.Alone {
		if verb, _ := verbOf(name); !verb.Persists() {
			return fmt.Errorf("alone: %s makes nothing persistent", name)
		}
	}
	return nil
}

// checkNames checks the lists of names: each is a path, is there once, and is either a file or a
// directory.
func (s *Set) checkNames() error {
	seen := make(map[string]bool)
	files := make(map[string]bool)
	for i, list := range [][]string{s.First, s.Second, s.Directories, s.SecondDirectories} {
		for _, name := range list {
			if err := checkName(name); err != nil {
				return fmt.Errorf("name %q: want %w", name, err)
			}
			if seen[name] {
				return fmt.Errorf("name %q is there twice", name)
			}
			if files[name] = i < 2; files[name] == IsDirectory(name) {
				return fmt.Errorf(
					"name %q: want names of directories, and only these, with a capital letter", name)
			}
			seen[name] = true
		}
	}
	for name := range seen {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if files[dir] {
				return fmt.Errorf("%q is a file, and %q is below it", dir, name)
			}
		}
	}
	if len(seen) == 0 || len(seen) > maxNames {
		return fmt.Errorf("%d names: want 1 to %d", len(seen), maxNames)
	}
	return nil
}

// Version returns a hash of the generator's version and of the set. Ranks have the same meaning if
// it is the same.
func (s *Set) Version() string { return s.version }

// hash computes the version of the set.
func (s *Set) hash() (string, error) {
	text, err := json.Marshal(s)
	sum := sha256.Sum256(fmt.Appendf(nil, "b3 %d %s", Version, text))
	return hex.EncodeToString(sum[:8]), err
}
