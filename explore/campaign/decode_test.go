package campaign

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// What does not have the exact form is refused.
func TestRefused(t *testing.T) {
	good := testDefinition("a", 100, 10)
	alter := func(f func(*Definition)) *Definition {
		d := good
		d.Flags = append([]Flag(nil), good.Flags...)
		f(&d)
		return &d
	}
	swarm := func(f func(*Definition)) *Definition {
		d := NewDefinition("a", "explore")
		d.Axes = []Axis{{"fs", []string{"ext3", "btrfs"}}, {"seed", []string{"1", "2", "3"}}}
		d.Last = 5
		f(&d)
		return &d
	}
	one := Axis{"seed", []string{"1"}}
	for want, d := range map[string]*Definition{
		"":                           alter(func(*Definition) {}),
		"form 2":                     alter(func(d *Definition) { d.Schema = 2 }),
		"not a name":                 alter(func(d *Definition) { d.Name = "a.b" }),
		"no kind":                    alter(func(d *Definition) { d.Kind = "sh" }),
		"the indexes":                alter(func(d *Definition) { d.Last = 1 << 50 }),
		"units of 0":                 alter(func(d *Definition) { d.Unit = 0 }),
		"make them larger":           alter(func(d *Definition) { d.Last, d.Unit = 1<<30, 1 }),
		"--out is not":               alter(func(d *Definition) { d.Flags[0] = Flag{"out", "/etc"} }),
		"--workload is not":          alter(func(d *Definition) { d.Flags[0].Name = "workload" }),
		"--set=\"/etc/passwd\"":      alter(func(d *Definition) { d.Flags[1].Value = "/etc/passwd" }),
		"--set=\"own.yaml\"":         alter(func(d *Definition) { d.Flags[1].Value = "own.yaml" }),
		"--fs=\"ext3\\n\"":           alter(func(d *Definition) { d.Flags[0].Value = "ext3\n" }),
		"the command takes none":     alter(func(d *Definition) { d.Flags[0].Name = "" }),
		"--set is missing":           alter(func(d *Definition) { d.Flags = d.Flags[:1] }),
		"has no axes":                alter(func(d *Definition) { d.Axes = []Axis{one} }),
		"the character U+001B":       alter(func(d *Definition) { d.Build = "\x1b]0;x\a" }),
		"of 6 combinations":          swarm(func(d *Definition) { d.Last = 6 }),
		"0 values of --seed":         swarm(func(d *Definition) { d.Axes[1].Values = nil }),
		"--seed=\"-1\" is not":       swarm(func(d *Definition) { d.Axes[1].Values[0] = "-1" }),
		"--fs or --stack is missing": swarm(func(d *Definition) { d.Axes[0] = one; d.Last = 2 }),
	} {
		err := d.Check()
		if err == nil && want == "" || err != nil && want != "" && strings.Contains(err.Error(), want) {
			continue
		}
		t.Errorf("%q: %v", want, err)
	}
	for _, text := range []string{`{"campaign":"0123456789abcdef","from":0,"to":1,"x":1}`,
		`{"campaign":"0123456789abcdef","from":0,"to":1}{}`,
		`{"campaign":"0123456789abcdef","from":2,"to":1}`,
		`{"campaign":"0123456789abcdef","from":-1,"to":1}`, `{}`, `null`, ``,
		`{"campaign":"0123456789abcdef","from":0,"to":` + strings.Repeat(" ", maxMessage) + `1}`} {
		if decode([]byte(text), new(Unit)) == nil {
			t.Errorf("%.80s is accepted", text)
		}
	}
}

// A combination of the axes' values has the index that its digits make.
func TestArgs(t *testing.T) {
	d := NewDefinition("a", "explore")
	d.Flags = []Flag{{"checker", "sync"}, {"guarded", "true"}}
	d.Axes = []Axis{{"fs", []string{"ext3", "btrfs"}}, {"seed", []string{"1", "2", "3"}}}
	d.Last = Combinations(d.Axes) - 1
	got, err := d.Args(Unit{d.Digest(), 4, 4}, "", "--out=x")
	want := "explore run --checker=sync --guarded=true --fs=btrfs --seed=2 --out=x"
	if err != nil || strings.Join(got, " ") != want || d.Check() != nil {
		t.Errorf("%q, want %q; %v, %v", got, want, err, d.Check())
	}
	if scope, err := d.Scope(Unit{d.Digest(), 4, 4}); scope != "--checker=sync --fs=btrfs" {
		t.Errorf("%q, %v", scope, err)
	}
	d = NewDefinition("a", "survey")
	d.Axes = []Axis{{"", []string{"ext3", "vfat"}}}
	d.Last = 1
	if got, err = d.Args(Unit{d.Digest(), 1, 1}, "", "--out=x"); err != nil || d.Check() != nil ||
		strings.Join(got, " ") != "explore survey --out=x vfat" {
		t.Errorf("%q, %v, %v", got, err, d.Check())
	}
	b3 := testDefinition("b", 100, 64)
	if got, _ = b3.Args(Unit{b3.Digest(), 64, 99}, ""); strings.Join(got, " ") !=
		"explore b3 --fs=ext3 --set=seq-1 --range=64-99" {
		t.Errorf("%q", got)
	}
}

