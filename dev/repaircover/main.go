// Command repaircover measures how much of a repair program the damages of fsward fsck reach, as
// figures 8 and 9 of SWIFT (EuroSys 2012) do. The program was built with --coverage. Each damaged
// image is repaired in a sandbox, and gcov counts the lines.
//
//	repaircover FS PROGRAM SOURCES COUNT [SUITE]
//
// SOURCES is the folder with the program's .gcno files. COUNT damages are tried, spread over all of
// the first ones. With SUITE, the images in that folder are tried instead.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

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
	if len(args) < 4 {
		return errors.New("usage: repaircover FS PROGRAM SOURCES COUNT [SUITE]")
	}
	fs, program, sources := args[0], args[1], args[2]
	count, err := strconv.ParseUint(args[3], 10, 64)
	if err != nil {
		return err
	}
	base, err := testimage.Build(context.Background(), fs, os.TempDir())
	if err != nil {
		return err
	}
	defer base.Close()
	var list source
	if len(args) > 4 {
		list, err = damage.NewSuite(args[4])
	} else {
		list, err = damage.NewModel(base, fs)
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
	c := &coverage{fs: fs, program: program, base: base, box: box, dir: dir}
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
	fs, program string
	base        *testimage.Image
	box         *sandbox.Box
	dir         string
}

// image is the name of the damaged image in the folder, and counters that of gcov's counts.
const (
	image    = "disk.img"
	counters = "gcda"
)

// repair damages the image and repairs it. What the program says does not matter.
func (c *coverage) repair(d *damage.Damage) (err error) {
	base := c.base
	if d.Image != "" {
		if base, err = testimage.Unpack(context.Background(), d.Image, c.fs, os.TempDir()); err != nil {
			return nil // no image
		}
		defer base.Close()
	}
	f, err := os.Create(filepath.Join(c.dir, image))
	if err != nil {
		return err
	}
	if err := base.CopyTo(f); err != nil {
		return err
	}
	for _, p := range d.Patches {
		if _, err := f.WriteAt(p.Data, int64(p.Off)); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	_, err = c.box.Run(sandbox.Command{Time: 20 * time.Second, OutputBytes: 1 << 20,
		Argv: []string{c.program, "-fy", filepath.Join(sandbox.Work, image)},
		Env: []string{"PATH=/usr/sbin:/usr/bin",
			"GCOV_PREFIX=" + filepath.Join(sandbox.Work, counters)}})
	return err
}

// executed matches gcov's summary of a file.
var executed = regexp.MustCompile(`Lines executed:([0-9.]+)% of ([0-9]+)`)

// count runs gcov on each file of the program's sources and prints the sum.
func (c *coverage) count(sources string) error {
	names, err := filepath.Glob(filepath.Join(sources, "*.gcno"))
	if err != nil || len(names) == 0 {
		return fmt.Errorf("%s has no .gcno files: %w", sources, err)
	}
	var lines, reached float64
	for _, gcno := range names {
		name := filepath.Base(gcno[:len(gcno)-len(".gcno")])
		data := filepath.Join(c.dir, counters, gcno[:len(gcno)-len("gcno")]+"gcda")
		cmd := exec.Command("gcov", "-n", "-o", filepath.Dir(data), name+".gcda")
		if err := os.MkdirAll(filepath.Dir(data), 0o755); err != nil {
			return err
		}
		text, err := os.ReadFile(gcno)
		if err == nil {
			err = os.WriteFile(filepath.Join(filepath.Dir(data), name+".gcno"), text, 0o600)
		}
		if err != nil {
			return err
		}
		out, err := cmd.Output() // a file without counts has 0%
		m := executed.FindSubmatch(out)
		if m == nil {
			fmt.Printf("%-20s no lines: %v\n", name, err)
			continue
		}
		percent, _ := strconv.ParseFloat(string(m[1]), 64)
		n, _ := strconv.ParseFloat(string(m[2]), 64)
		fmt.Printf("%-20s %5.1f%% of %5.0f lines\n", name, percent, n)
		lines, reached = lines+n, reached+percent*n/100
	}
	fmt.Printf("%-20s %5.1f%% of %5.0f lines\n", "all", 100*reached/lines, lines)
	return nil
}
