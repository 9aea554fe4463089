//go:build vmtest

package host

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/component"
)

// TestGuestFileSystems makes, mounts and writes every file system of the explorer's guest. The file
// system must be sound, and hold what was written when it is mounted again. Its fsck must report a
// disk that was overwritten. A kernel without the file system must fail to mount it with ENODEV.
func TestGuestFileSystems(t *testing.T) {
	r := newExplorerRig(t, 192)
	t.Logf("memory: %s", strings.Join(strings.Fields(r.sh(t,
		"head -n 3 /proc/meminfo; mkdir -p /mnt/fs")), " "))
	for _, k := range fileSystems(t) {
		t.Run(k.Name, func(t *testing.T) { r.fileSystem(t, k) })
	}
}

// fileSystems returns the components that are one file system on one disk.
func fileSystems(t *testing.T) (out []*component.Kind) {
	t.Helper()
	for _, name := range component.Names() {
		k, err := component.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if k.Type != "" {
			out = append(out, k)
		}
	}
	return out
}

// fsDevice is the RAM disk that file systems are made on.
const fsDevice = "/dev/fswrd2"

// command runs a shell command of a component on that disk and returns how it ended.
func (r *explorerRig) command(t *testing.T, line string) agent.Exit {
	t.Helper()
	e, err := r.Run(r.ctx, agent.Command{Args: []string{"sh", "-c", line},
		Env: []string{"DEVICE=" + fsDevice, "DEVICES=" + fsDevice}, Timeout: 2 * time.Minute})
	if err != nil || e.TimedOut {
		t.Fatalf("%s: %v; %+v", line, err, e)
	}
	return e
}

// fsDir is where file systems are mounted.
const fsDir = "/mnt/fs"

// fileSystem tests one file system.
func (r *explorerRig) fileSystem(t *testing.T, f *component.Kind) {
	begin := time.Now()
	r.ok(t, agent.DiskMake(2, f.Bytes))
	defer r.ok(t, agent.DiskRemove(2))
	made := r.command(t, f.Init)
	mount := agent.Mount(fsDevice, fsDir, f.Type, 0, f.Options)
	if !f.In(r.Hello().Release) {
		if d := r.ops(t, mount); d.Results[0].Errno != unix.ENODEV {
			t.Errorf("the component says that the kernel lacks it, and mounting gives %v",
				d.Results[0].Errno)
		}
		t.Log("not in this kernel")
		return
	}
	if made.Code != 0 {
		t.Fatalf("%s: status %d\n%s%s", f.Init, made.Code, made.Stdout, made.Stderr)
	}
	ops := append([]agent.Op{mount}, writeFiles(f)...)
	n := len(ops)
	d := r.ok(t, append(ops, agent.Tree(fsDir), agent.Unmount(fsDir, 0))...)
	want := contents(t, d.Results[n].Data)
	r.fsck(t, f)
	d = r.ok(t, agent.DropCaches(), agent.Mount(fsDevice, fsDir, f.Type, unix.MS_RDONLY, f.Options),
		agent.Tree(fsDir), agent.Unmount(fsDir, 0))
	got := contents(t, d.Results[2].Data)
	files := 4
	if !f.Flat {
		files++
	}
	if diff := gocmp.Diff(want, got); diff != "" || len(got) < files {
		t.Errorf("mounted again, it holds (-written +read)\n%s", diff)
	}
	t.Logf("made, written to, checked and read in %.1f s", time.Since(begin).Seconds())
	if f.Verify == "" {
		return
	}
	r.sh(t, "dd if=/dev/urandom of="+fsDevice+" bs=64k count=32 conv=notrunc 2>/dev/null")
	if e := r.command(t, f.Verify); e.Code == 0 {
		t.Errorf("%s does not report that the first 2 MiB of the disk were overwritten\n%s%s", f.Verify,
			e.Stdout, e.Stderr)
	}
}

// writeFiles returns operations that write files of several sizes, one with a name of the greatest
// length, and sync them.
func writeFiles(f *component.Kind) (ops []agent.Op) {
	long := f.Names
	if long == 0 {
		long = 255
	}
	sub := fsDir + "/sub"
	if f.Flat {
		sub = fsDir
	} else {
		ops = append(ops, agent.Mkdir(sub, 0o755), agent.Mkdir(sub+"/gone", 0o755),
			agent.Rmdir(sub+"/gone"))
	}
	for i, size := range []uint32{0, 100, 5000, 70_000} {
		name := fmt.Sprintf("%s/f%d", sub, i)
		ops = append(ops, agent.Open(0, name, unix.O_CREAT|unix.O_RDWR, 0o644),
			agent.Fill(0, 0, size, uint64(i)))
		if !f.Flat {
			ops = append(ops, agent.Fsync(0))
		}
		ops = append(ops, agent.Close(0))
	}
	return append(ops, agent.Rename(sub+"/f1", sub+"/"+strings.Repeat("n", long), 0),
		agent.Truncate(sub+"/f3", 30_000), agent.Sync())
}

// fsck checks that the tools of a file system find the unmounted disk sound.
func (r *explorerRig) fsck(t *testing.T, f *component.Kind) {
	t.Helper()
	if f.Verify == "" {
		t.Log("the file system has no fsck")
	} else if e := r.command(t, f.Verify); e.Code != 0 {
		t.Errorf("%s: status %d\n%s%s", f.Verify, e.Code, e.Stdout, e.Stderr)
	}
	if f.Repair != "" {
		if e := r.command(t, f.Repair); e.Code > 1 {
			t.Errorf("%s: status %d\n%s%s", f.Repair, e.Code, e.Stdout, e.Stderr)
		}
	}
}

// contents describes the regular files and folders of a tree, without the attributes that a file
// system may choose.
func contents(t *testing.T, data []byte) (out []string) {
	t.Helper()
	tree, err := agent.DecodeTree(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tree {
		e := &tree[i]
		switch {
		case e.Errno != 0:
			t.Errorf("%s cannot be read: %v", e.Path, e.Errno)
		case e.Mode&unix.S_IFMT == unix.S_IFREG:
			out = append(out, fmt.Sprintf("%s %d %x", e.Path, e.Size, e.Sum))
		default:
			out = append(out, fmt.Sprintf("%s %o", e.Path, e.Mode&unix.S_IFMT))
		}
	}
	return out
}