// TestFiles checks that a campaign carries a file, which a unit finds in its folder, and that it
// has exactly the files that its flags name.
func TestFiles(t *testing.T) {
	dir, text := t.TempDir(), "length: 1\n"
	own := filepath.Join(dir, "own.yaml")
	if err := os.WriteFile(own, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d := testDefinition("b", 10, 10)
	d.Flags = []Flag{{"fs", "ext3"}, {"set", own}}
	if d.Check() == nil {
		t.Error("a path is a value")
	}
	if err := errors.Join(d.Carry(0), d.Carry(1), d.Check()); err != nil || len(d.Files) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	unit := t.TempDir()
	err := d.WriteFiles(unit)
	args, argsErr := d.Args(Unit{d.Digest(), 0, 9}, unit)
	if err != nil || argsErr != nil {
		t.Fatal(err, argsErr)
	}
	path := strings.TrimPrefix(args[3], "--set=")
	if is, err := os.ReadFile(path); err != nil || string(is) != text {
		t.Errorf("%v: %q, %v", args, is, err)
	}
	for name, change := range map[string]func(*Definition){
		"another text": func(d *Definition) { d.Files[0].Text += " " },
		"no file":      func(d *Definition) { d.Files = nil },
		"nobody's":     func(d *Definition) { d.Files = append(d.Files, NewFile("x")) },
		"twice":        func(d *Definition) { d.Files = append(d.Files, d.Files[0]) },
		"a path":       func(d *Definition) { d.Files[0].Name = "file-../x" },
		"escape":       func(d *Definition) { *d = withFile(*d, "\x1b[2J") },
		"too large":    func(d *Definition) { *d = withFile(*d, strings.Repeat("x", maxCarried+1)) },
	} {
		bad := withFile(d, text)
		if change(&bad); bad.Check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	other := withFile(d, text)
	other.Kind, other.Flags[0] = "fsck", Flag{"fs", "ext3"}
	if other.Check() == nil {
		t.Error("a kind without files carries one")
	}
}

// withFile returns a definition whose flag set names a file with a text.
func withFile(d Definition, text string) Definition {
	d.Files = []File{NewFile(text)}
	d.Flags = []Flag{{"fs", "ext3"}, {"set", d.Files[0].Name}}
	return d
}

// TestPrograms checks that the names of repair programs are values, and files are not.
func TestPrograms(t *testing.T) {
	k, err := KindOf("fsck")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]bool{"e2fsck": true, "fsck.minix": true, "xfs_repair": true,
		"my.yaml": false, "../e2fsck": false, "/sbin/e2fsck": false, "fsck.a.yaml": false, "": false} {
		if err := k.checkFlag("program", value); (err == nil) != want {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// archive returns an archive as pack writes it, of any headers.
func archive(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, zeros{}, h.Size); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// An archive with a path out of its folder, with links, or with too much is refused.
func TestUnpackRefuses(t *testing.T) {
	file := func(name string) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: 1}
	}
	many := make([]tar.Header, maxFiles+1)
	for i := range many {
		many[i] = file("f" + string(rune('a'+i%26)) + strings.Repeat("x", i/26))
	}
	for name, b := range map[string][]byte{
		"up":       archive(t, file("../x")),
		"inside":   archive(t, file("a/../../x")),
		"absolute": archive(t, file("/tmp/x")),
		"hidden":   archive(t, file(".bashrc")),
		"dot":      archive(t, file("./x")),
		"link":     archive(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "/etc"}),
		"hard":     archive(t, file("a"), tar.Header{Typeflag: tar.TypeLink, Name: "b", Linkname: "a"}),
		"folder":   archive(t, tar.Header{Typeflag: tar.TypeDir, Name: "a/"}),
		"twice":    archive(t, file("a"), file("a")),
		"below":    archive(t, file("a"), file("a/b")),
		"bomb":     archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: maxBytes + 1}),
		"many":     archive(t, many...),
		"cut":      archive(t, file("a"), file("b"), file("c"))[:50],
		"escape":   archive(t, file("a\x1b[2J")),
		"nothing":  {},
		"no zstd":  []byte("PK\x03\x04"),
	} {
		above := t.TempDir()
		err := unpack(bytes.NewReader(b), filepath.Join(above, "in", "found"))
		list, readErr := os.ReadDir(above)
		if name == "nothing" {
			continue // an empty archive has no files
		}
		if err == nil || readErr != nil || len(list) > 1 {
			t.Errorf("%s: %v; %v, %v", name, err, list, readErr)
		}
	}
}

