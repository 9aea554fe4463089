package nbd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fsward/blocktap"
)

// nbdExport is an export as nbdinfo --json describes it.
type nbdExport struct {
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

// wantExport returns the export that nbdinfo has to describe.
func wantExport(name, description string, readOnly bool) nbdExport {
	return nbdExport{
		Name:           name,
		Description:    description,
		Size:           diskSize,
		ReadOnly:       readOnly,
		Flush:          true,
		FUA:            true,
		Trim:           !readOnly,
		Zero:           !readOnly,
		FastZero:       false,
		MultiConn:      true,
		DF:             true,
		BlockMin:       512,
		BlockMax:       32 << 20,
		BlockPreferred: 4096,
		Contexts:       []string{"base:allocation"},
	}
}

func TestNbdinfo(t *testing.T) {
	image := newImage(t)
	f, err := os.OpenFile(image, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 1<<20), 2<<20); err != nil { // allocated zeros
		t.Fatal(err)
	}
	f.Close()
	dev := blocktap.NewDevice(openDisk(t, image), nil)
	s := serve(t,
		Export{Name: "disk", Device: dev, Description: "the first"},
		Export{Name: "archive", Device: dev, ReadOnly: true})

	var got struct{ Exports []nbdExport }
	list := mustPeer(t, "nbdinfo", "--json", "--list", s.uri(""))
	if err := json.Unmarshal([]byte(list), &got); err != nil {
		t.Fatal(err)
	}
	wantExports := []nbdExport{
		wantExport("disk", "the first", false), wantExport("archive", "", true),
	}
	if !reflect.DeepEqual(got.Exports, wantExports) {
		t.Errorf("exports %+v, want %+v", got.Exports, wantExports)
	}

	lines := strings.Split(strings.TrimSpace(mustPeer(t, "nbdinfo", "--map", s.uri("disk"))), "\n")
	want := []string{
		"0 2097152 3 hole,zero", "2097152 1048576 0 data", "3145728 63963136 3 hole,zero",
	}
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("map:\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	out, err := peer(t, "nbdinfo", s.uri("nothing"))
	if err == nil || !strings.Contains(out, "nothing") {
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
		"-c", "write -P 0xab 0 1M", "-c", "write -P 0xcd 3000 700",
		"-c", "write -f -P 0xef 2M 64k", "-c", "flush",
		"-c", "read -P 0xcd 3000 700", "-c", "read -P 0xab 4096 64k",
		"-c", "write -z 64k 64k", "-c", "read -P 0 64k 64k", "-c", "read -P 0xab 128k 4k",
		"-c", "write -z -u 512k 64k", "-c", "read -P 0 512k 64k",
		"-c", "discard 256k 128k", "-c", "read 256k 128k",
		"-c", "write -P 0x11 67108352 512", "-c", "read -P 0x11 67108352 512",
		s.uri("disk"))
	if strings.Contains(out, "rror") || strings.Contains(out, "failed") ||
		strings.Contains(out, "differs") {
		t.Errorf("%s", out)
	}
	b, err := os.ReadFile(path)
	if err != nil || b[0] != 0xab || b[3000] != 0xcd || b[2<<20] != 0xef || b[64<<10] != 0 ||
		b[diskSize-1] != 0x11 {
		t.Errorf("the disk does not hold the data that was written: %v", err)
	}
	if w := s.warnings(); w != "" {
		t.Errorf("warnings:\n%s", w)
	}
}

// TestNoHole checks that requests for zeros reach the device with the client's NO_HOLE flag.
func TestNoHole(t *testing.T) {
	var mu sync.Mutex
	var noHole []bool
	hook := func(_ context.Context, r *blocktap.Request, do func() error) error {
		if r.Op == blocktap.OpZero {
			mu.Lock()
			noHole = append(noHole, r.NoHole)
			mu.Unlock()
		}
		return do()
	}
	s, _ := serveDisk(t, hookFunc(hook))
	mustPeer(t, "qemu-io", "-f", "raw", "-d", "unmap",
		"-c", "write -z 0 64k", "-c", "write -z -u 0 64k", s.uri("disk"))
	mu.Lock()
	defer mu.Unlock()
	if len(noHole) != 2 || !noHole[0] || noHole[1] {
		t.Errorf("NoHole of the two requests: %v", noHole)
	}
}

func TestFio(t *testing.T) {
	s, _ := serveDisk(t, nil)
	out := mustPeer(t, "fio", "--name=verify", "--ioengine=nbd", "--uri="+s.uri("disk"),
		"--rw=randwrite", "--bsrange=4k-128k", "--size=32M", "--iodepth=32", "--numjobs=1",
		"--verify=crc32c", "--do_verify=1", "--verify_fatal=1", "--fsync=50", "--randseed=7",
		"--verify_state_save=0")
	if !strings.Contains(out, "err= 0") {
		t.Errorf("%s", out)
	}
}

// TestRefused checks that the client gets EIO for a write that the hook refuses, and that the disk
// does not get the write.
func TestRefused(t *testing.T) {
	hook := func(_ context.Context, r *blocktap.Request, do func() error) error {
		if r.Off == 65536 {
			return blocktap.ErrRefused
		}
		return do()
	}
	s, path := serveDisk(t, hookFunc(hook))
	out, _ := peer(t, "qemu-io", "-f", "raw",
		"-c", "write -P 1 65536 4096", "-c", "write -P 2 0 4096", s.uri("disk"))
	if !strings.Contains(out, "write failed: Input/output error") ||
		!strings.Contains(out, "wrote 4096/4096 bytes at offset 0") {
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
	out, err := peer(t, "qemu-io", "-f", "raw", "-c", "write 0 4096", s.uri("disk"))
	if err == nil {
		t.Errorf("qemu opened a read-only export for writing:\n%s", out)
	}
	mustPeer(t, "qemu-io", "-r", "-f", "raw", "-c", "read -P 0 0 4096", s.uri("disk"))
}

// TestHold checks that reads on a connection go on while the hook holds a write of the connection
// and other writes wait for it.
func TestHold(t *testing.T) {
	release := make(chan struct{})
	var holding atomic.Bool
	hook := func(_ context.Context, _ *blocktap.Request, do func() error) error {
		holding.Store(true)
		<-release
		return do()
	}
	s, _ := serveDisk(t, hookFunc(hook))
	c := dial(t, s)
	c.connect("disk")
	for i := range 40 {
		c.request(cmdWrite, 0, uint64(100+i), 0, 4096, make([]byte, 4096))
	}
	for i := range 20 {
		c.request(cmdRead, 0, uint64(i), 0, 4096, nil)
		if cookie, e := c.simpleReply(4096); cookie != uint64(i) || e != errnoOK {
			t.Fatalf("reply to %d, errno %d, want a reply to a read", cookie, e)
		}
	}
	c.request(cmdFlush, 0, 50, 0, 0, nil)
	if cookie, e := c.simpleReply(0); cookie != 50 || e != errnoOK {
		t.Fatalf("reply to %d, errno %d, want a reply to the flush", cookie, e)
	}
	if !holding.Load() {
		t.Fatal("the hook held no write")
	}
	close(release)
	for range 40 {
		if cookie, e := c.simpleReply(0); cookie < 100 || e != errnoOK {
			t.Errorf("reply to %d: errno %d", cookie, e)
		}
	}
}
