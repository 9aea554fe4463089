// Command repairplanted measures whether fsward fsck finds bugs that are planted in e2fsck and
// xfs_repair. Each bug of bugs.yaml is one changed line, of a class that SWIFT (EuroSys 2012) found
// in its tables 6 to 9 and in its section 6.1.1. The program is built with one bug after the other,
// and fsward fsck run tests it. Without a bug it is tested with the same damages, and must show
// nothing.
//
//	repairplanted FSWARD SOURCES [PATTERN]
//
// SOURCES has the folders e2fsprogs and xfsprogs, whose archives repair/paths/source.sh fetches.
// With PATTERN, only bugs whose names match are planted. The exit status is 1 if a bug is not
// found.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"fsward/dev/checkerbuild"
)

//go:embed bugs.yaml
var bugsText []byte

// A bug is one line of a program that is changed, and how it shows.
type bug struct {
	Name    string   `yaml:"bug"`
	Class   string   `yaml:"class"`
	In      target   `yaml:",inline"`
	File    string   `yaml:"file"`  // in the folder of the program
	After   string   `yaml:"after"` // text before the line
	Line    string   `yaml:"line"`
	Becomes string   `yaml:"becomes"`
	Fields  string   `yaml:"fields"` // pattern of the damaged fields
	Check   string   `yaml:"check"`  // of fsward fsck run, besides the second run
	Expect  []string `yaml:"expect"` // kinds of findings, any of which shows the bug
}

// A target is a program, how it is called, and the file system that it repairs.
type target struct {
	Program string `yaml:"program"`
	FS      string `yaml:"fs"`
	Mode    string `yaml:"mode"`
}

// e2fsck is the target of bugs that name none.
var e2fsck = target{Program: "e2fsck", FS: "ext3", Mode: "-fy"}

func main() {
	missed, err := run(context.Background(), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "repairplanted:", err)
		os.Exit(2)
	}
	if missed > 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (missed int, err error) {
	if len(args) < 2 || len(args) > 3 {
		return 0, errors.New("usage: repairplanted FSWARD SOURCES [PATTERN]")
	}
	pattern := regexp.MustCompile("")
	if len(args) > 2 {
		if pattern, err = regexp.Compile(args[2]); err != nil {
			return 0, err
		}
	}
	bugs, err := parse(bugsText)
	if err != nil {
		return 0, err
	}
	work, err := os.MkdirTemp("", "fsward-planted-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	t := &tester{fsward: args[0], dir: work}
	s := &soundPrograms{sources: args[1], dir: work, built: map[string]*soundProgram{}}
	planted := 0
	fmt.Println("| bug | class | in | line of | found as | without the bug | seconds |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for i := range bugs {
		if !pattern.MatchString(bugs[i].Name) {
			continue
		}
		planted++
		sound, err := s.build(ctx, bugs[i].In)
		if err != nil {
			return 0, err
		}
		found, err := tryBug(ctx, t, sound, &bugs[i])
		if err != nil {
			return 0, fmt.Errorf("bug %s: %w", bugs[i].Name, err)
		}
		if !found {
			missed++
		}
	}
	fmt.Printf("\n%d of %d planted bugs found\n", planted-missed, planted)
	return missed, nil
}

// parse reads the list of bugs.
func parse(text []byte) (bugs []bug, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&bugs); err != nil {
		return nil, fmt.Errorf("bugs.yaml: %w", err)
	}
	for i, b := range bugs {
		if b.In == (target{}) {
			bugs[i].In = e2fsck
		}
		if b.Name == "" || b.File == "" || b.Line == "" || b.Fields == "" || len(b.Expect) == 0 {
			return nil, fmt.Errorf("bugs.yaml: bug %q is not complete", b.Name)
		}
	}
	return bugs, nil
}

// tryBug plants a bug and prints a row of the table about it. It reports whether the bug was found,
// and the same test of the sound program found nothing.
func tryBug(ctx context.Context, t *tester, sound *soundProgram, bug *bug) (bool, error) {
	start := time.Now()
	program := filepath.Join(t.dir, bug.In.Program+"-"+bug.Name)
	if err := bug.build(ctx, sound.build, program); err != nil {
		return false, err
	}
	with, err := t.test(ctx, program, bug)
	if err != nil {
		return false, err
	}
	without, err := t.test(ctx, sound.path, bug)
	if err != nil {
		return false, err
	}
	shown := slices.ContainsFunc(bug.Expect, func(kind string) bool { return with.kinds[kind] > 0 })
	fmt.Printf("| %s | %s | %s | `%s` | %s | %s | %.0f |\n", bug.Name, bug.Class, bug.In.Program,
		bug.File, with, without, time.Since(start).Seconds())
	return shown && len(without.kinds) == 0, nil
}

// build builds the program with the bug. The sources are as before afterwards.
func (b *bug) build(ctx context.Context, e *checkerbuild.Build, to string) (err error) {
	path := e.File(b.File)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := b.plant(string(text))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, text, 0o644)) }()
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		return err
	}
	return e.Program(ctx, to)
}

// plant returns a source file with the bug.
func (b *bug) plant(text string) (string, error) {
	at := strings.Index(text, b.After)
	if at < 0 {
		return "", fmt.Errorf("%s has no %q", b.File, b.After)
	}
	at += len(b.After)
	lines := strings.SplitAfter(text[at:], "\n")
	for i, l := range lines {
		if strings.TrimSpace(l) == b.Line {
			lines[i] = b.Becomes + "\n"
			return text[:at] + strings.Join(lines, ""), nil
		}
	}
	return "", fmt.Errorf("%s has no line %q after %q", b.File, b.Line, b.After)
}
