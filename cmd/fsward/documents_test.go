package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"fsward/hostd/guard"
	"fsward/invariants"
)

// documents returns the text of the project's README, CONTRIBUTING and docs, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	const root = "../.."
	texts := make(map[string]string)
	read := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimPrefix(path, root+"/")] = string(text)
	}
	read(root + "/README.md")
	read(root + "/CONTRIBUTING.md")
	err := filepath.WalkDir(root+"/docs", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			read(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

var (
	quotedCode  = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```|`([^`]+)`")
	commandLine = regexp.MustCompile(`(?m)(?:^|[;(=] ?)(?:\./|go run \./cmd/)?fsward ([^;|&#\n]+)`)
	flagName    = regexp.MustCompile(`(?:^|\s)(--?)([a-z][a-z-]*)`)
)

// TestDocumentCommands checks that each command line of fsward that a document shows names a
// command and flags that exist. It runs none of them.
func TestDocumentCommands(t *testing.T) {
	root := rootCommand()
	checked := 0
	for path, text := range documents(t) {
		for _, code := range quotedCode.FindAllStringSubmatch(text, -1) {
			block := strings.ReplaceAll(code[1], "\\\n", " ")
			inline := strings.Join(strings.Fields(code[2]), " ")
			for _, m := range commandLine.FindAllStringSubmatch(block+inline, -1) {
				checked++
				checkCommandLine(t, root, path, m[1])
			}
		}
	}
	if checked < 50 {
		t.Errorf("found %d command lines in the documents, want at least 50", checked)
	}
}

// markOfRecording begins a mark in a recording of several disks, which is not a command line.
const markOfRecording = "turn "

// checkCommandLine checks one command line, without the word fsward.
func checkCommandLine(t *testing.T, root *cobra.Command, path, line string) {
	t.Helper()
	if strings.HasPrefix(line, markOfRecording) {
		return
	}
	own, divided, _ := strings.Cut(line, " -- ") // fsward campaign start KIND -- flags of its command
	cmd, rest, err := root.Find(strings.Fields(own))
	if err != nil || cmd == root {
		t.Errorf("%s: fsward %s: no such command", path, line)
		return
	}
	checkFlags(t, cmd, path, line, rest)
	if divided == "" {
		return
	}
	kind := campaignCommands[rest[0]]
	if kind == nil {
		t.Errorf("%s: fsward %s: no such kind of campaign", path, line)
		return
	}
	checkFlags(t, kind(), path, line, strings.Fields(divided))
}

// checkFlags checks that a command has the flags among words.
func checkFlags(t *testing.T, cmd *cobra.Command, path, line string, words []string) {
	t.Helper()
	cmd.InitDefaultHelpFlag()
	for _, m := range flagName.FindAllStringSubmatch(strings.Join(words, " "), -1) {
		known := cmd.Flags().Lookup(m[2]) != nil
		if m[1] == "-" {
			known = cmd.Flags().ShorthandLookup(m[2][:1]) != nil
		}
		if !known {
			t.Errorf("%s: fsward %s: no such flag %s%s", path, line, m[1], m[2])
		}
	}
}

// quotedViolation matches the head of a violation in quoted output, and the place of its rule.
var quotedViolation = regexp.MustCompile(
	`(?m)^  ((?:btrfs|ext3)/\d+) +(.+)\n    object .*\n    rule +(.+)$`)

// TestDocumentViolations checks that the violations of built-in rules that documents quote have the
// sentence and the place that fsward prints today.
func TestDocumentViolations(t *testing.T) {
	rules, err := guard.RulesConfig{}.Load()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for path, text := range documents(t) {
		for _, m := range quotedViolation.FindAllStringSubmatch(text, -1) {
			fileSystem, _, _ := strings.Cut(m[1], "/")
			list := rules.List(fileSystem)
			i := slices.IndexFunc(list, func(r invariants.Rule) bool { return r.Name == m[1] })
			if i < 0 {
				continue // a rule of the reader's own
			}
			checked++
			if list[i].Doc != m[2] || list[i].Source != m[3] {
				t.Errorf("%s: quotes %s as\n%s, %s\nfsward prints\n%s, %s",
					path, m[1], m[2], m[3], list[i].Doc, list[i].Source)
			}
		}
	}
	if checked < 3 {
		t.Errorf("found %d violations in the documents, want at least 3", checked)
	}
}

// TestDocumentConfigurations reads each configuration of fsward daemon that a document shows.
func TestDocumentConfigurations(t *testing.T) {
	read := 0
	for path, text := range documents(t) {
		for _, block := range quotedConfig.FindAllStringSubmatch(text, -1) {
			file := filepath.Join(t.TempDir(), "fsward.yaml")
			if err := os.WriteFile(file, []byte(block[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := readDaemonConfig(file); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			read++
		}
	}
	if read == 0 {
		t.Error("no document shows a configuration")
	}
}

// quotedConfig matches a quoted configuration of fsward daemon.
var quotedConfig = regexp.MustCompile("(?s)```yaml\n((?:[^`]*\n)?guests:\n.*?)```")
