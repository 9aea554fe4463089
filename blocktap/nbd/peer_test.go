package nbd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fsward/blocktap"
)

func TestNbdinfo(t *testing.T) {
	image := newImage(t)
	f, err := os.OpenFile(image, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 1<<20), 2<<20); err != nil { // zeros, but allocated
		t.Fatal(err)
	}
	f.Close()
	dev := blocktap.NewDevice(openDisk(t, image), nil)
	s := serve(t,
		Export{Name: "disk", Device: dev, Description: "the first"},
		Export{Name: "archive", Device: dev, ReadOnly: true})

	var got struct {
		Exports []struct {
			Name           string `json:"export-name"`
			Description    string
			Size           uint64 `json:"export-size"`
			ReadOnly       bool   `json:"is_read_only"`
			Flush          bool   `json:"can_flush"`
			FUA            bool   `json:"can_fua"`
			Trim           bool   `json:"can_trim"`
			Zero           bool   `json:"can_zero"`
			FastZero       bool   `json:"can_fast_zero"`
			MultiConn      bool   `json:"can_multi_conn"`
			DF             bool   `json:"can_df"`
			BlockMin       int    `json:"block_size_minimum"`
			BlockMax       int    `json:"block_size_maximum"`
			BlockPreferred int    `json:"block_size_preferred"`
			Contexts       []string
		}
	}
	if err := json.Unmarshal([]byte(mustPeer(t, "nbdinfo", "--json", "--list", s.uri(""))), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Exports) != 2 {
		t.Fatalf("exports: %+v", got)
	}
	for i, e := range got.Exports {
		ro := i == 1
		if e.Name != [2]string{"disk", "archive"}[i] || e.Size != diskSize || e.ReadOnly != ro || !e.Flush || !e.FUA ||
			e.Trim == ro || e.Zero == ro || e.FastZero || !e.MultiConn || !e.DF ||
			e.BlockMin != 512 || e.BlockPreferred != 4096 || e.BlockMax != 32<<20 ||
			len(e.Contexts) != 1 || e.Contexts[0] != "base:allocation" {
			t.Errorf("export %d: %+v", i, e)
		}
	}
	if got.Exports[0].Description != "the first" {
		t.Errorf("description %q", got.Exports[0].Description)
	}

	lines := strings.Split(strings.TrimSpace(mustPeer(t, "nbdinfo", "--map", s.uri("disk"))), "\n")
	want := []string{"0 2097152 3 hole,zero", "2097152 1048576 0 data", "3145728 63963136 3 hole,zero"}
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("map:\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if out, err := peer(t, "nbdinfo", s.uri("nothing")); err == nil || !strings.Contains(out, "nothing") {
		t.Errorf("unknown export: %v\n%s", err, out)
	}
	if out := mustPeer(t, "nbdinfo", "--size", s.uri("")); strings.TrimSpace(out) != "67108864" {
		t.Errorf("the default export: %s", out)
	}
}

func TestNbdcopyBothWays(t *testing.T) {
	s, path := serveDisk(t, nil)
	source := filepath.Join(t.TempDir(), "source")
	mustPeer(t, "sh", "-c", "head -c 20M /dev/urandom >"+source+" && truncate -s 64M "+source)
	mustPeer(t, "nbdcopy", source, s.uri("disk"))
	mustPeer(t, "cmp", source, path)
	copied := filepath.Join(t.TempDir(), "copied")
	mustPeer(t, "nbdcopy", "--connections=4", s.uri("disk"), copied)
	mustPeer(t, "cmp", source, copied)
	if w := s.warnings(); w != "" {
		t.Errorf("warnings:\n%s", w)
	}
}

func TestQemuIO(t *testing.T) {
	s, path := serveDisk(t, nil)
	out := mustPeer(t, "qemu-io", "-f", "raw", "-d", "unmap",
		"-c", "write -P 0xab 0 1M", "-c", "write -P 0xcd 3000 700", "-c", "write -f -P 0xef 2M 64k", "-c", "flush",
		"-c", "read -P 0xcd 3000 700", "-c", "read -P 0xab 4096 64k",
		"-c", "write -z 64k 64k", "-c", "read -P 0 64k 64k", "-c", "read -P 0xab 128k 4k",
		"-c", "write -z -u 512k 64k", "-c", "read -P 0 512k 64k",
		"-c", "discard 256k 128k", "-c", "read 256k 128k",
		"-c", "write -P 0x11 67108352 512", "-c", "read -P 0x11 67108352 512",
		s.uri("disk"))
	if strings.Contains(out, "rror") || strings.Contains(out, "failed") || strings.Contains(out, "differs") {
		t.Errorf("%s", out)
	}
	b, err := os.ReadFile(path)
	if err != nil || b[0] != 0xab || b[3000] != 0xcd || b[2<<20] != 0xef || b[64<<10] != 0 || b[diskSize-1] != 0x11 {
		t.Errorf("the disk does not hold what was written: %v", err)
	}
	if w := s.warnings(); w != "" {
		t.Errorf("warnings:\n%s", w)
	}
}

