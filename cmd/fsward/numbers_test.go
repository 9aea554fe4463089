package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestNumbersOutOfRange checks that numbers which a command cannot use are wrong usage, before
// anything is done.
func TestNumbersOutOfRange(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	run := "explore run --fs ext3 --checker sync --out " + out
	survey := "explore survey ext3 --out " + out
	b3 := "explore b3 --fs ext3 --set seq-1 --out " + out
	log := "explore log --base none.img none.log"
	fsck := "fsck run --fs ext3 --out " + out
	for _, row := range []struct{ command, flags string }{
		{run, "--depth=-1 --crash-limit=0 --crash-limit=-1 --failures=-1 --threads=-1s --time=-1s " +
			"--files=-1 --dirs=-1 --memory=0 --memory=-1 --log=0 --depth=x --time=1"},
		{survey, "--depth=-1 --crash-limit=0 --failures=-1 --threads=-1s --time=-1s --runs=-1 " +
			"--files=-1 --memory=0"},
		{b3, "--crash-limit=0 --crash-limit=-1 --time=-1s --memory=0 --seed=-1"},
		{log, "--crash-limit=0 --crash-limit=-1 --seed=-1"},
		{fsck, "--workers=0 --workers=-1 --replays=-1 --time=-1s --paths-time=-1s --damages=-1"},
		{"fsck resume " + out, "--time=-1s --damages=-1"},
		{"fsck replay " + out, "--times=0 --times=-1"},
		{"explore resume " + out, "--time=-1s --memory=0"},
		{"explore replay " + out, "--times=0 --times=-1"},
		{"corrupt --base none.img --out " + out + " none.log inode.mode+1",
			"--commit=0 --commit=-1 --pick=-1"},
		{"demo", "--rounds=0"},
		{"rules query --base none.img none.log", "--limit=0"},
		{"proxy --disk a --guard unix:a --listen unix:b", "--reconnect=-1s"},
	} {
		for _, flag := range strings.Fields(row.flags) {
			if err := executeLine(row.command + " " + flag); !isUsage(err, flag) {
				t.Errorf("%s %s: %v", row.command, flag, err)
			}
		}
	}
	if err := executeLine(run + " --files 0 --dirs 0"); !isUsage(err, "no files") {
		t.Errorf("a checker without files and directories: %v", err)
	}
}

// executeLine runs a command line in this process.
func executeLine(line string) error {
	c := rootCommand()
	c.SetArgs(strings.Fields(line))
	return c.Execute()
}

// isUsage reports whether an error is wrong usage, and its text names what is wrong.
func isUsage(err error, flag string) bool {
	var usage usageError
	name, _, _ := strings.Cut(flag, "=")
	return errors.As(err, &usage) && strings.Contains(err.Error(), name)
}
