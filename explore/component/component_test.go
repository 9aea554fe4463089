package component

import (
	"net"
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

// Each kind that is shipped is whole, and its commands are shell.
func TestShipped(t *testing.T) {
	if n := len(Names()); n < 15 {
		t.Errorf("%d kinds are shipped: %v", n, Names())
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

// Which kernels have a kind is told by their release.
func TestIn(t *testing.T) {
	for kernels, want := range map[string][3]bool{"": {true, true, true}, generic: {false, true, false}, linux6_12: {false, false, true}, nowhere: {}} {
		for i, release := range []string{"6.1.0-56-cloud-amd64", "6.1.0-56-amd64", "6.12.117+deb12-cloud-amd64"} {
			if k := (&Kind{Kernels: kernels}); k.In(release) != want[i] {
				t.Errorf("%q in %s: %t", kernels, release, !want[i])
			}
		}
	}
}

// What is wrong with a file is said.
func TestLoadOfAUser(t *testing.T) {
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
		if (c.wrong == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q gives %v, want %q", c.text, err, c.wrong)
		}
		if err != nil {
			continue
		}
		for mount, want := range map[string]model.Promises{"": {Ordered: true}, "noatime,lazy": {}, "sync": {Ordered: true, Sync: true}, "lazy,dirsync": {Dirsync: true}} {
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
		t.Errorf("a kind that is not there: %v", err)
	}
}

// A component runs its commands with what it stands on, and sees how they end.
func TestCommands(t *testing.T) {
	k, err := parse([]byte("init: mk $MKFS_OPTIONS $DEVICES\nmount: mount $OPTIONS\nunmount: umount $AT\nrecover: fsck\nrecovered: [0, 1]\nrepair: all\nverify: look\nthreads: [\"x/$NAME*\", y]"))
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
	s.Perform = func(*exploretest.System, agent.Op) agent.Result { return agent.Result{Errno: unix.EEXIST} } // mkdir
	e := explore.NewEnv(t.Context(), s, new(explore.Chooser))
	c, err := k.New("/mnt/a", Options{Mount: "sync,x", Mkfs: "-b 1024"}, explore.RAMDisk(0, 4096), explore.RAMDisk(1, 4096))
	if err != nil {
		t.Fatal(err)
	}
	if !c.Promises.Sync {
		t.Error("mounted with sync, it does not promise to be")
	}
	for _, f := range []func(*explore.Env) error{c.Init, c.Mount, c.Unmount, c.Recover, c.Repair, c.Verify} {
		if err := f(e); err != nil {
			t.Error(err)
		}
	}
	if none := (&Component{Kind: &Kind{Recover: "fsck", Verify: "look"}}); !c.Repairs() || none.Repairs() {
		t.Error("it repairs if there is a command for it")
	}
	threads, err := c.Threads(e)
	if err != nil || !slices.Equal(threads, []uint32{12, 345}) {
		t.Errorf("threads %v, %v", threads, err)
	}
	var lines []string
	for _, r := range ran {
		lines = append(lines, r.Args[2])
	}
	want := []string{"mk $MKFS_OPTIONS $DEVICES", "mount $OPTIONS", "umount $AT", "fsck", "all", "look"}
	if d := cmp.Diff(want, lines[:6]); d != "" {
		t.Error(d)
	}
	env := []string{"DEVICE=/dev/fswrd0", "DEVICES=/dev/fswrd0 /dev/fswrd1", "COUNT=2", "AT=/mnt/a", "NAME=fswrd0", "OPTIONS=sync,x", "MKFS_OPTIONS=-b 1024"}
	if d := cmp.Diff(env, ran[0].Env); d != "" {
		t.Error(d)
	}
	for code, ok := range map[int]bool{0: true, 1: true, 2: false} {
		status = code
		if err := c.Recover(e); (err == nil) != ok {
			t.Errorf("recover ends with %d: %v", code, err)
		}
		if err := c.Repair(e); (err == nil) != ok {
			t.Errorf("repair ends with %d: %v", code, err)
		}
		if err := c.Mount(e); (err == nil) != (code == 0) {
			t.Errorf("mount ends with %d: %v", code, err)
		}
	}
}

// On this machine's kernel what is shipped makes, mounts, recovers and verifies a file system.
func TestOnTheHost(t *testing.T) {
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- agent.NewServer(there).Serve() }()
	client := agent.NewClient(here)
	t.Cleanup(func() {
		client.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	s := exploretest.New()
	s.Programs["sh"] = func(_ *exploretest.System, c agent.Command) (agent.Exit, error) { return client.Run(t.Context(), c) }
	s.Perform = func(_ *exploretest.System, op agent.Op) agent.Result {
		done, err := client.Do(t.Context(), agent.Batch{Ops: []agent.Op{op}, Timeout: limit})
		if err != nil || len(done.Results) != 1 {
			t.Fatalf("%v: %v", op.Code, err)
		}
		return done.Results[0]
	}
	e := explore.NewEnv(t.Context(), s, new(explore.Chooser))
	for _, name := range []string{"ext2", "ext3", "ext4", "btrfs"} {
		t.Run(name, func(t *testing.T) {
			k, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			image := filepath.Join(t.TempDir(), "image")
			if err := os.WriteFile(image, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(image, int64(k.Bytes)); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("losetup", "--find", "--show", image).CombinedOutput()
			if err != nil {
				t.Fatalf("losetup: %v: %s", err, out)
			}
			loop := &explore.Node{At: strings.TrimSpace(string(out))}
			t.Cleanup(func() {
				if out, err := exec.Command("losetup", "--detach", loop.At).CombinedOutput(); err != nil {
					t.Errorf("losetup: %v: %s", err, out)
				}
			})
			c, err := k.New(filepath.Join(t.TempDir(), "mnt"), Options{Mount: "sync,noatime"}, loop)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []func(*explore.Env) error{c.Init, c.Mount} {
				if err := f(e); err != nil {
					t.Fatal(err)
				}
			}
			var st unix.Statfs_t
			if err := unix.Statfs(c.At, &st); err != nil || st.Type != map[string]int64{"btrfs": unix.BTRFS_SUPER_MAGIC}[name] && st.Type != unix.EXT4_SUPER_MAGIC {
				t.Errorf("mounted is %#x, %v", st.Type, err)
			}
			if want := int64(unix.ST_SYNCHRONOUS | unix.ST_NOATIME); st.Flags&want != want {
				t.Errorf("mounted with flags %#x", st.Flags)
			}
			if threads, err := c.Threads(e); err != nil {
				t.Errorf("threads %v: %v", threads, err)
			}
			for _, f := range []func(*explore.Env) error{c.Unmount, c.Recover, c.Verify, c.Mount, c.Unmount} {
				if err := f(e); err != nil {
					t.Fatal(err)
				}
			}
			if journaled := name == "ext3" || name == "ext4"; c.Repairs() != journaled {
				t.Errorf("it can be recovered in two ways: %t", c.Repairs())
			} else if journaled {
				if err := c.Repair(e); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
