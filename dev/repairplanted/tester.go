package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fsward/repair/adapter"
)

// damages bounds the damages that each program is tested with.
const damages = 60

// A tester tests builds of programs with fsward fsck run.
type tester struct {
	fsward string // the executable
	dir    string // for files of the tests
	count  int
}

// A result is how many findings of each kind there are.
type result struct{ kinds map[string]int }

func (r *result) String() string {
	if len(r.kinds) == 0 {
		return "none"
	}
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(r.kinds)) {
		list = append(list, kind+" "+strconv.Itoa(r.kinds[kind]))
	}
	return strings.Join(list, ", ")
}

// test runs a program on images with a bug's damages.
func (t *tester) test(ctx context.Context, program string, b *bug) (*result, error) {
	description, err := t.describe(program, b.In)
	if err != nil {
		return nil, err
	}
	t.count++
	checks := "consistency"
	if b.Check != "" {
		checks += "," + b.Check
	}
	cmd := exec.CommandContext(ctx, t.fsward, "fsck", "run", "--fs", b.In.FS, "--program",
		description, "--mode", b.In.Mode, "--fields", b.Fields, "--check", checks, "--replays", "1",
		"--workers", "1",
		"--damages", strconv.Itoa(damages), "--time", "20s", "--json",
		"--out", filepath.Join(t.dir, "found"+strconv.Itoa(t.count)))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	return count(out)
}

// describe writes the description of a program with another executable, and returns its path.
func (t *tester) describe(program string, in target) (string, error) {
	_, text, err := adapter.Find(in.Program, in.FS)
	if err != nil {
		return "", err
	}
	text = bytes.ReplaceAll(text, []byte("["+in.Program+","), []byte("["+program+","))
	if in.Program == e2fsck.Program {
		// It needs a hundredth of a second for the image.
		text = append(text, "bounds: {time: 4s, memory: 1073741824, output: 262144}\n"...)
	}
	path := program + ".yaml"
	return path, os.WriteFile(path, text, 0o644)
}

// count counts the findings in the events of fsward fsck run.
func count(events []byte) (*result, error) {
	r := &result{kinds: map[string]int{}}
	dec := json.NewDecoder(bytes.NewReader(events))
	tested := false
	for dec.More() {
		var e struct {
			Event   string `json:"event"`
			Kind    string `json:"kind"`
			Damages uint64 `json:"damages"`
		}
		if err := dec.Decode(&e); err != nil {
			return nil, fmt.Errorf("the events of fsward fsck run: %w", err)
		}
		switch e.Event {
		case "finding":
			r.kinds[e.Kind]++
		case "tested":
			tested = e.Damages > 0
		}
	}
	if !tested {
		return nil, errors.New("fsward fsck run tried no damage")
	}
	return r, nil
}
