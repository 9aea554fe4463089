package campaign

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/cespare/xxhash/v2"
	"github.com/google/renameio/v2"

	"fsward/interp"
	"fsward/repair/adapter"
	"fsward/repair/testimage"
)

// Names of the files of a finding.
const (
	findingFile = "finding.json"
	baseFile    = "base.img.zst"
	adapterFile = "program.yaml"
	whatFile    = "what.txt"
)

// A Finding is a group of failures with the same cause, as far as messages tell, and one damage
// that shows it.
type Finding struct {
	Schema  int      `json:"schema"`
	Program string   `json:"program"`
	Version string   `json:"version"`
	FS      string   `json:"fs"`
	Repair  string   `json:"repair"` // mode of the first run
	Group   string   `json:"group"`  // of the damaged field
	Damage  string   `json:"damage"`
	Spec    string   `json:"spec"`
	Checks  []string `json:"checks"`
	Patches []Patch  `json:"patches"`
	Failure
	Runs []*Run `json:"runs"`
	// Files are those that differ between the image before the damage and after the repair.
	Files []string `json:"files,omitempty"`
	// Count is the number of damages of the group, as far as the campaign went.
	Count uint64 `json:"count"`
	// Minimized reports that no byte of the damage can be left out.
	Minimized bool   `json:"minimized"`
	Tally            // when it was found
	Dir       string `json:"dir"` // name of the folder
	path      string // of the folder, once it was loaded
}

// A Patch is a range of the image that the damage changes.
type Patch struct {
	Off uint64 `json:"off"`
	Old string `json:"old"` // hexadecimal
	New string `json:"new"`
}

// key returns the text that findings of a group have in common.
func (f *Finding) key() string {
	return strings.Join(append([]string{f.Program, f.FS, f.Repair, f.Group, f.Kind},
		f.Messages...), "\n")
}

// folder returns the name of the finding's folder.
func (f *Finding) folder() string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(f.Kind+"-"+f.Group))
	return fmt.Sprintf("%s-%08x", safe[:min(len(safe), 60)], uint32(xxhash.Sum64String(f.key())))
}

// hexPatches returns patches with the bytes that they replace.
func hexPatches(base interp.Disk, patches []interp.Patch) (list []Patch, err error) {
	for _, p := range patches {
		old := make([]byte, len(p.Data))
		if _, err := base.ReadAt(old, int64(p.Off)); err != nil {
			return nil, err
		}
		list = append(list, Patch{p.Off, hex.EncodeToString(old), hex.EncodeToString(p.Data)})
	}
	return list, nil
}

// bytes decodes the patches of a finding. It returns an error if they do not fit the image.
func (f *Finding) bytes(base interp.Disk) (list []interp.Patch, err error) {
	for _, p := range f.Patches {
		data, err := hex.DecodeString(p.New)
		if err != nil {
			return nil, err
		}
		if p.Off > base.Size() || uint64(len(data)) > base.Size()-p.Off {
			return nil, fmt.Errorf("a patch of %d bytes at %d of an image of %d", len(data), p.Off,
				base.Size())
		}
		list = append(list, interp.Patch{Off: p.Off, Data: data})
	}
	return list, nil
}

// save writes the folder of a finding below dir.
func (f *Finding) save(dir string, base *testimage.Image, program []byte) error {
	path := filepath.Join(dir, f.Dir)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	err := base.Save(filepath.Join(path, baseFile))
	if errors.Is(err, os.ErrExist) { // saved earlier, or by a run that ended before finding.json
		err = nil
	}
	if err != nil {
		return err
	}
	for i, r := range f.Runs {
		name := filepath.Join(path, "run"+strconv.Itoa(i+1)+".txt")
		if err := os.WriteFile(name, r.Output, 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(path, adapterFile), program, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(path, whatFile), []byte(f.what()), 0o644); err != nil {
		return err
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(path, findingFile), append(text, '\n'), 0o644)
}

// maxFinding bounds a file of a finding, in bytes.
const maxFinding = 64 << 20

// LoadFinding reads the folder of a finding, with the outputs of its runs.
func LoadFinding(dir string) (*Finding, error) {
	text, err := readBounded(filepath.Join(dir, findingFile))
	if err != nil {
		return nil, err
	}
	f := &Finding{}
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, findingFile), err)
	}
	for i, r := range f.Runs {
		if r == nil {
			return nil, fmt.Errorf("%s: run %d is missing", dir, i+1)
		}
		r.Output, err = readBounded(filepath.Join(dir, "run"+strconv.Itoa(i+1)+".txt"))
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// LoadFindings reads the findings in the folder of a campaign, in the order of their names. What
// they count is in the campaign's progress.
func LoadFindings(dir string) (list []*Finding, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		f, err := LoadFinding(filepath.Join(dir, e.Name()))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue // no finding, or one that was not finished
		}
		if err != nil {
			return nil, err
		}
		f.Dir, f.path = e.Name(), filepath.Join(dir, e.Name())
		list = append(list, f)
	}
	return list, nil
}

func readBounded(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.Size() > maxFinding {
		return nil, fmt.Errorf("%s: %d bytes; at most %d are read", path, st.Size(), maxFinding)
	}
	return os.ReadFile(path)
}

// opened returns the image and the program of a finding.
func (f *Finding) opened(dir, tmp string) (*testimage.Image, *adapter.Program, error) {
	text, err := readBounded(filepath.Join(dir, adapterFile))
	if err != nil {
		return nil, nil, err
	}
	p, err := adapter.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	base, err := testimage.Load(filepath.Join(dir, baseFile), tmp)
	return base, p, err
}