// What is packed is unpacked; what exceeds the bounds, or has a name that is refused, is left out
// and named.
func TestPack(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	for name, size := range map[string]int64{"error.json": 10, "guest/log.txt": 5, ".hidden": 1,
		"disk0.base.zst": maxBytes} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	note, err := pack(&b, dir)
	if err != nil || note != "left out: .hidden, disk0.base.zst" {
		t.Errorf("%q, %v", note, err)
	}
	if err := unpack(&b, out); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int64{"error.json": 10, "guest/log.txt": 5} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() != size {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A folder that has the files already, or some of them, gets the rest. A file with other bytes is
// an error and stays.
func TestUnpackAgain(t *testing.T) {
	out := t.TempDir()
	b := archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: 3},
		tar.Header{Typeflag: tar.TypeReg, Name: "b/c", Size: 3},
		tar.Header{Typeflag: tar.TypeReg, Name: "empty"})
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("own", "x")
	write(partName, "what a process that was killed left")
	for i := range 3 {
		if err := unpack(bytes.NewReader(b), out); err != nil {
			t.Errorf("time %d: %v", i, err)
		}
		list, err := os.ReadDir(out)
		if err != nil || len(list) != 4 { // a, b, empty, own
			t.Errorf("time %d: %v, %v", i, list, err)
		}
		text, err := os.ReadFile(filepath.Join(out, "b", "c"))
		if err != nil || string(text) != "\x00\x00\x00" {
			t.Errorf("time %d: %q, %v", i, text, err)
		}
		if err := os.Remove(filepath.Join(out, "a")); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "abc")
	err := unpack(bytes.NewReader(b), out)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(out, "a")) {
		t.Errorf("another file: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "a")); err != nil || string(text) != "abc" {
		t.Errorf("the other file: %q, %v", text, err)
	}
}

// What decode accepts has the same meaning when it is encoded again, and harms nobody.
func FuzzDecode(f *testing.F) {
	d := testDefinition("a", 100, 10)
	finding := Finding{Kind: "lost", Unit: "0-9", Summary: "x"}
	finding.Key = finding.key()
	finding.Object = objectName(finding.Unit, finding.Key)
	carries := d
	carries.Files = []File{NewFile("length: 1\n")}
	carries.Flags = []Flag{{"fs", "ext3"}, {"set", carries.Files[0].Name}}
	for _, v := range []checked{&d, &carries,
		&Record{Definition: d, State: Running, Made: "2026-11-26T12:00:00Z"},
		&Unit{d.Digest(), 0, 9}, &finding, &attempt{1, "x"},
		&Result{Unit: Unit{d.Digest(), 0, 9}, Outcome: Tested, Findings: []Count{{finding.Key, 2}}}} {
		text, err := encode(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, v := range []checked{new(Definition), new(Record), new(Unit), new(Result), new(Finding),
			new(attempt)} {
			if decode(text, v) != nil {
				continue
			}
			again, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			other, _ := reflect.New(reflect.TypeOf(v).Elem()).Interface().(checked)
			if len(again) > maxMessage {
				continue // escapes are longer
			}
			if err := decode(again, other); err != nil {
				t.Errorf("%s is accepted, and %s is not: %v", text, again, err)
			}
			d, ok := v.(*Definition)
			if !ok {
				continue
			}
			args, err := d.Args(Unit{d.Digest(), d.First, d.First}, "/dir")
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range args[2:] {
				a = strings.Replace(a, "=/dir/", "=", 1) // a file
				if strings.ContainsAny(a, "\n\x00/\\'\"$`;&") {
					t.Errorf("the argument %q", a)
				}
			}
		}
	})
}

// An archive writes nothing outside its folder.
func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeReg, Name: "a/b", Size: 3}))
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeReg, Name: "../b", Size: 3}))
	f.Fuzz(func(t *testing.T, b []byte) {
		above := t.TempDir()
		_ = unpack(bytes.NewReader(b), filepath.Join(above, "found")) // it may be refused
		list, err := os.ReadDir(above)
		if err != nil || len(list) > 1 {
			t.Errorf("%v, %v", list, err)
		}
	})
}
