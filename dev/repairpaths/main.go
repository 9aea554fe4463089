// Command repairpaths lets AFL++ find paths of e2fsck over the fields of an ext3 image, and tests
// e2fsck as Debian packages it with one image for each path.
//
//	repairpaths FSWARD SOURCES DIR DURATION
//
// SOURCES is the folder of e2fsprogs, which scripts/repair-source.sh fetches. AFL++ runs for
// DURATION. DIR gets the images, and what fsward fsck run finds with them. The exit status is that
// of fsward fsck run.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"fsward/dev/e2fsbuild"
	"fsward/repair/damage"
	"fsward/repair/testimage"
)

//go:embed shim/shim.c
var shim []byte

const fs = "ext3"

func main() {
	err := run(context.Background(), os.Args[1:])
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "repairpaths:", err)
		os.Exit(3)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 4 {
		return errors.New("usage: repairpaths FSWARD SOURCES DIR DURATION")
	}
	for _, program := range []string{"afl-fuzz", "afl-clang-fast"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w; it is in Debian's package afl++: apt-get install afl++", err)
		}
	}
	budget, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(args[2])
	if err != nil {
		return err
	}
	f, err := prepare(ctx, args[1], dir)
	if err != nil {
		return err
	}
	if err := f.fuzz(ctx, budget); err != nil {
		return err
	}
	images := filepath.Join(dir, "images")
	count, err := f.images(images)
	if err != nil {
		return err
	}
	fmt.Printf("%d images of paths\n", count)
	cmd := exec.CommandContext(ctx, args[0], "fsck", "run", "--fs", fs, "--mode", "-fy", "--time", "0",
		"--damage", "suite:"+images, "--out", filepath.Join(dir, "found"))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// A fuzzer is what AFL++ needs, in a folder.
type fuzzer struct {
	dir    string
	base   []byte // the image
	places []damage.Place
}

// prepare builds e2fsck for AFL++, and writes the image, the places of its fields, and seeds.
func prepare(ctx context.Context, sources, dir string) (*fuzzer, error) {
	if err := os.MkdirAll(filepath.Join(dir, "seeds"), 0o755); err != nil {
		return nil, err
	}
	b, err := e2fsbuild.New(ctx, sources, "afl", "CC=afl-clang-fast", "CFLAGS=-O2 -g")
	if err != nil {
		return nil, err
	}
	if err := b.Program(ctx, filepath.Join(dir, "e2fsck")); err != nil {
		return nil, err
	}
	source := filepath.Join(dir, "shim.c")
	if err := os.WriteFile(source, shim, 0o644); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "gcc", "-O2", "-shared", "-fPIC", "-o",
		filepath.Join(dir, "shim.so"), source).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("gcc: %w\n%s", err, out)
	}
	base, err := testimage.Build(ctx, fs, os.TempDir())
	if err != nil {
		return nil, err
	}
	defer base.Close()
	f := &fuzzer{dir: dir, base: make([]byte, base.Size())}
	if _, err := base.ReadAt(f.base, 0); err != nil {
		return nil, err
	}
	m, err := damage.NewModel(base, fs)
	if err != nil {
		return nil, err
	}
	if f.places, err = m.Places(); err != nil {
		return nil, err
	}
	return f, f.write()
}

// seedEvery is the distance of the fields that have a seed. Each seed is run before AFL++ begins.
const seedEvery = 16

// write writes the files that the shim and AFL++ read.
func (f *fuzzer) write() error {
	var list []byte
	for i, p := range f.places {
		list = fmt.Appendln(list, p.Off, p.Width)
		if i%seedEvery != 0 {
			continue
		}
		seed := append([]byte{byte(i), byte(i >> 8)}, f.base[p.Off:p.Off+uint64(p.Width)]...)
		seed[2] ^= 1
		name := filepath.Join(f.dir, "seeds", strconv.Itoa(i))
		if err := os.WriteFile(name, seed, 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(f.dir, "places"), list, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.dir, "disk.img"), f.base, 0o644)
}

// fuzz runs AFL++ and prints how far it came.
func (f *fuzzer) fuzz(ctx context.Context, budget time.Duration) error {
	image, input := filepath.Join(f.dir, "disk.img"), filepath.Join(f.dir, "input")
	cmd := exec.CommandContext(ctx, "afl-fuzz", "-i", "seeds", "-o", "afl", "-f", input, "-t", "1000",
		"-V", strconv.Itoa(int(budget.Seconds())), "--", "./e2fsck", "-fy", image)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "SHIM_IMAGE="+image, "SHIM_INPUT="+input,
		"SHIM_PLACES="+filepath.Join(f.dir, "places"), "AFL_PRELOAD="+filepath.Join(f.dir, "shim.so"),
		"E2FSCK_TIME=1704153600", "E2FSPROGS_FAKE_TIME=1704153600", "AFL_NO_UI=1", "AFL_NO_AFFINITY=1",
		"AFL_SKIP_CPUFREQ=1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("afl-fuzz: %w\n%s", err, out[max(0, len(out)-2000):])
	}
	s, err := readStats(filepath.Join(f.dir, "afl", "default", "fuzzer_stats"))
	if err != nil {
		return err
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	fmt.Printf("%d fields, %.0f executions (%.0f a second, %.0f a second of processor), %.0f paths, "+
		"%.0f of %.0f edges\n", len(f.places), s["execs_done"], s["execs_per_sec"],
		s["execs_done"]/used.Seconds(), s["corpus_count"], s["edges_found"], s["total_edges"])
	return nil
}

// maxName bounds the name of an image, which begins with a number and the fields that it sets.
const maxName = 200

// images writes an image for each path that AFL++ found, and for each crash and each hang.
func (f *fuzzer) images(to string) (count int, err error) {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return 0, err
	}
	inputs, err := filepath.Glob(filepath.Join(f.dir, "afl", "default", "[qch]*", "id:*"))
	if err != nil {
		return 0, err
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		return 0, err
	}
	defer enc.Close()
	for _, path := range inputs {
		input, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		image, fields := f.apply(input)
		name := fmt.Sprintf("%05d-%s", count, strings.Join(fields, "+"))
		name = filepath.Join(to, name[:min(len(name), maxName)]+".img.zst")
		if err := os.WriteFile(name, enc.EncodeAll(image, nil), 0o644); err != nil {
			return 0, err
		}
		count++
	}
	return count, nil
}
