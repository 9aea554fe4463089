package qemudisk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDetect makes an image of each format, and gives it the right name and wrong ones. The header
// alone never decides.
func TestDetect(t *testing.T) {
	all := append([]formatInfo{{format: Raw}}, formats...)
	for _, f := range all {
		path := create(t, "x", f.format)
		for _, name := range []string{"disk", "disk.img", "disk.raw", "a.qcow2", "a.vmdk", "a.VDI",
			"a.vhdx"} {
			renamed := filepath.Join(filepath.Dir(path), name)
			if err := os.Rename(path, renamed); err != nil {
				t.Fatal(err)
			}
			path = renamed
			got, err := Detect(path)
			if byName(name) == f.format {
				if err != nil || got != f.format {
					t.Errorf("%s that is %s: %s, %v", name, f.format, got, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), "--disk-format") {
				t.Errorf("%s that is %s is taken for %s: %v", name, f.format, got, err)
			}
		}
	}
	if _, err := Detect("/nowhere"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestRawStaysRaw writes the header of a qcow2 into a raw disk, as a hostile guest does, with a
// secret of the host as its backing file.
func TestRawStaysRaw(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, bytes.Repeat([]byte("secret. "), 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	evil := filepath.Join(dir, "evil")
	qemu(t, "qemu-img", "create", "-q", "-f", "qcow2", "-b", secret, "-F", "raw", evil)
	header, err := os.ReadFile(evil)
	if err != nil {
		t.Fatal(err)
	}
	path := create(t, "vm.img", Raw)
	d := open1(t, path, Options{})
	if _, err := d.WriteAt(header[:len(header)/512*512], 0); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Flush(), d.Close()); err != nil {
		t.Fatal(err)
	}
	if d, err := Open(context.Background(), path, Options{}); err == nil {
		d.Close()
		t.Error("the image is opened without a word about its format")
	}
	d = open1(t, path, Options{Format: Raw})
	got := make([]byte, 512)
	if _, err := d.ReadAt(got, 0); err != nil || !bytes.Equal(got, header[:512]) {
		t.Errorf("raw: %v", err)
	}
}

// TestBackingFiles checks that a chain of backing files is opened only if each format is named.
func TestBackingFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	img := func(args ...string) { qemu(t, append([]string{"qemu-img", "create", "-q"}, args...)...) }
	img("-f", "raw", at("base.raw"), "16M")
	qemu(t, "qemu-io", "-f", "raw", "-c", "write -P 5 0 1M", at("base.raw"))
	img("-f", "qcow2", "-b", "base.raw", "-F", "raw", at("mid.qcow2"))
	img("-f", "qcow2", "-b", "mid.qcow2", "-F", "qcow2", at("top.qcow2"))
	d := open1(t, at("top.qcow2"), Options{})
	got := make([]byte, 1<<20)
	if _, err := d.ReadAt(got, 0); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{5}, 1<<20)) {
		t.Errorf("the backing file is not read: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}

	unnamed := dropFormat(t, at("mid.qcow2"))
	img("-f", "qcow2", "-u", "-b", unnamed, "-F", "qcow2", at("over.qcow2"), "16M")
	img("-f", "qcow2", "-o", "data_file="+at("data"), at("data.qcow2"), "16M")
	img("-f", "qcow2", "--object", "secret,id=s,data=0123456789abcdef", "-o",
		"encrypt.format=aes,encrypt.key-secret=s", at("aes.qcow2"), "16M")
	luks := asLUKS(t, at("aes.qcow2"))
	img("-f", "qcow2", "-u", "-b", "nbd://localhost/x", "-F", "raw", at("net.qcow2"), "16M")
	img("-f", "qcow2", "-u", "-b", "loop.qcow2", "-F", "qcow2", at("loop.qcow2"), "16M")
	for name, want := range map[string]string{
		filepath.Base(unnamed): "does not name the format of its backing file",
		"over.qcow2":           "does not name the format of its backing file",
		"data.qcow2":           "in another file",
		"aes.qcow2":            "encrypted",
		filepath.Base(luks):    "encrypted",
		"net.qcow2":            "not a plain file",
		"loop.qcow2":           "more than 64 images",
	} {
		if _, err := Open(context.Background(), at(name), Options{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// asLUKS copies an encrypted qcow2 with the encryption method of its header (the big-endian u32 at
// 32) changed to LUKS. `qemu-img create` with LUKS measures the processor time of its key
// derivation, and fails at random ("Unable to get accurate CPU usage"): the clock of a thread
// advances in ticks.
func asLUKS(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if method := binary.BigEndian.Uint32(b[32:]); method != 1 {
		t.Fatalf("encryption method %d, want 1 (AES)", method)
	}
	binary.BigEndian.PutUint32(b[32:], 2)
	out := filepath.Join(filepath.Dir(path), "luks.qcow2")
	if err := os.WriteFile(out, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// dropFormat copies a qcow2 without the header extension that names the format of its backing file.
// Current versions of qemu-img always write that extension.
func dropFormat(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b[:4096], []byte{0xe2, 0x79, 0x2a, 0xca})
	if at < 0 {
		t.Fatal("no extension with the format of the backing file")
	}
	copy(b[at:], []byte{0x12, 0x34, 0x56, 0x78})
	out := filepath.Join(filepath.Dir(path), "unnamed.qcow2")
	if err := os.WriteFile(out, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestParseURI(t *testing.T) {
	for _, c := range []struct {
		uri    string
		server options
		export string
	}{
		{"nbd://host/vol", options{"type": "inet", "host": "host", "port": "10809"}, "vol"},
		{"nbd://[::1]:99", options{"type": "inet", "host": "::1", "port": "99"}, ""},
		{"nbd+unix:///a/b?socket=/s%20x", options{"type": "unix", "path": "/s x"}, "a/b"},
		{"nbd+unix:///?socket=/s", options{"type": "unix", "path": "/s"}, ""},
		{uri: "nbd+unix:///a"},
		{uri: "nbd+unix://host/a?socket=/s"},
		{uri: "nbd:///a"},
		{uri: "nbd://user@host/a"},
		{uri: "nbd://host/a?tls=1"},
		{uri: "nbd://host:x/a"},
	} {
		server, export, err := parseURI(c.uri)
		if c.server == nil {
			if err == nil {
				t.Errorf("%s: no error", c.uri)
			}
			continue
		}
		if d := cmp.Diff(c.server, server); d != "" || export != c.export || err != nil {
			t.Errorf("%s: export %q, %v\n%s", c.uri, export, err, d)
		}
	}
}

// TestBackingFormat checks that the name of a format is taken only if QEMU reads the same.
func TestBackingFormat(t *testing.T) {
	extension := func(typ uint32, text string) []byte {
		b := binary.BigEndian.AppendUint32(nil, typ)
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		return append(b, text+strings.Repeat("\x00", -len(text)&7)...)
	}
	name := func(text string) []byte { return extension(extensionBackingFormat, text) }
	for _, c := range []struct {
		extensions [][]byte
		format     Format
		wrong      string
	}{
		{[][]byte{name("raw")}, Raw, ""},
		{[][]byte{extension(7, "other"), name("qcow2"), extension(0, ""), name("raw")}, Qcow2, ""},
		{[][]byte{extension(7, "other")}, "", ""},
		{[][]byte{name("raw"), name("qcow2")}, "", "twice"},
		{[][]byte{name("qcow2\x00")}, "", "the format of the backing file is"},
		{[][]byte{name("raw\x00qcow2")}, "", "the format of the backing file is"},
	} {
		b := make([]byte, 512)
		copy(b, "QFI\xfb\x00\x00\x00\x03")
		binary.BigEndian.PutUint64(b[8:], 256)
		binary.BigEndian.PutUint32(b[16:], uint32(copy(b[256:], "base")))
		binary.BigEndian.PutUint32(b[100:], qcow2V3Header)
		copy(b[qcow2V3Header:], bytes.Join(c.extensions, nil))
		got, err := parseQcow2(bytes.NewReader(b))
		if got.format != c.format || (err == nil) != (c.wrong == "") ||
			err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: format %q, %v", c.extensions, got.format, err)
		}
	}
}

// FuzzQcow2 gives parseQcow2 any header.
func FuzzQcow2(f *testing.F) {
	for _, more := range [][]string{nil, {"-o", "compat=0.10"},
		{"-u", "-b", "base", "-F", "raw"}} {
		b, err := os.ReadFile(create(f, "x", Qcow2, more...))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:1024])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		next, err := parseQcow2(bytes.NewReader(b))
		if err == nil && len(next.name) > maxBackingName {
			t.Errorf("a name of %d bytes", len(next.name))
		}
	})
}

// TestRawByName reads a disk that begins like a qcow2 as raw, because its name says so.
func TestRawByName(t *testing.T) {
	path := create(t, "x", Qcow2)
	raw := filepath.Join(filepath.Dir(path), "disk.raw")
	if err := os.Symlink(path, raw); err != nil {
		t.Fatal(err)
	}
	if d, err := OpenImage(path); err == nil {
		_ = d.Close()
		t.Error("a qcow2 without its name was opened")
	}
	d, err := OpenImage(raw)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	head := make([]byte, 4)
	if _, err := d.ReadAt(head, 0); err != nil || string(head) != "QFI\xfb" {
		t.Errorf("it begins with %q: %v", head, err)
	}
}
