package paths

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fsward/repair/adapter"
	"fsward/repair/damage"
	"fsward/repair/fieldmap"
)

// readerSource is a program that reads an image, and then writes to it.
const readerSource = `#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static char b[8192];
	int fd = open64(argv[argc - 1], O_RDWR, 0);
	int other = open(argv[argc - 1], O_RDWR);
	return lseek(other, 8, SEEK_SET) != 8 || read(other, b, 8) != 8 ||
		read(fd, b, sizeof(b)) != sizeof(b) || pwrite64(fd, "lost", 4, 0) != 4 ||
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

// memory is an image in memory.
type memory struct{ *bytes.Reader }

func (m memory) Size() uint64 { return uint64(m.Reader.Size()) }

// TestShim checks that a program that runs with the shim sees the image that an input describes,
// and does not change the file.
func TestShim(t *testing.T) {
	dir := t.TempDir()
	base := make([]byte, 8192)
	for i := range base {
		base[i] = byte(i)
	}
	base[4096+128], base[4096+129] = 3, 0 // the size of an inode's upper part
	reader := filepath.Join(dir, "reader")
	if err := os.WriteFile(reader+".c", []byte(readerSource), 0o600); err != nil {
		t.Fatal(err)
	}
	compile(t, "-o", reader, reader+".c")
	s := &Search{Base: memory{bytes.NewReader(base)},
		Places: []damage.Place{{Name: "a", Off: 5, Width: 2}, {Name: "b", Off: 4097, Width: 1}},
		Seals:  everySeal()}
	if err := s.write(t.Context(), dir, reader); err != nil {
		t.Fatal(err)
	}
	compile(t, "-shared", "-fPIC", "-o", filepath.Join(dir, "strict.so"),
		filepath.Join("shim", "shim.c"), filepath.Join("shim", "seals.c"))
	image, input := filepath.Join(dir, imageFile), filepath.Join(dir, inputFile)
	for _, in := range []string{"", "\x00\x00\x99\x98\x01\x00\x97", "\x03\x00\x96\x00\x00\x95"} {
		if err := os.WriteFile(input, []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(dir, programDir, "reader"), image)
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+filepath.Join(dir, shimFile), "SHIM_IMAGE="+image,
			"SHIM_INPUT="+input, "SHIM_PLACES="+filepath.Join(dir, placesFile),
			"SHIM_SEALS="+filepath.Join(dir, sealsFile))
		got, err := cmd.Output()
		if want := applied(t, s, base, in); err != nil || string(got) != string(want) {
			t.Errorf("input %q: the program read another image: %v", in, err)
		}
		if now, err := os.ReadFile(image); err != nil || string(now) != string(base) {
			t.Errorf("input %q: the program changed the file: %v", in, err)
		}
	}
}

// everySeal has a checksum of each kind over the byte at 5 or at 4097, and checksums over others.
func everySeal() fieldmap.Seals {
	seals := fieldmap.Seals{
		{Kind: "crc32c", Off: 100, Width: 4, From: 0, Len: 512},
		{Kind: "crc32_seeded", Off: 600, Width: 4, From: 0, Len: 700, Seed: 0xf2f52010},
		{Kind: "crc32c_seeded", Off: 200, Width: 2, From: 4096, Len: 1020, Seed: 7, Prefix: 5},
		{Kind: "crc32c_seeded", Off: 202, Width: 2, From: 4096, Len: 1020, Seed: 7, Prefix: 5, Shift: 16},
		{Kind: "exfat_boot", Off: 1024, Width: 4, From: 0, Len: 512, Repeat: 64},
		{Kind: "exfat_set", Off: 4098, Width: 2, From: 4096, Len: 96},
		{Kind: "crc32c_seeded", Off: 300, Width: 4, From: 200, Len: 8, Big: true}, // over a checksum
		{Kind: "ext4_group", Off: 30, Width: 2, From: 0, Len: 64, Seed: 1},
		{Kind: "crc32c_seeded", Off: 5000, Width: 4, From: 6000, Len: 8}, // not touched
		{Kind: "crc32c", Off: 4097, Width: 4, From: 4096, Len: 512},      // set by an input
	}
	for _, at := range []uint64{0, 4096} { // one with an upper half, and one without
		seals = append(seals,
			fieldmap.Seal{Kind: "ext4_inode", Off: at + 130, Width: 2, From: at, Len: 256, Shift: 16},
			fieldmap.Seal{Kind: "ext4_inode", Off: at + 124, Width: 2, From: at, Len: 256})
	}
	return seals
}

// applied returns the image with the damage that an input describes.
func applied(t *testing.T, s *Search, base []byte, in string) []byte {
	t.Helper()
	list, err := damage.NewInputs(s.Base, s.Places, s.Seals, [][]byte{[]byte(in)})
	if err != nil {
		t.Fatal(err)
	}
	image := slices.Clone(base)
	d, err := list.At(0)
	if errors.Is(err, damage.ErrNone) {
		return image
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Patches {
		copy(image[p.Off:], p.Data)
	}
	return image
}

// TestMissing names what is missing: the package of AFL++, the way to build the program, and time.
func TestMissing(t *testing.T) {
	known := &adapter.Program{Name: "x", Rebuild: &adapter.Rebuild{}}
	places := []damage.Place{{}}
	t.Setenv("PATH", t.TempDir())
	for want, s := range map[string]*Search{
		`apt-get install (afl\+\+|gcc)`: {Program: known, Places: places, Time: time.Second},
		"has no rebuild":                {Program: &adapter.Program{}, Places: places, Time: time.Second},
		"at least 1s":                   {Program: known, Places: places},
		"set in place":                  {Program: known, Time: time.Second},
	} {
		_, err := s.Run(t.Context())
		if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("want %q: %v", want, err)
		}
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

// TestPoints reads a row for each point in time, by the names of the columns, and keeps some.
func TestPoints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plot_data")
	text := "# relative_time, cycles_done, corpus_count, total_execs, edges_found\n"
	for i := range 100 {
		text += fmt.Sprintf("%d, 0, %d, %d, %d\n", i*5, i+1, i*40, i*2)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readPoints(path)
	if err != nil || len(got) != maxPoints || got[0] != (Point{Paths: 1}) ||
		got[maxPoints-1] != (Point{Seconds: 495, Executions: 3960, Paths: 100, Edges: 198}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "# relative_time\n1\n", strings.Replace(text, "495", "x", 1)} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readPoints(path); err == nil {
			t.Errorf("a wrong file is read: %v", got)
		}
	}
}
