package matrix

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/cells.txt
var btrfsCells string

//go:embed testdata/cells-ext3.txt
var ext3Cells string

// cells reads a list of cells in the form of testdata/cells.txt.
func cells(t *testing.T, list string) []Cell {
	var out []Cell
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 5 {
			t.Fatalf("the line %q has %d fields, want 5", line, len(f))
		}
		for i := range f {
			if f[i] == "-" {
				f[i] = ""
			}
		}
		out = append(out, Cell{Variant: f[0], Object: f[1], Where: f[2], Field: f[3], Change: f[4]})
	}
	return out
}

// TestNothingIsMissed checks that fsward refuses each altered commit that the checker reports. It
// runs some cells of each object on a recording that the host's kernel makes during the test.
func TestNothingIsMissed(t *testing.T) { nothingIsMissed(t, "btrfs", btrfsCells) }

// TestNothingIsMissedOfExt3 checks the same for ext3.
func TestNothingIsMissedOfExt3(t *testing.T) { nothingIsMissed(t, "ext3", ext3Cells) }

func nothingIsMissed(t *testing.T, fs, list string) {
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	wanted := cells(t, list)
	// A sync(2) of another process splits the commits of a recording, and then fewer cells fit it.
	for range 3 {
		if made := missesNothing(t, fs, wanted); made >= len(wanted)*9/10 {
			return
		}
	}
	t.Error("the list of cells no longer fits the recordings")
}

// missesNothing makes the wanted cells on a new recording, and returns how many it could make.
func missesNothing(t *testing.T, fs string, wanted []Cell) (made int) {
	t.Helper()
	rows, err := Run(context.Background(), Config{FS: fs, Dir: t.TempDir(), Picks: 1, Workers: 2,
		Cells: wanted, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	reported := 0
	for _, r := range rows {
		if r.Check.Reports() {
			reported++
		}
		if r.Missed() {
			t.Errorf("%s: %s: the checker %s: %s", r.ID(), r.What, r.Check.Verdict, r.Check.Message)
		}
	}
	t.Logf("%d of %d cells; the checker reports %d", len(rows), len(wanted), reported)
	// Recordings differ a little in the objects that they write, so a tenth of the cells may fail.
	if reported < len(rows)*9/10 {
		t.Errorf("the checker reports %d of %d cells", reported, len(rows))
	}
	return len(rows)
}

// TestLinuxIsAsked checks that Linux mounts a sound image and no image without a superblock, and
// that each answer is stored with its cell.
func TestLinuxIsAsked(t *testing.T) {
	if _, err := exec.LookPath("linux.uml"); err != nil {
		t.Fatal("no user-mode Linux here: make setup installs it (Debian package user-mode-linux)")
	}
	dir := t.TempDir()
	cells := []Cell{{Variant: "default", Object: "super_block", Field: "magic", Change: "+1"},
		{Variant: "default", Object: "super_block", Field: "label", Change: "+1"}}
	rows, err := Run(context.Background(), Config{FS: "btrfs", Dir: dir, Picks: 1, Workers: 1,
		Cells: cells, Linux: true, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Linux.Verdict != "refuses" || rows[1].Linux.Verdict != "ok" {
		for _, r := range rows {
			t.Errorf("%s: Linux %+v", r.ID(), r.Linux)
		}
	}
}

// TestLogsAreReplayed checks that fsward refuses an altered log if Linux cannot replay it, or if
// btrfs check reports the replayed image.
func TestLogsAreReplayed(t *testing.T) {
	if _, err := exec.LookPath("linux.uml"); err != nil {
		t.Fatal("no user-mode Linux here: make setup installs it (Debian package user-mode-linux)")
	}
	cells := []Cell{
		{Object: "extent_data", Field: "disk_bytenr", Change: "+1048576"},
		{Object: "extent_data", Field: "disk_num_bytes", Change: "-4096"},
		{Object: "extent_data", Field: "disk_bytenr", Change: "-4096"},
		{Object: "inode_item", Field: "flags", Change: "+1"},
		{Object: "root_item", Change: "swap"},
		{Object: "root_item", Field: "key.offset", Change: "+4096"},
		{Object: "inode_item", Field: "uid", Change: "+1"},
	}
	for i := range cells {
		cells[i].Variant, cells[i].Where = "log", logTree
	}
	rows, err := Run(context.Background(), Config{FS: "btrfs", Dir: t.TempDir(), Picks: 1, Workers: 2,
		Cells: cells, Linux: true, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(cells) {
		t.Fatalf("%d rows, want %d", len(rows), len(cells))
	}
	for _, r := range rows {
		sound := r.Field == "uid"
		if found := r.Check.Reports() || r.Linux.Reports(); found == sound ||
			r.Fsward.Refused() == sound {
			t.Errorf("%s: fsward %s %v, Linux %+v, btrfs check %+v", r.ID(), r.Fsward.Verdict,
				r.Fsward.Rules, r.Linux, r.Check)
		}
	}
}

// TestMissed checks that a row is missed exactly if btrfs check finds the corruption and fsward
// lets the commit through.
func TestMissed(t *testing.T) {
	for _, tc := range []struct {
		fsward, check string
		missed        bool
	}{
		{"holds", "ok", false},
		{"holds", "reports", true},
		{"holds", "crashes", true},
		{"violated", "reports", false},
		{"undecided", "reports", false},
	} {
		r := Row{Cell: &Cell{}, Fsward: Fsward{Verdict: tc.fsward}, Check: Peer{Verdict: tc.check}}
		if r.Missed() != tc.missed {
			t.Errorf("fsward %s, btrfs check %s: missed %v", tc.fsward, tc.check, r.Missed())
		}
	}
}

// TestCheckIsBounded checks that runChecker ends a checker that exceeds its processor time, and
// that it returns no output of a checker that was stopped together with the run.
func TestCheckIsBounded(t *testing.T) {
	run := func(ctx context.Context, script string) string {
		out, exit, ended, err := runChecker(ctx, time.Second, "sh", "-c", script)
		return fmt.Sprintf("%q %d %q %v", out, exit, ended, err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, tc := range []struct {
		ctx          context.Context
		script, want string
	}{
		{t.Context(), "echo begun; while :; do :; done", `"begun\n" 0 "hangs" <nil>`},
		{t.Context(), "sleep 1.5; echo late; exit 4", `"late\n" 4 "" <nil>`},
		{t.Context(), "kill -SEGV $$", `"" 0 "crashes" <nil>`},
		{stopped, "echo no", `"" 0 "" context canceled`},
	} {
		if got := run(tc.ctx, tc.script); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.script, got, tc.want)
		}
	}
}
