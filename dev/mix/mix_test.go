package mix

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestRandomIsDeterministic checks that a seed determines a mixture, that seeds differ, and that
// each operation of a mixture exists on its file system.
func TestRandomIsDeterministic(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		lines, used := make(map[string]bool), make(map[string]bool)
		for seed := range uint64(300) {
			m := Random(fs, seed)
			if !reflect.DeepEqual(m, Random(fs, seed)) {
				t.Fatalf("two mixtures of seed %d differ", seed)
			}
			lines[m.String()] = true
			for _, p := range m.Phases {
				for _, s := range p.Steps {
					used[s.Op] = true
					if o := find(ops, s.Op); o.name == "" || !o.fits(fs) || s.Weight < 1 ||
						s.At != "" && !slices.Contains(o.at, s.At) {
						t.Errorf("seed %d: %+v on %s", seed, s, fs)
					}
				}
				for _, name := range p.Once {
					used[name] = true
					if o := find(onceOps, name); o.name == "" || !o.fits(fs) {
						t.Errorf("seed %d: %s on %s", seed, name, fs)
					}
				}
			}
		}
		if len(lines) < 290 {
			t.Errorf("%s: 300 seeds give %d mixtures", fs, len(lines))
		}
		for _, o := range slices.Concat(ops, onceOps) {
			if o.fits(fs) && !used[o.name] {
				t.Errorf("%s: no mixture of 300 uses %s", fs, o.name)
			}
		}
	}
}

// TestRandomGenerated checks that a directory of any file system can hold a generated mixture.
func TestRandomGenerated(t *testing.T) {
	for seed := range uint64(100) {
		for _, p := range RandomGenerated("btrfs", seed).Phases {
			for _, s := range p.Steps {
				if find(ops, s.Op).fs != "" {
					t.Errorf("seed %d: %s", seed, s.Op)
				}
			}
		}
	}
}

// TestWithout checks that each smaller mixture lacks one part, and that the mixture stays as it is.
func TestWithout(t *testing.T) {
	m := Mixture{FS: "btrfs", Mkfs: []string{"-R", "quota"}, Mount: []string{"nodatacow"},
		Phases: []Phase{{Steps: []Step{{Op: "create", Weight: 1}, {Op: "link", Weight: 2}}},
			{Once: []string{"snapshot"}}}}
	before := m.String()
	var lines []string
	for _, less := range m.Without() {
		lines = append(lines, less.String())
	}
	want := []string{
		"btrfs -R quota nodatacow: snapshot",
		"btrfs -R quota nodatacow: 2 link(); then snapshot",
		"btrfs -R quota nodatacow: 1 create(); then snapshot",
		"btrfs -R quota nodatacow: 1 create() + 2 link()",
		"btrfs -R quota: 1 create() + 2 link(); then snapshot",
		"btrfs nodatacow: 1 create() + 2 link(); then snapshot",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if m.String() != before {
		t.Errorf("the mixture is now %s", m)
	}
}

// TestRunIsDeterministic runs a mixture twice in a directory: the same files are there, and twice
// the size makes about twice as many.
func TestRunIsDeterministic(t *testing.T) {
	m := Mixture{FS: "ext3", Seed: 5, Phases: []Phase{
		{Steps: []Step{{Op: "create", Weight: 4, On: "any"}, {Op: "mkdir", Weight: 2, On: "any"},
			{Op: "link", Weight: 1, On: "few"}, {Op: "nest", Weight: 1, On: "one"}}},
		{Steps: []Step{{Op: "write", Weight: 2, On: "few", At: "random"}, {Op: "rename", Weight: 1,
			On: "any"}, {Op: "truncate", Weight: 1, On: "one", At: "next"}}},
	}}
	names := func(n int) (list []string) {
		dir := t.TempDir()
		for phase := range m.Phases {
			if err := Run(dir, m, phase, n); err != nil {
				t.Fatal(err)
			}
		}
		err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
			if err == nil && !info.IsDir() {
				list = append(list, strings.TrimPrefix(path, dir))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	once := names(300)
	if again := names(300); !slices.Equal(once, again) {
		t.Errorf("%d files, and then %d others", len(once), len(again))
	}
	if twice := names(600); len(twice) < len(once)*3/2 || len(twice) > len(once)*5/2 {
		t.Errorf("%d files at 300, %d at 600", len(once), len(twice))
	}
}

// TestRunFails checks that an unknown operation or phase is an error.
func TestRunFails(t *testing.T) {
	m := Mixture{Phases: []Phase{{Steps: []Step{{Op: "fly", Weight: 1}}}, {Once: []string{"sing"}}}}
	for phase := range 3 {
		if Run(t.TempDir(), m, phase, 1) == nil {
			t.Errorf("phase %d runs", phase)
		}
	}
}
