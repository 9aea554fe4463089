// Command repaircover measures how much of a repair program the damages of fsward fsck reach, as
// figures 8 and 9 of SWIFT (EuroSys 2012) do. The program was built with --coverage. Each damaged
// image is repaired in a sandbox, and gcov counts the lines.
//
//	repaircover FS PROGRAM SOURCES COUNT MODES [SUITE]
//
// SOURCES is a folder below which the program's .gcno files are. COUNT damages are tried, spread
// over all of the first ones, each with all MODES of the program that fsward knows for FS. Commas
// separate MODES. With SUITE, the images in that folder are tried instead.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fsward/repair/adapter"
	"fsward/repair/damage"
	"fsward/repair/linux"
	"fsward/repair/sandbox"
	"fsward/repair/testimage"
)

func main() {
	linux.ServeIfInside()
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "repaircover:", err)
		os.Exit(1)
	}
}

// A source lists damages by number.
type source interface {
	First() uint64
	At(n uint64) (*damage.Damage, error)
}

func run(args []string) (err error) {
	if len(args) < 5 {
		return errors.New("usage: repaircover FS PROGRAM SOURCES COUNT MODES [SUITE]")
	}
	name, sources := args[0], args[2]
	count, err := strconv.ParseUint(args[3], 10, 64)
	if err != nil {
		return err
	}
	program, _, err := adapter.Find("", name)
	if err != nil {
		return err
	}
	if err := program.Keep(strings.Split(args[4], ",")); err != nil {
		return err
	}
	base, err := testimage.Build(context.Background(), name, os.TempDir())
	if err != nil {
		return err
	}
	defer base.Close()
	var list source
	if len(args) > 5 {
		list, err = damage.NewSuite(args[5])
	} else {
		list, err = damage.NewModel(base, name)
	}
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fsward-cover-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	box, err := sandbox.Start(sandbox.Config{Folder: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	c := &coverage{fs: name, binary: args[1], program: program, base: base, box: box, dir: dir}
	tried := 0
	count = min(count, list.First())
	for i := range count {
		switch d, err := list.At(i * list.First() / count); {
		case errors.Is(err, damage.ErrNone):
		case err != nil:
			return err
		default:
			if err := c.repair(d); err != nil {
				return err
			}
			tried++
		}
	}
	fmt.Printf("%d damages\n", tried)
	return c.count(sources)
}

// coverage collects what runs of a program reach, below a folder.
type coverage struct {
	fs      string
	binary  string // the program that was built to count
	program *adapter.Program
	base    *testimage.Image
	box     *sandbox.Box
	dir     string
}

// image is the name of the damaged image in the folder, and counters that of gcov's counts.
const (
	image    = "disk.img"
	counters = "gcda"
)

// maxImage bounds the images of a suite, in bytes.
const maxImage = 256 << 20

// repair damages the image and repairs it in each mode. What the program says does not matter.
func (c *coverage) repair(d *damage.Damage) (err error) {
	base := c.base
	if d.Image != "" {
		if base, err = testimage.Unpack(context.Background(), d.Image, c.fs, os.TempDir()); err != nil {
			return nil // no image
		}
		defer base.Close()
		if base.Size() > maxImage {
			return nil
		}
	}
	for i := range c.program.Repairs {
		if err := c.write(base, d); err != nil {
			return err
		}
		argv := c.program.Repairs[i].Argv(filepath.Join(sandbox.Work, image), "")
		argv[0] = c.binary
		_, err := c.box.Run(sandbox.Command{Time: 20 * time.Second, OutputBytes: 1 << 20, Argv: argv,
			Input: c.program.Input,
			Env:   append(c.program.Env(), "GCOV_PREFIX="+filepath.Join(sandbox.Work, counters))})
		if err != nil {
			return err
		}
	}
	return nil
}

// write writes the damaged image.
func (c *coverage) write(base *testimage.Image, d *damage.Damage) error {
	f, err := os.Create(filepath.Join(c.dir, image))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := base.CopyTo(f); err != nil {
		return err
	}
	for _, p := range d.Patches {
		if _, err := f.WriteAt(p.Data, int64(p.Off)); err != nil {
			return err
		}
	}
	return nil
}

// A sum counts lines.
type sum struct{ lines, reached float64 }

func (s *sum) add(lines, percent float64) {
	s.lines += lines
	s.reached += lines * percent / 100
}

func (s *sum) print(name string) {
	fmt.Printf("%-32s %5.1f%% of %5.0f lines\n", name, 100*s.reached/s.lines, s.lines)
}

// count runs gcov on each file of the program's sources, and prints the sums by folder.
func (c *coverage) count(sources string) error {
	names, err := notes(sources)
	if err != nil {
		return err
	}
	var all sum
	folders := map[string]*sum{}
	for _, gcno := range names {
		lines, percent, err := c.countFile(gcno)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(sources, filepath.Dir(gcno))
		if err != nil {
			return err
		}
		if folders[folder] == nil {
			folders[folder] = &sum{}
		}
		one := &sum{}
		for _, s := range []*sum{&all, folders[folder], one} {
			s.add(lines, percent)
		}
		if lines > 0 {
			one.print(filepath.Join(folder, strings.TrimSuffix(filepath.Base(gcno), notesSuffix)))
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		folders[folder].print("folder " + folder)
	}
	all.print("all")
	return nil
}

// notesSuffix is that of gcc's notes for gcov.
const notesSuffix = ".gcno"

// notes lists the notes below a folder.
func notes(sources string) (names []string, err error) {
	err = filepath.WalkDir(sources, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, notesSuffix) {
			names = append(names, path)
		}
		return err
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s has no %s files", sources, notesSuffix)
	}
	return names, err
}

// executed matches gcov's summary of a file.
var executed = regexp.MustCompile(`File '([^'\n]*)'\nLines executed:([0-9.]+)% of ([0-9]+)`)

// countFile runs gcov on the counts of a file, and returns its lines without those of headers. A
// file that no run reached has no counts, and 0%.
func (c *coverage) countFile(gcno string) (lines, percent float64, err error) {
	if gcno, err = filepath.Abs(gcno); err != nil {
		return 0, 0, err
	}
	name := strings.TrimSuffix(filepath.Base(gcno), notesSuffix)
	folder := filepath.Join(c.dir, counters, filepath.Dir(gcno))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return 0, 0, err
	}
	text, err := os.ReadFile(gcno)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+notesSuffix), text, 0o600)
	}
	if err != nil {
		return 0, 0, err
	}
	out, err := exec.Command("gcov", "-n", "-o", folder, name+".gcda").Output()
	if err != nil {
		return 0, 0, fmt.Errorf("gcov of %s: %w", gcno, err)
	}
	for _, m := range executed.FindAllSubmatch(out, -1) {
		if filepath.Base(string(m[1])) != name+".c" {
			continue
		}
		if percent, err = strconv.ParseFloat(string(m[2]), 64); err == nil {
			lines, err = strconv.ParseFloat(string(m[3]), 64)
		}
		return lines, percent, err
	}
	return 0, 0, nil // a file without lines
}
