package matrix

import (
	"context"
	_ "embed"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/cells.txt
var cellList string

// representative are the cells of testdata/cells.txt.
func representative(t *testing.T) []Cell {
	var out []Cell
	for line := range strings.Lines(cellList) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 4 {
			t.Fatalf("cells.txt: %q", line)
		}
		for i := range f {
			if f[i] == "-" {
				f[i] = ""
			}
		}
		out = append(out, Cell{Object: f[0], Tree: f[1], Field: f[2], Change: f[3]})
	}
	return out
}

// What btrfs check reports of an altered commit, fsward has refused before it was on the disk: some cells of
// each object, of a recording that the host's kernel makes now.
func TestNothingIsMissed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	cells := representative(t)
	rows, err := Run(context.Background(), Config{Dir: t.TempDir(), Picks: 1, Workers: 2, Cells: cells, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	reported := 0
	for _, r := range rows {
		if r.Check.Reports() {
			reported++
		}
		if r.Missed() {
			t.Errorf("%s: %s: btrfs check %s: %s", r.ID(), r.What, r.Check.Verdict, r.Check.Message)
		}
	}
	t.Logf("%d cells, %d of them reported by btrfs check", len(rows), reported)
	// What stands at a place differs a little from one recording to the next.
	if len(rows) < len(cells)*9/10 || reported < len(rows)*9/10 {
		t.Errorf("of %d cells %d were made and %d reported: the list no longer fits what is recorded", len(cells), len(rows), reported)
	}
}

// Linux mounts a sound image and not one without a superblock, and its answers come back to their cells.
func TestLinuxIsAsked(t *testing.T) {
	if _, err := exec.LookPath("linux.uml"); err != nil {
		t.Fatal("no user-mode Linux here: make setup installs it (Debian package user-mode-linux)")
	}
	dir := t.TempDir()
	cells := []Cell{{Object: "super_block", Field: "magic", Change: "+1"}, {Object: "super_block", Field: "label", Change: "+1"}}
	rows, err := Run(context.Background(), Config{Dir: dir, Picks: 1, Workers: 1, Cells: cells, Linux: true, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Linux.Verdict != "refuses" || rows[1].Linux.Verdict != "ok" {
		for _, r := range rows {
			t.Errorf("%s: Linux %+v", r.ID(), r.Linux)
		}
	}
}

// What Linux cannot replay of an altered log, or replays to what btrfs check reports, fsward has refused.
func TestLogsAreReplayed(t *testing.T) {
	if _, err := exec.LookPath("linux.uml"); err != nil {
		t.Fatal("no user-mode Linux here: make setup installs it (Debian package user-mode-linux)")
	}
	cells := []Cell{
		{Object: "extent_data", Tree: logTree, Field: "disk_bytenr", Change: "+1048576"},
		{Object: "extent_data", Tree: logTree, Field: "disk_num_bytes", Change: "-4096"},
		{Object: "extent_data", Tree: logTree, Field: "disk_bytenr", Change: "-4096"},
		{Object: "inode_item", Tree: logTree, Field: "uid", Change: "+1"},
	}
	rows, err := Run(context.Background(), Config{Dir: t.TempDir(), Picks: 1, Workers: 2, Cells: cells, Linux: true, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(cells) {
		t.Fatalf("%d rows, want %d", len(rows), len(cells))
	}
	for _, r := range rows {
		sound := r.Object == "inode_item"
		if found := r.Check.Reports() || r.Linux.Reports(); found == sound || r.Fsward.Refused() == sound {
			t.Errorf("%s: fsward %s %v, Linux %+v, btrfs check %+v", r.ID(), r.Fsward.Verdict, r.Fsward.Rules, r.Linux, r.Check)
		}
	}
}

// A row is missed exactly if btrfs check finds something and fsward lets the commit through.
func TestMissed(t *testing.T) {
	for _, tc := range []struct {
		fsward, check string
		missed        bool
	}{{"holds", "ok", false}, {"holds", "reports", true}, {"holds", "crashes", true}, {"violated", "reports", false}, {"undecided", "reports", false}} {
		r := Row{Cell: &Cell{}, Fsward: Fsward{Verdict: tc.fsward}, Check: Peer{Verdict: tc.check}}
		if r.Missed() != tc.missed {
			t.Errorf("fsward %s, btrfs check %s: missed %v", tc.fsward, tc.check, r.Missed())
		}
	}
}

// `btrfs check` that does not end is ended.
func TestCheckIsBounded(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	p, err := askCheck(ctx, "/dev/null")
	if err != nil || p.Verdict != "hangs" {
		t.Errorf("%+v, %v", p, err)
	}
}
