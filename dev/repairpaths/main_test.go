package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"fsward/repair/damage"
)

// readerSource is a program that reads an image, and then writes to it.
const readerSource = `#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static char b[8192];
	int fd = open64(argv[argc - 1], O_RDWR, 0);
	return read(fd, b, sizeof(b)) != sizeof(b) || pwrite64(fd, "lost", 4, 0) != 4 ||
		pread64(fd, argv[0], 1, 2) != 1 || argv[0][0] != 's' ||
		write(1, b, sizeof(b)) != sizeof(b);
}
`

// compile runs gcc, which must not warn.
func compile(t *testing.T, args ...string) {
	t.Helper()
	args = append([]string{"-O2", "-Wall", "-Wextra", "-Werror"}, args...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
}

// TestShim checks that a program that runs with the shim sees the image that apply makes, and does
// not change the file.
func TestShim(t *testing.T) {
	dir := t.TempDir()
	f := &fuzzer{dir: dir, base: make([]byte, 8192),
		places: []damage.Place{{Name: "a", Off: 5, Width: 2}, {Name: "b", Off: 4097, Width: 1}}}
	for i := range f.base {
		f.base[i] = byte(i)
	}
	if err := os.Mkdir(filepath.Join(dir, "seeds"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := f.write(); err != nil {
		t.Fatal(err)
	}
	lib, reader := filepath.Join(dir, "shim.so"), filepath.Join(dir, "reader")
	compile(t, "-shared", "-fPIC", "-o", lib, filepath.Join("shim", "shim.c"))
	source := reader + ".c"
	if err := os.WriteFile(source, []byte(readerSource), 0o600); err != nil {
		t.Fatal(err)
	}
	compile(t, "-o", reader, source)
	image, input := filepath.Join(dir, "disk.img"), filepath.Join(dir, "input")
	for _, in := range []string{"", "\x00\x00\x99\x98\x01\x00\x97", "\x03\x00\x96\x00\x00\x95"} {
		if err := os.WriteFile(input, []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(reader, image)
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+lib, "SHIM_IMAGE="+image, "SHIM_INPUT="+input,
			"SHIM_PLACES="+filepath.Join(dir, "places"))
		got, err := cmd.Output()
		if want, _ := f.apply([]byte(in)); err != nil || string(got) != string(want) {
			t.Errorf("input %q: the program read another image: %v", in, err)
		}
		if now, err := os.ReadFile(image); err != nil || string(now) != string(f.base) {
			t.Errorf("input %q: the program changed the file: %v", in, err)
		}
	}
}

// TestApply sets fields by number, beyond the last from the first again.
func TestApply(t *testing.T) {
	f := &fuzzer{base: make([]byte, 8), places: []damage.Place{{Off: 1, Width: 2}, {Off: 6, Width: 1}}}
	for in, want := range map[string]string{
		"":                         "\x00\x00\x00\x00\x00\x00\x00\x00",
		"\x00\x00\x07":             "\x00\x07\x00\x00\x00\x00\x00\x00",
		"\x02\x00\x07\x08\x01\x00": "\x00\x07\x08\x00\x00\x00\x00\x00",
		"\x03\x00\x09\x00\x00\x01": "\x00\x01\x00\x00\x00\x00\x09\x00",
	} {
		if got, _ := f.apply([]byte(in)); string(got) != want {
			t.Errorf("apply %q: %q; want %q", in, got, want)
		}
	}
	f.places[0].Name, f.places[1].Name = "a", "b"
	_, fields := f.apply([]byte("\x02\x00\x07\x08\x01\x00\x09"))
	if strings.Join(fields, "+") != "a+b" {
		t.Errorf("fields %v; want a and b", fields)
	}
}

// TestMissingAFL names the package to install.
func TestMissingAFL(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := run(context.Background(), []string{"fsward", ".", t.TempDir(), "1s"})
	if err == nil || !regexp.MustCompile(`apt-get install afl\+\+`).MatchString(err.Error()) {
		t.Errorf("without AFL++: %v", err)
	}
}

// TestStats reads numbers, and refuses a file of a run that did nothing.
func TestStats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fuzzer_stats")
	for n, ok := range map[int]bool{0: false, 12: true} {
		text := "execs_done        : " + strconv.Itoa(n) + "\nbitmap_cvg : 22.16%\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := readStats(path); (err == nil) != ok || ok && s["execs_done"] != float64(n) {
			t.Errorf("%d executions: %v, %v", n, s, err)
		}
	}
}
