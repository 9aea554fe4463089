package campaign

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/repair/adapter"
	"fsward/repair/damage"
	"fsward/repair/linux"
)

func TestMain(m *testing.M) {
	linux.ServeIfInside()
	if args := slices.Concat(os.Args, []string{""}); len(args) > 5 && args[1] == "planted" {
		os.Exit(planted(args[2], args[3], args[4], args[5]))
	}
	if len(os.Args) == 3 && os.Args[1] == "resume" {
		os.Exit(resume(os.Args[2]))
	}
	os.Exit(m.Run())
}

// test runs a campaign over a number of damages, and returns the findings by kind.
func test(t *testing.T, cfg Config, damages uint64) map[string][]*Finding {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	cfg.Workers, cfg.Replays = 2, 2
	c, err := Create(t.Context(), dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	found := map[string][]*Finding{}
	sum, _, err := c.Run(t.Context(), Limits{Damages: damages}, func(e Event) {
		if f := e.Finding; f != nil {
			f.path = filepath.Join(dir, f.Dir)
			found[f.Kind] = append(found[f.Kind], f)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Damages == 0 || sum.Next != damages {
		t.Errorf("%+v", sum)
	}
	return found
}

// written writes a file in a temporary folder.
func written(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func plantedConfig(t *testing.T, bug, fs string) Config {
	t.Helper()
	text, err := plantedAdapter(bug, fs)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{FS: fs, Program: written(t, "planted.yaml", []byte(text)), Checks: []string{Agree}}
	if fs == "toy" {
		cfg.Image = written(t, "toy.img", toyImage())
	}
	return cfg
}

// TestPlanted finds each planted bug as what it is, and nothing in a sound checker.
func TestPlanted(t *testing.T) {
	for bug, want := range map[string]string{"none": "", "twice": Again, "cycles": Cycle,
		"crashes": Crash, "hangs": Hang, "prints": Flood, "status": Status, "disagrees": Disagree,
		"sanitizer": Crash, "touches": Disagree, "grows": Flood, "pretends": Cycle,
		"gives up": Again, "varies": Crash} {
		t.Run(bug, func(t *testing.T) {
			damages := uint64(12)
			if bug == "hangs" {
				damages = 8
			}
			found := test(t, plantedConfig(t, bug, "toy"), damages)
			kinds := slices.Sorted(maps.Keys(found))
			if strings.Join(kinds, " ") != want {
				t.Fatalf("found %v, want %q", kinds, want)
			}
			if want != "" {
				checkFinding(t, found[want][0])
			}
		})
	}
}

// A mode is tried on the fields that it looks at only.
func TestFieldsOfMode(t *testing.T) {
	for pattern, want := range map[string]bool{"": true, "^nothing$": false} {
		cfg := plantedConfig(t, "crashes", "toy")
		text, err := os.ReadFile(cfg.Program)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Program = written(t, "some.yaml", []byte(strings.Replace(string(text), "{name: repair,",
			"{name: repair, fields: '"+pattern+"',", 1)))
		if found := test(t, cfg, 12); (len(found) > 0) != want {
			t.Errorf("%q: found %v", pattern, found)
		}
	}
}

// askingAdapter is a program whose modes want different answers.
const askingAdapter = `program: asking
file_systems: [toy]
input: "program"
repairs: [{name: -y, input: "mode", run: [sh, -c, 'test "$(cat)" = mode || exit 8', "{image}"]}]
check: {name: -n, run: [sh, -c, 'test "$(cat)" = program || exit 8', "{image}"]}
statuses: [{is: [0], outcome: consistent}, {is: [8], outcome: operational}]
`

// TestInput gives a mode its own input, and another that of the program. With a wrong one the
// program does not call the sound image consistent.
func TestInput(t *testing.T) {
	for input, ok := range map[string]bool{`"mode"`: true, `"other"`: false} {
		text := strings.Replace(askingAdapter, `"mode"`, input, 1)
		cfg := Config{FS: "toy", Program: written(t, "asking.yaml", []byte(text)), Workers: 1,
			Image: written(t, "toy.img", toyImage()), Checks: []string{Agree}}
		c, err := Create(t.Context(), t.TempDir(), cfg)
		if err == nil {
			err = c.Close()
		}
		if (err == nil) != ok {
			t.Errorf("input %s: %v", input, err)
		}
	}
}

// checkFinding looks at a finding, replays it, and looks at its text.
func checkFinding(t *testing.T, f *Finding) {
	t.Helper()
	if f.Replays != 2 || f.Shown != 2 {
		t.Errorf("%s was shown %d times of %d", f.Dir, f.Shown, f.Replays)
	}
	r, err := Replay(t.Context(), f.path, 2)
	if err != nil || r.Shown != 2 || r.Replays != 2 || len(r.Runs) == 0 {
		t.Errorf("%s does not show again: %v", f.Dir, err)
	}
	what, err := os.ReadFile(filepath.Join(f.path, whatFile))
	if err != nil || !strings.Contains(string(what), sentences[f.Kind]) ||
		!strings.Contains(string(what), f.Damage) {
		t.Errorf("%v\n%s", err, what)
	}
}

// TestPlantedCarelessness finds that a repair which a crash interrupts leaves what the next repair
// refuses, that a crash takes the undo file together with what it is to restore, and nothing of
// that kind in a checker that writes each sector once, and after its undo file.
func TestPlantedCarelessness(t *testing.T) {
	for bug, want := range map[string]string{"careless": Interrupted, "hasty": Undo, "none": ""} {
		cfg := plantedConfig(t, bug, "toy")
		cfg.Checks = []string{Interrupt}
		found := test(t, cfg, 6)
		if kinds := slices.Sorted(maps.Keys(found)); strings.Join(kinds, " ") != want {
			t.Fatalf("%s: found %v, want %q", bug, kinds, want)
		}
		if want != "" {
			checkFinding(t, found[want][0])
		}
	}
}

// plantedWorker returns a campaign and a worker of it.
func plantedWorker(t *testing.T, cfg Config) (*Campaign, *worker) {
	t.Helper()
	c, err := Create(t.Context(), filepath.Join(t.TempDir(), "out"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	w, err := newWorker(c.program, c.base, c.checks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	return c, w
}

// TestFewest reduces a damage of several bytes to those that the failure needs.
func TestFewest(t *testing.T) {
	c, w := plantedWorker(t, plantedConfig(t, "twice", "toy"))
	// The checker needs a second run if both halves of a number are wrong: bytes 8 and 10 do it.
	patches := []interp.Patch{{Off: 1, Data: []byte{1}}, {Off: 8, Data: []byte{1, 2, 3, 4}},
		{Off: 700, Data: make([]byte, 20)}}
	for i := range patches[2].Data {
		patches[2].Data[i] = 5
	}
	m := &c.program.Repairs[0]
	tried, err := w.try(patches, m)
	if err != nil || len(tried.failures) != 1 {
		t.Fatal(tried, err)
	}
	f := c.finding(&damage.Damage{}, m, tried, tried.failures[0])
	if err := w.minimize(t.Context(), f, patches, m); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, p := range f.Patches {
		total += len(p.New) / 2
	}
	if !f.Minimized || total != 2 {
		t.Errorf("the damage is %v", f.Patches)
	}
}

// need fails a test if a program is missing.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("%s is not installed: run make setup", program)
	}
}

// TestPlantedLoss finds that a checker clears a file which the damage did not touch.
func TestPlantedLoss(t *testing.T) {
	need(t, "mkfs.minix")
	cfg := plantedConfig(t, "loses", "minix1")
	cfg.Checks = []string{Harmless}
	found := test(t, cfg, 25)
	for _, f := range found[Lost] {
		if strings.Contains(f.Detail, "/f has other contents") {
			checkFinding(t, f)
			if !slices.Contains(f.Files, "~ /f: content") {
				t.Errorf("files: %q", f.Files)
			}
			return
		}
	}
	t.Errorf("found %v", found)
}

// TestPlantedLie finds that Linux does not mount or write what a checker calls clean.
func TestPlantedLie(t *testing.T) {
	need(t, "mkfs.minix")
	cfg := plantedConfig(t, "lies", "minix1")
	cfg.Checks = []string{Mount}
	found := test(t, cfg, 3)
	if len(found[Mounts]) == 0 {
		t.Fatalf("found %v", found)
	}
	checkFinding(t, found[Mounts][0])
	if got := found[Mounts][0].Check; got != Mount {
		t.Errorf("found by %q", got)
	}
}

// TestMinixTables finds that fsck.minix 2.38 writes its tables into files of version 3: it returns
// from write_super_block before it has set the position of the writes that follow.
func TestMinixTables(t *testing.T) {
	need(t, "mkfs.minix")
	found := test(t, Config{FS: "minix3", Checks: []string{Harmless}}, 25)
	if len(found[Lost]) == 0 {
		t.Fatalf("found %v", found)
	}
	checkFinding(t, found[Lost][0])
}

// TestSecondRun finds that e2fsck needs a second run, and goes on with the campaign.
func TestSecondRun(t *testing.T) {
	need(t, "e2fsck")
	found := test(t, Config{FS: "ext3", Program: "e2fsck", Modes: []string{"-fy"}}, 100)
	if len(found[Again])+len(found[Cycle]) == 0 {
		t.Fatalf("found %v", found)
	}
	for _, f := range slices.Concat(found[Again], found[Cycle]) {
		if !f.Minimized || len(f.Patches) == 0 {
			t.Errorf("%+v is not minimized", f)
		}
	}
}

// TestUndo finds that e2fsck's undo file gives the damaged image back, unless a crash takes a part
// of it, and that a program whose undoing does nothing does not.
func TestUndo(t *testing.T) {
	need(t, "e2undo")
	_, text, err := adapter.Find("e2fsck", "")
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(text), `run: [e2undo, "{undo}", "{image}"]`,
		`run: ["true", "{undo}", "{image}"]`, 1)
	for program, want := range map[string]bool{"e2fsck": false,
		written(t, "broken.yaml", []byte(broken)): true} {
		found := test(t, Config{FS: "ext3", Program: program, Modes: []string{"-fy"},
			Fields: "^inode.mode@kind=directory$", Checks: []string{Interrupt}}, 2)
		if len(found[Undo]) == 0 {
			t.Errorf("%s: found %v", program, found)
		}
		for _, f := range found[Undo] {
			if strings.Contains(f.Detail, "after a crash") == want {
				t.Errorf("%s: %s", program, f.Detail)
			}
			checkFinding(t, f)
		}
	}
}

// A crash can undo the damage: e2fsck gives a new root the block of the old one, and the content of
// the old one is back if that of the new one is lost. Nothing is lost then.
func TestCrashUndoesDamage(t *testing.T) {
	need(t, "e2fsck")
	found := test(t, Config{FS: "ext3", Modes: []string{"-fy"}, Checks: []string{Interrupt},
		Fields: "^inode.links_count@kind=root$"}, 1)
	if list := found[Interrupted]; len(list) > 0 {
		t.Errorf("%s: %s", list[0].Damage, list[0].Detail)
	}
}

// TestResume stops a campaign and goes on: no damage is tried twice, and findings stay.
func TestResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	cfg := plantedConfig(t, "twice", "toy")
	cfg.Workers = 1
	c, err := Create(t.Context(), dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	first, _, err := c.Run(t.Context(), Limits{Damages: 10}, func(Event) {})
	if err != nil || c.Close() != nil || first.Findings == 0 {
		t.Fatal(first, err)
	}
	if c, err = Open(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	second, _, err := c.Run(t.Context(), Limits{Damages: 10}, func(e Event) {
		if f := e.Finding; f != nil && f.Group == "sector.0x0" && f.Count != 1 {
			t.Errorf("%+v was known", f)
		}
	})
	if err != nil || second.Next != 20 || second.Findings < first.Findings ||
		second.Runs <= first.Runs {
		t.Errorf("%+v, then %+v, %v", first, second, err)
	}
	r, err := LoadResults(dir)
	if err != nil || len(r.Findings) != second.Findings || r.Progress.Next != 20 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Create(t.Context(), dir, cfg); err == nil {
		t.Error("a campaign was made in the folder of another")
	}
}

func TestMessages(t *testing.T) {
	cfg := plantedConfig(t, "none", "toy")
	c, err := Create(t.Context(), filepath.Join(t.TempDir(), "out"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a := messages(c.program, []byte("Inode 12 (x) has 'y'.\n\nInode 7 (z) has 'w'.\nblock 0xff\n"))
	b := messages(c.program, []byte("block 3\nInode 99 (…) has 'q'.\n"))
	if !slices.Equal(a, b) || len(a) != 2 {
		t.Errorf("%q and %q", a, b)
	}
}