// TestNoHole: with NO_HOLE the space of what is made zeros stays reserved, without it not.
func TestNoHole(t *testing.T) {
	var mu sync.Mutex
	var noHole []bool
	s, _ := serveDisk(t, hookFunc(func(_ context.Context, r *blocktap.Request, do func() error) error {
		if r.Op == blocktap.OpZero {
			mu.Lock()
			noHole = append(noHole, r.NoHole)
			mu.Unlock()
		}
		return do()
	}))
	mustPeer(t, "qemu-io", "-f", "raw", "-d", "unmap", "-c", "write -z 0 64k", "-c", "write -z -u 0 64k", s.uri("disk"))
	mu.Lock()
	defer mu.Unlock()
	if len(noHole) != 2 || !noHole[0] || noHole[1] {
		t.Errorf("NoHole of the two requests: %v", noHole)
	}
}

func TestFio(t *testing.T) {
	s, _ := serveDisk(t, nil)
	out := mustPeer(t, "fio", "--name=verify", "--ioengine=nbd", "--uri="+s.uri("disk"), "--rw=randwrite", "--bsrange=4k-128k",
		"--size=32M", "--iodepth=32", "--numjobs=1", "--verify=crc32c", "--do_verify=1", "--verify_fatal=1", "--fsync=50", "--randseed=7", "--verify_state_save=0")
	if !strings.Contains(out, "err= 0") {
		t.Errorf("%s", out)
	}
}

// TestRefused: what a hook refuses is EIO at the client, and not on the disk.
func TestRefused(t *testing.T) {
	s, path := serveDisk(t, hookFunc(func(_ context.Context, r *blocktap.Request, do func() error) error {
		if r.Off == 65536 {
			return blocktap.ErrRefused
		}
		return do()
	}))
	out, _ := peer(t, "qemu-io", "-f", "raw", "-c", "write -P 1 65536 4096", "-c", "write -P 2 0 4096", s.uri("disk"))
	if !strings.Contains(out, "write failed: Input/output error") || !strings.Contains(out, "wrote 4096/4096 bytes at offset 0") {
		t.Errorf("%s", out)
	}
	b, err := os.ReadFile(path)
	if err != nil || b[65536] != 0 || b[0] != 2 {
		t.Errorf("on the disk: %d %d, %v", b[65536], b[0], err)
	}
	if w := s.warnings(); !strings.Contains(w, "refused") && !strings.Contains(w, "request failed") {
		t.Errorf("warnings:\n%s", w)
	}
}

func TestReadOnly(t *testing.T) {
	dev := blocktap.NewDevice(openDisk(t, newImage(t)), nil)
	s := serve(t, Export{Name: "disk", Device: dev, ReadOnly: true})
	if out, err := peer(t, "qemu-io", "-f", "raw", "-c", "write 0 4096", s.uri("disk")); err == nil {
		t.Errorf("qemu opened a read-only export for writing:\n%s", out)
	}
	mustPeer(t, "qemu-io", "-r", "-f", "raw", "-c", "read -P 0 0 4096", s.uri("disk"))
}

// TestHold: reads go on, on the same connection, while a write is on hold and others queue behind it.
func TestHold(t *testing.T) {
	release := make(chan struct{})
	var holding atomic.Bool
	s, _ := serveDisk(t, hookFunc(func(_ context.Context, _ *blocktap.Request, do func() error) error {
		holding.Store(true)
		<-release
		return do()
	}))
	c := dial(t, s)
	c.connect("disk")
	for i := range 40 {
		c.request(cmdWrite, 0, uint64(100+i), 0, 4096, make([]byte, 4096))
	}
	for i := range 20 {
		c.request(cmdRead, 0, uint64(i), 0, 4096, nil)
		if cookie, e := c.simpleReply(4096); cookie != uint64(i) || e != errnoOK {
			t.Fatalf("reply to %d, errno %d, want a read's", cookie, e)
		}
	}
	c.request(cmdFlush, 0, 50, 0, 0, nil)
	if cookie, e := c.simpleReply(0); cookie != 50 || e != errnoOK {
		t.Fatalf("reply to %d, errno %d, want the flush's", cookie, e)
	}
	if !holding.Load() {
		t.Fatal("nothing was on hold")
	}
	close(release)
	for range 40 {
		if cookie, e := c.simpleReply(0); cookie < 100 || e != errnoOK {
			t.Errorf("reply to %d: errno %d", cookie, e)
		}
	}
}
