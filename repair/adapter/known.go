package adapter

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed programs/*.yaml
var programs embed.FS

// Known returns the descriptions that are part of the executable, in the order of their names.
func Known() ([]*Program, error) {
	entries, err := programs.ReadDir("programs")
	if err != nil {
		return nil, err
	}
	var list []*Program
	for _, e := range entries {
		text, err := programs.ReadFile("programs/" + e.Name())
		if err != nil {
			return nil, err
		}
		p, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		list = append(list, p)
	}
	return list, nil
}

// Find returns the description of a program by name, or that in a file, and its text. Without a
// name it returns the first known program for a file system.
func Find(name, fs string) (*Program, []byte, error) {
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		p, err := Parse(text)
		return p, text, err
	}
	list, err := Known()
	if err != nil {
		return nil, nil, err
	}
	var names, systems []string
	for _, p := range list {
		if p.Name == name || name == "" && slices.Contains(p.FileSystems, fs) {
			text, err := programs.ReadFile("programs/" + p.Name + ".yaml")
			return p, text, err
		}
		names, systems = append(names, p.Name), append(systems, p.FileSystems...)
	}
	if name == "" {
		return nil, nil, fmt.Errorf("no known program repairs %q: want one of %s", fs,
			strings.Join(systems, ", "))
	}
	return nil, nil, fmt.Errorf("program %q is not one of %s; name a FILE.yaml for another", name,
		strings.Join(names, ", "))
}

// numbered matches a line with the number of a version.
var numbered = regexp.MustCompile(`[0-9]\.[0-9]`)

// VersionText returns what the program says about its version, or why it says nothing: the first
// line with a number, since some print how they are used before it.
func (p *Program) VersionText(ctx context.Context) string {
	if len(p.Version) == 0 {
		return "version unknown"
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, p.Version[0], p.Version[1:]...).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(out), "?")), "\n")
	if lines[0] == "" && err != nil {
		return err.Error()
	}
	return lines[max(0, slices.IndexFunc(lines, numbered.MatchString))]
}

// Installed reports whether the programs of all modes are there.
func (p *Program) Installed() bool {
	for _, m := range p.Repairs {
		if _, err := exec.LookPath(m.Run[0]); err != nil {
			return false
		}
	}
	return true
}
