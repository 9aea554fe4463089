package component

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
	"fsward/explore/model"
)

// TestShipped: each shipped kind has the necessary keys, and the shell can parse its commands.
func TestShipped(t *testing.T) {
	if n := len(Names()); n < 15 {
		t.Errorf("only %d kinds are shipped: %v", n, Names())
	}
	for _, name := range Names() {
		k, err := Load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if k.Name != name || k.Doc == "" || k.Init == "" {
			t.Errorf("%s: name %q, doc %q, init %q", name, k.Name, k.Doc, k.Init)
		}
		for _, line := range []string{k.Init, k.Mount, k.Unmount, k.Recover, k.Repair, k.Verify} {
			if out, err := exec.Command("sh", "-n", "-c", line).CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v: %s", name, line, err, out)
			}
		}
		if !slices.Contains([]model.Data{model.Anything, model.Zeros, model.Versions}, k.Promises.Data) {
			t.Errorf("%s: data %q", name, k.Promises.Data)
		}
	}
}

// TestIn: In decides by the release of the kernel.
func TestIn(t *testing.T) {
	releases := []string{"6.1.0-56-cloud-amd64", "6.1.0-56-amd64", "6.12.117+deb12-cloud-amd64"}
	for kernels, want := range map[string][3]bool{
		"":        {true, true, true},
		generic:   {false, true, false},
		linux6_12: {false, false, true},
		nowhere:   {},
	} {
		for i, release := range releases {
			if k := (&Kind{Kernels: kernels}); k.In(release) != want[i] {
				t.Errorf("%q in %s: %t", kernels, release, !want[i])
			}
		}
	}
}

// TestLoadUserFile: Load reads a user's file, and its errors name the cause.
func TestLoadUserFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	for _, c := range []struct{ text, wrong string }{
		{"type: mine\npromises: {ordered: true}\nweaker:\n  lazy: {ordered: false}\n", ""},
		{"doc: nothing\n", "either type"},
		{"type: x\nmuont: y\n", "muont"},
		{"mount: x\n", "either type"},
		{"mount: x\nunmount: y\ntype: z\n", "either type"},
		{"type: x\npromises: {odrered: true}\n", "odrered"},
		{"mount: [", "yaml"},
		{"type: x\nkernels: 6.13\n", "6.13"},
		{"type: x\npromises: {own: [\"[a\"]}\n", "own"},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		k, err := Load(file)
		if (c.wrong == "") != (err == nil) ||
			err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q gives %v, want %q", c.text, err, c.wrong)
		}
		if err != nil {
			continue
		}
		for mount, want := range map[string]model.Promises{
			"":             {Ordered: true},
			"noatime,lazy": {},
			"sync":         {Ordered: true, Sync: true},
			"lazy,dirsync": {Dirsync: true},
		} {
			p, err := k.With(mount)
			if d := cmp.Diff(want, p); d != "" || err != nil {
				t.Errorf("mounted with %q: %v\n%s", mount, err, d)
			}
		}
		if k.Name != "mine" || k.Type != "mine" {
			t.Errorf("name %q, type %q", k.Name, k.Type)
		}
	}
	if _, err := Load("ext5"); err == nil || !strings.Contains(err.Error(), "btrfs") {
		t.Errorf("an unknown kind gives %v", err)
	}
}

// commandKind has a command for each operation.
const commandKind = `
init: mk $MKFS_OPTIONS $DEVICES
mount: mount $OPTIONS
unmount: umount $AT
recover: fsck
recovered: [0, 1]
repair: all
verify: look
threads: ["x/$NAME*", y]
`

// TestCommands: a component passes its devices and options to its commands, and checks their exit
// statuses.
func TestCommands(t *testing.T) {
	k, err := parse([]byte(commandKind))
	if err != nil {
		t.Fatal(err)
	}
	var ran []agent.Command
	status := 0
	s := exploretest.New()
	s.Programs["sh"] = func(_ *exploretest.System, c agent.Command) (agent.Exit, error) {
		ran = append(ran, c)
		return agent.Exit{Code: status, Stdout: []byte("12 345\n")}, nil
	}
	var closed []uint32
	s.Perform = func(_ *exploretest.System, o agent.Op) agent.Result {
		if slot, _, _, _ := o.Fields(); o.Code == agent.Close(slot).Code {
			closed = append(closed, slot)
			return agent.Result{Errno: unix.EBADF}
		}
		return agent.Result{Errno: unix.EEXIST} // mkdir
	}
	e := explore.NewEnv(t.Context(), s, new(explore.Chooser))
	c, err := k.New("/mnt/a", Options{Mount: "sync,x", Mkfs: "-b 1024"},
		explore.RAMDisk(0, 4096), explore.RAMDisk(1, 4096))
	if err != nil {
		t.Fatal(err)
	}
	if !c.Promises.Sync {
		t.Error("the mount option sync adds no promise")
	}
	for _, f := range []func(*explore.Env) error{
		c.Init, c.Mount, c.Unmount, c.Recover, c.Repair, c.Verify,
	} {
		if err := f(e); err != nil {
			t.Error(err)
		}
	}
	if want := []uint32{56, 57, 58, 59, 60, 61, 62, 63}; !slices.Equal(closed, want) {
		t.Errorf("before the unmount the slots %v are closed, want %v", closed, want)
	}
	none := &Component{Kind: &Kind{Recover: "fsck", Verify: "look"}}
	if !c.Repairs() || none.Repairs() {
		t.Errorf("Repairs is %t with a command, %t without", c.Repairs(), none.Repairs())
	}
	threads, err := c.Threads(e)
	if err != nil || !slices.Equal(threads, []uint32{12, 345}) {
		t.Errorf("threads %v, %v", threads, err)
	}
	checkCommands(t, ran)
	for code, ok := range map[int]bool{0: true, 1: true, 2: false} {
		status = code
		checkStatus(t, e, c, code, ok)
	}
}

