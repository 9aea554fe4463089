package paths

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"fsward/repair/adapter"
)

//go:embed source.sh
var sourceScript string

// compiler is AFL++'s, which counts the edges that a run takes.
const compiler = "afl-clang-fast"

// needPrograms returns an error that names the package of a program that is missing.
func needPrograms() error {
	packages := map[string]string{"afl-fuzz": "afl++", compiler: "afl++", "gcc": "gcc"}
	for program, name := range packages {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: it is in Debian's package %s: apt-get install %s; without --paths, "+
				"fields of up to two bytes get every value", err, name, name)
		}
	}
	return nil
}

// build returns the path of the program that r describes, built for AFL++ below the folder sources.
// What is there already is used.
func build(ctx context.Context, r *adapter.Rebuild, sources string, say func(string)) (string,
	error) {
	dir := filepath.Join(sources, r.Package)
	binary, done := filepath.Join(dir, r.Binary), filepath.Join(dir, "built-for-afl")
	if _, err := os.Stat(done); err == nil {
		return binary, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	say("fetching Debian's source package " + r.Package)
	if err := os.RemoveAll(dir); err != nil { // a build that was interrupted
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	fetch := exec.CommandContext(ctx, "bash", "-s", sources, r.Package)
	fetch.Stdin = strings.NewReader(sourceScript)
	if out, err := fetch.CombinedOutput(); err != nil {
		return "", fmt.Errorf("apt-get source %s: %w\n%s", r.Package, err, end(out))
	}
	archives, err := filepath.Glob(filepath.Join(sources, r.Package+"_*.orig.tar.*z"))
	if err != nil || len(archives) == 0 {
		return "", fmt.Errorf("apt-get source %s: %s has no archive", r.Package, sources)
	}
	say("building " + filepath.Base(r.Binary) + " for AFL++ in " + dir)
	steps := [][]string{{"tar", "-xf", archives[len(archives)-1], "--strip-components=1"}}
	if len(r.Prepare) > 0 {
		steps = append(steps, r.Prepare)
	}
	steps = append(steps, append([]string{"./configure", "CC=" + compiler, "CFLAGS=-O2 -g"},
		r.Configure...))
	for _, target := range r.Make {
		steps = append(steps, append([]string{"make"}, strings.Fields(target)...))
	}
	for _, argv := range steps {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, end(out))
		}
	}
	if _, err := os.Stat(binary); err != nil {
		return "", err
	}
	return binary, os.WriteFile(done, nil, 0o644)
}

// end returns the end of an output.
func end(out []byte) []byte { return out[max(0, len(out)-2000):] }
