package child

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"fsward/explore/campaign"
)

// program writes a shell script that plays fsward, and returns its path.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fsward")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// task returns a unit of a campaign of b3.
func task() campaign.Task {
	d := campaign.NewDefinition("a", "b3")
	d.Flags = []campaign.Flag{{Name: "fs", Value: "ext3"}, {Name: "set", Value: "seq-1"}}
	d.Last, d.Unit = 9, 10
	return campaign.Task{Definition: &d, Unit: campaign.Unit{Digest: d.Digest(), To: 9}}
}

// out is what finds the folder of a script's findings.
const out = `for a; do case $a in --out=*) out=${a#--out=};; esac; done
`

// What a command prints becomes the result of its unit.
func TestRun(t *testing.T) {
	found := out + `mkdir -p "$out/001"
echo '{"property":"fsync"}' > "$out/001/error.json"
echo '# number 7 of seq-1' > "$out/001/workload.txt"
echo '# skeleton: creat link; property: fsync' >> "$out/001/workload.txt"
echo '{"event":"progress","errors":"of another form"}'
echo '{"event":"explored","complete":true,"errors":[{"kind":"lost","dir":"'"$out"'/001",' \
  '"summary":"/foo","count":3}]}'
exit 1`
	for name, tc := range map[string]struct {
		script string
		want   string // what the error says; "": there is none
		exit   int
		found  int
	}{
		"nothing":    {`echo '{"event":"explored","complete":true,"errors":[]}'`, "", 0, 0},
		"found":      {found, "", 1, 1},
		"usage":      {"echo no such flag >&2; exit 2", "exit status 2: no such flag", 0, 0},
		"died":       {"kill -9 $$", "signal: killed", 0, 0},
		"silent":     {"exit 0", "printed no result", 0, 0},
		"incomplete": {`echo '{"event":"explored","complete":false}'`, "did not test everything", 0, 0},
		"unfounded": {`echo '{"event":"explored","complete":true}'; exit 1`, "did not print them", 0,
			0},
		"no json": {`echo '{"event":"explored",}'`, "what the command printed", 0, 0},
		"no folder": {`echo '{"event":"explored","complete":true,"errors":[{"dir":"/none"}]}'; exit 1`,
			"no such file", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Runner{Program: program(t, tc.script), Work: t.TempDir(), Guest: "/guest"}
			d, err := r.Run(t.Context(), task())
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if err == nil && (d.Exit != tc.exit || len(d.Findings) != tc.found) {
				t.Errorf("%+v", d)
			}
			for _, f := range d.Findings {
				if err == nil && (f.Kind != "lost" || f.Property != "fsync" || f.Skeleton != "creat link" ||
					f.Count != 3) {
					t.Errorf("%+v", f)
				}
				if _, err := os.Stat(filepath.Join(f.Dir, "error.json")); err != nil {
					t.Error(err)
				}
			}
			if d.Remove != nil {
				if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
			if list, err := os.ReadDir(r.Work); err != nil || len(list) > 0 {
				t.Errorf("it leaves %v, %v", list, err)
			}
		})
	}
}

// A command gets the flags of its unit and of its worker, and runs on the processors of its slot.
func TestArguments(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	r := &Runner{Program: program(t, `echo "$@" > `+log+`
grep Cpus_allowed_list /proc/self/status >> `+log), Work: t.TempDir(), Guest: "/guest",
		CPUs: [][]int{{0}, {1}}}
	one := task()
	one.Slot = 1
	if _, err := r.Run(t.Context(), one); err == nil {
		t.Error("a command without a result has one")
	}
	text, err := os.ReadFile(log)
	want := "explore b3 --fs=ext3 --set=seq-1 --range=0-9 --json --out="
	if err != nil || !strings.HasPrefix(string(text), want) ||
		!strings.Contains(string(text), "--guest=/guest") || !strings.HasSuffix(string(text), ":\t1\n") {
		t.Errorf("%s, %v", text, err)
	}
}

// A command ends when it is asked to.
// A kind with a program of its own is run by that program, in the folder of fsward.
func TestOtherProgram(t *testing.T) {
	d := campaign.NewDefinition("a", "matrix")
	d.Flags = []campaign.Flag{{Name: "fs", Value: "ext3"}}
	d.Last, d.Unit = 9, 10
	task := campaign.Task{Definition: &d, Unit: campaign.Unit{Digest: d.Digest(), To: 9}}
	r := &Runner{Program: program(t, "exit 2"), Work: t.TempDir(), Guest: "/guest"}
	if _, err := r.Run(t.Context(), task); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the program: %v", err)
	}
	matrix := filepath.Join(filepath.Dir(r.Program), "fsward-matrix")
	script := `#!/bin/sh
[ "$1 $2" = "--fs=ext3 --range=0-9" ] || exit 2
echo '{"event":"finding","kind":"missed","group":"superblock","damage":"a","detail":"b"}'
echo '{"event":"tested","complete":true}'
exit 1`
	if err := os.WriteFile(matrix, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	want := []campaign.Found{{Kind: "missed", Property: "superblock", Summary: "a: b", Count: 1}}
	if done, err := r.Run(t.Context(), task); err != nil || !reflect.DeepEqual(done.Findings, want) {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestStop(t *testing.T) {
	r := &Runner{Program: program(t, "exec sleep 100"), Work: t.TempDir()}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := r.Run(ctx, task()); err == nil || time.Since(began) > stopTime/2 {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestParseCPUs(t *testing.T) {
	for text, want := range map[string][][]int{"": nil, "0-3,8,9": {{0, 1, 2}, {3, 8, 9}},
		"5": {{5}, {5}}, "0-2": {{0}, {1, 2}}} {
		if got, err := ParseCPUs(text, 2); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"a", "1-", "3-1", "-1", "0-99999999", "1,,2"} {
		if got, err := ParseCPUs(text, 2); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Versions that were not released differ if the programs do; guests differ if their kernels do.
func TestVersions(t *testing.T) {
	a, b := program(t, "a"), program(t, "b")
	one, err1 := Build("devel", a)
	other, err2 := Build("devel", b)
	released, err3 := Build("1.2", b)
	if err := errors.Join(err1, err2, err3); err != nil || one == other || released != "1.2" {
		t.Errorf("%q, %q, %q, %v", one, other, released, err)
	}
	if _, err := GuestVersion(t.TempDir()); err == nil {
		t.Error("a folder without a guest has one")
	}
}
