// Package paths lets AFL++ find paths of a repair program: inputs that set fields of an image so
// that the program takes edges which it did not take before. The program is built from its source
// for that. A shim overlays the fields on a private copy of the image, so that nothing is copied or
// written.
//
// Start with Search.Run.
package paths

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"fsward/interp"
	"fsward/repair/adapter"
	"fsward/repair/damage"
	"fsward/repair/fieldmap"
	"fsward/repair/sandbox"
)

//go:embed shim
var shim embed.FS

// A Search says where paths are looked for.
type Search struct {
	Program *adapter.Program // with a Rebuild
	Base    interp.Disk      // the image
	Places  []damage.Place   // its fields
	Seals   fieldmap.Seals   // its checksums, which are made right
	Sources string           // folder for sources and builds, which is kept
	Tmp     string           // folder for a temporary one
	Time    time.Duration    // of AFL++
	Say     func(string)     // is told what begins
}

// Found is what a search has found.
type Found struct {
	Inputs     [][]byte `json:"inputs"` // one for each path, as damage.Inputs reads them
	Executions float64  `json:"executions"`
	Processor  float64  `json:"processor"` // seconds that these took, with AFL++ itself
	Edges      float64  `json:"edges"`     // that were taken
	AllEdges   float64  `json:"all_edges"`
	OverTime   []Point  `json:"over_time"`
}

func (f *Found) String() string {
	return fmt.Sprintf("AFL++ made %.0f executions, %.0f in a second of processor: %d paths, %.0f of "+
		"%.0f edges", f.Executions, f.Executions/f.Processor, len(f.Inputs), f.Edges, f.AllEdges)
}

// Names of files in the folder of a search, which is the sandbox's.
const (
	imageFile  = "disk.img"
	inputFile  = "input"
	placesFile = "places"
	sealsFile  = "seals"
	shimFile   = "shim.so"
	programDir = "bin" // with the program, which may do what its name says
	seedsDir   = "seeds"
	resultDir  = "afl"
)

// Run builds the program, lets AFL++ run for the time, and returns an input for each path, crash
// and hang. An error names the Debian package of what is missing.
func (s *Search) Run(ctx context.Context) (found *Found, err error) {
	switch {
	case s.Program.Rebuild == nil:
		return nil, fmt.Errorf("fsward does not know how to build %s from its source: its description "+
			"has no rebuild", s.Program.Name)
	case s.Time < time.Second:
		return nil, fmt.Errorf("a time of %v for AFL++; want at least 1s", s.Time)
	case len(s.Places) == 0:
		return nil, errors.New("the image has no field that can be set in place, and whose checksums " +
			"are known")
	}
	if err := needPrograms(); err != nil {
		return nil, err
	}
	binary, err := build(ctx, s.Program.Rebuild, s.Sources, s.Say)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.Tmp, "fsward-paths-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := s.write(ctx, dir, binary); err != nil {
		return nil, err
	}
	s.Say(fmt.Sprintf("AFL++ looks for paths for %v, over %d fields", s.Time, len(s.Places)))
	return s.fuzz(dir)
}

// seedEvery is the distance of the fields that have a seed. Each seed is run before AFL++ begins.
const seedEvery = 16

// write writes the files that the shim and AFL++ read.
func (s *Search) write(ctx context.Context, dir, binary string) error {
	if err := os.CopyFS(dir, shim); err != nil {
		return err
	}
	sources, err := filepath.Glob(filepath.Join(dir, "shim", "*.c"))
	if err != nil {
		return err
	}
	gcc := append([]string{"gcc", "-O2", "-shared", "-fPIC", "-o", filepath.Join(dir, shimFile)},
		sources...)
	bin := filepath.Join(dir, programDir)
	for _, argv := range [][]string{{"mkdir", bin}, {"cp", binary, bin}, gcc} {
		if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", argv[0], err, end(out))
		}
	}
	image := make([]byte, s.Base.Size())
	if _, err := s.Base.ReadAt(image, 0); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, seedsDir), 0o755); err != nil {
		return err
	}
	var list []byte
	for i, p := range s.Places {
		list = fmt.Appendln(list, p.Off, p.Width)
		if i%seedEvery != 0 {
			continue
		}
		seed := append([]byte{byte(i), byte(i >> 8)}, image[p.Off:p.Off+uint64(p.Width)]...)
		seed[2] ^= 1
		name := filepath.Join(dir, seedsDir, strconv.Itoa(i))
		if err := os.WriteFile(name, seed, 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, placesFile), list, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, sealsFile), sealsText(s.Seals), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, imageFile), image, 0o644)
}

// sealsText is what the shim reads: a line for each checksum.
func sealsText(seals fieldmap.Seals) (text []byte) {
	for _, s := range seals {
		big := 0
		if s.Big {
			big = 1
		}
		text = fmt.Appendln(text, s.Kind, s.Off, s.Width, s.From, s.Len, s.Seed, s.Prefix, s.Shift,
			s.Repeat, big)
	}
	return text
}

// What AFL++ needs besides its time, to begin and to end.
const grace = 2 * time.Minute

// maxOutput bounds what AFL++ prints, in bytes.
const maxOutput = 16 << 20

// fuzz runs AFL++ in a sandbox of its own, and reads what it found.
func (s *Search) fuzz(dir string) (found *Found, err error) {
	box, err := sandbox.Start(sandbox.Config{Folder: dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	at := func(name string) string { return filepath.Join(sandbox.Work, name) }
	program := s.Program.Repairs[0].Argv(at(imageFile), "")
	program[0] = at(filepath.Join(programDir, filepath.Base(s.Program.Rebuild.Binary)))
	argv := append([]string{"afl-fuzz", "-i", at(seedsDir), "-o", at(resultDir), "-f", at(inputFile),
		"-t", "5000+", "-V", strconv.Itoa(int(s.Time.Seconds())), "--"}, program...)
	got, err := box.Run(sandbox.Command{Argv: argv, Time: s.Time + grace, OutputBytes: maxOutput,
		Env: append(s.Program.Env(), "SHIM_IMAGE="+at(imageFile), "SHIM_INPUT="+at(inputFile),
			"SHIM_PLACES="+at(placesFile), "SHIM_SEALS="+at(sealsFile), "AFL_PRELOAD="+at(shimFile),
			"AFL_NO_UI=1",
			"AFL_NO_AFFINITY=1", "AFL_SKIP_CPUFREQ=1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1")})
	if err != nil {
		return nil, err
	}
	if got.Status != 0 {
		return nil, fmt.Errorf("afl-fuzz ended with status %d %s\n%s", got.Status, got.Signal,
			end(got.Output))
	}
	stats, err := readStats(filepath.Join(dir, resultDir, "default", "fuzzer_stats"))
	if err != nil {
		return nil, err
	}
	found = &Found{Executions: stats["execs_done"], Processor: got.CPU.Seconds(),
		Edges: stats["edges_found"], AllEdges: stats["total_edges"]}
	found.OverTime, err = readPoints(filepath.Join(dir, resultDir, "default", "plot_data"))
	if err != nil {
		return nil, err
	}
	// The folders queue, crashes and hangs.
	files, err := filepath.Glob(filepath.Join(dir, resultDir, "default", "[qch]*", "id:*"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		input, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found.Inputs = append(found.Inputs, input[:min(len(input), damage.MaxInput)])
	}
	return found, nil
}
