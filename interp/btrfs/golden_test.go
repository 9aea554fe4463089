package btrfs_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Parts of records that differ from run to run: addresses of data, and generations.
var (
	volatileAddress = regexp.MustCompile(`disk_bytenr,(\d+|null),(\d+|null)\)`)
	volatileBackref = regexp.MustCompile(`k\(\d+,extent_data_ref,`)
	volatileGen     = regexp.MustCompile(`generation,(\d+|null),(\d+|null)\)`)
	volatileKey     = regexp.MustCompile(`k\(-10,extent_csum,\d+\)`)
)

// normalize keeps the records of files and checksums, and replaces their volatile parts.
func normalize(records []string) string {
	var b strings.Builder
	number := func(name string) func(string) string {
		return func(s string) string {
			parts := strings.Split(strings.TrimSuffix(s, ")"), ",")
			for i := 1; i < len(parts); i++ {
				if parts[i] != "null" && parts[i] != "0" {
					parts[i] = name
				}
			}
			return strings.Join(parts, ",") + ")"
		}
	}
	for _, r := range records {
		if !strings.HasPrefix(r, "change(5,") && !strings.HasPrefix(r, "change(7,") {
			continue
		}
		r = volatileAddress.ReplaceAllStringFunc(r, number("ADDRESS"))
		r = volatileBackref.ReplaceAllString(r, "k(ADDRESS,extent_data_ref,")
		r = volatileGen.ReplaceAllStringFunc(r, number("GENERATION"))
		r = volatileKey.ReplaceAllString(r, "k(-10,extent_csum,ADDRESS)")
		fmt.Fprintln(&b, r)
	}
	return b.String()
}

// TestGoldenRecords checks that the records of small commits of a real kernel match the golden
// files.
func TestGoldenRecords(t *testing.T) {
	k := startKernel(t, 128<<20)
	k.engine = builtin(t)
	unix.Umask(0o022)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"create", func() error { return os.WriteFile(k.path("file"), nil, 0o644) }},
		{"inline", func() error { return os.WriteFile(k.path("file"), []byte("hello"), 0o644) }},
		{"extent", func() error { return os.WriteFile(k.path("big"), make([]byte, 8192), 0o600) }},
		{"mkdir", func() error { return os.Mkdir(k.path("dir"), 0o755) }},
		{"link", func() error { return os.Link(k.path("file"), k.path("dir/second")) }},
		{"rename", func() error { return os.Rename(k.path("big"), k.path("dir/large")) }},
		{"symlink", func() error { return os.Symlink("dir/large", k.path("soft")) }},
		{"xattr", func() error {
			return unix.Setxattr(k.path("file"), "user.color", []byte("blue"), 0)
		}},
		{"chmod", func() error { return os.Chmod(k.path("dir"), 0o700) }},
		{"truncate", func() error { return os.Truncate(k.path("dir/large"), 4096) }},
		{"mknod", func() error { return unix.Mknod(k.path("pipe"), unix.S_IFIFO|0o600, 0) }},
		{"unlink-one-name", func() error { return os.Remove(k.path("file")) }},
		{"unlink", func() error { return os.Remove(k.path("dir/large")) }},
		{"rmdir", func() error { return os.RemoveAll(k.path("dir")) }},
	} {
		must(t, step.do())
		got := normalize(k.sync())
		golden := filepath.Join("testdata", "records", step.name+".txt")
		if *update {
			must(t, os.MkdirAll(filepath.Dir(golden), 0o755))
			must(t, os.WriteFile(golden, []byte(got), 0o644))
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatalf("%v (go test -update writes it)", err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s (-golden +now):\n%s", step.name, d)
		}
	}
	k.end()
}