// checkCommands checks the commands of the six phases of commandKind, and their environment.
func checkCommands(t *testing.T, ran []agent.Command) {
	t.Helper()
	var lines []string
	for _, r := range ran {
		lines = append(lines, r.Args[2])
	}
	want := []string{
		"mk $MKFS_OPTIONS $DEVICES", "mount $OPTIONS", "umount $AT", "fsck", "all", "look",
	}
	if d := cmp.Diff(want, lines[:6]); d != "" {
		t.Error(d)
	}
	env := []string{
		"DEVICE=/dev/fswrd0", "DEVICES=/dev/fswrd0 /dev/fswrd1", "COUNT=2", "AT=/mnt/a",
		"NAME=fswrd0", "OPTIONS=sync,x", "MKFS_OPTIONS=-b 1024",
	}
	if d := cmp.Diff(env, ran[0].Env); d != "" {
		t.Error(d)
	}
}

// checkStatus checks whether an exit status of the commands is an error. recovers reports whether
// recover and repair accept it.
func checkStatus(t *testing.T, e *explore.Env, c *Component, code int, recovers bool) {
	t.Helper()
	if err := c.Recover(e); (err == nil) != recovers {
		t.Errorf("recover ends with %d: %v", code, err)
	}
	if err := c.Repair(e); (err == nil) != recovers {
		t.Errorf("repair ends with %d: %v", code, err)
	}
	if err := c.Mount(e); (err == nil) != (code == 0) {
		t.Errorf("mount ends with %d: %v", code, err)
	}
}

// TestPasses: a layer over a file system has its promises, without what either of them lacks.
func TestPasses(t *testing.T) {
	over, err := parse([]byte("type: over\npasses: true\n" +
		"promises: {own: [o], no_links: true, features: [nodes, acl]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	below := &Component{Kind: &Kind{}, Promises: model.Promises{Ordered: true, Data: model.Versions,
		NoXattrs: true, Own: []string{"lost"}, Features: []model.Feature{model.Nodes, model.Tmpfile}}}
	for _, c := range []struct {
		on   explore.Component
		want model.Promises
	}{
		{below, model.Promises{Ordered: true, Data: model.Versions, Sync: true, NoLinks: true,
			NoXattrs: true, Own: []string{"o"}, Features: []model.Feature{model.Nodes}}},
		{explore.RAMDisk(0, 4096), model.Promises{Sync: true, NoLinks: true, Own: []string{"o"},
			Features: []model.Feature{model.Nodes, model.ACL}}},
	} {
		got, err := over.New("/mnt/a", Options{Mount: "sync"}, c.on)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, got.Promises); d != "" {
			t.Error(d)
		}
	}
	if len(below.Promises.Features) != 2 || below.Promises.Sync {
		t.Errorf("the promises below have changed: %+v", below.Promises)
	}
}

// TestRepairs checks that the repairs of an fsck are distinguished from its routine output.
func TestRepairs(t *testing.T) {
	const passes = "Pass 1: Checking inodes, blocks, and sizes\nPass 5: Checking group summary\n"
	const end = "\n/dev/fswrd0: ***** FILE SYSTEM WAS MODIFIED *****\ne2fsck 1.47.0 (5-Feb-2023)\n"
	for out, want := range map[string]string{
		passes + end: "",
		passes + "Free inodes count wrong (4085, counted=4084).\nFix? yes\n" + end: "Free inodes count " +
			"wrong (4085, counted=4084).",
		"fsck.fat 4.2\nFATs differ. Using first FAT.\n": "FATs differ. Using first FAT.",
		"fsck.fat 4.2 (2021-01-31)\nDirty bit is set. Fs was not properly unmounted and some data may " +
			"be corrupt.\n Automatically removing dirty bit.\n\n*** Filesystem was changed ***\n" +
			"Writing changes.\n/dev/fswrd0: 2 files, 6/8167 clusters\n": "",
		"fsck.fat 4.2\n/nb\n  Start does point to root directory. Deleting dir.\n": "Start does point " +
			"to root directory. Deleting dir.",
	} {
		if got := repairs(out); got != want {
			t.Errorf("%q: %q, want %q", out, got, want)
		}
	}
}

// A recovery that repairs much does not fill the summary of its surprise.
func TestFirstLines(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb":       "a\nb",
		"a\nb\nc\nd": "a\nb\nlines left out: 2",
	} {
		if got := firstLines(text, 2); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
