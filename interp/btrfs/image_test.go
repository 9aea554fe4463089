package btrfs_test

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"fsward/blocktap"
	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/shareddata"
)

// peer returns the path of a program that tests compare fsward with.
func peer(t testing.TB, program, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		path = filepath.Join("/sbin", program)
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("%s is not installed: it is in the Debian package %s (make setup installs it)",
				program, debianPackage)
		}
	}
	return path
}

// unpackTo decompresses an .xz file. It writes holes for zeros.
func unpackTo(t testing.TB, src, dst string) {
	t.Helper()
	cmd := exec.Command(peer(t, "xz", "xz-utils"), "-dc", src)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(dst)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	buf := make([]byte, 1<<16)
	size := int64(0)
	for {
		n, err := io.ReadFull(pipe, buf)
		if !allZero(buf[:n]) {
			if _, err := out.WriteAt(buf[:n], size); err != nil {
				t.Fatal(err)
			}
		}
		size += int64(n)
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := out.Truncate(size); err != nil {
		t.Fatal(err)
	}
}

// exceptions returns the images whose faults fsward does not report, according to
// docs/dev/tree-checker.md.
func exceptions(t testing.TB) map[string]bool {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "dev", "tree-checker.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(doc), "### Exceptions\n")
	if !ok {
		t.Fatal("docs/dev/tree-checker.md has no list of exceptions")
	}
	names := make(map[string]bool)
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`").FindAllStringSubmatch(list, -1) {
		names[m[1]] = true
	}
	return names
}

// TestSharedImages checks that Image reads the images of the tests of btrfs-progs without a panic
// or a hang. It reports a fault of each faulty image except the exceptions, and of no sound image.
func TestSharedImages(t *testing.T) {
	table, err := os.Open(shareddata.Path(t, "btrfs/table.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	r := csv.NewReader(table)
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	excepted := exceptions(t)
	for _, row := range rows[1:] {
		file, format := row[column["image"]], row[column["format"]]
		verdict := row[column["verdict"]]
		t.Run(strings.TrimSuffix(filepath.Base(file), ".xz"), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "image")
			unpackTo(t, shareddata.Path(t, filepath.Join("btrfs", file)), path)
			d, err := blocktap.OpenImage(restoreImage(t, format, path))
			if err != nil {
				t.Fatalf("not a disk: %v", err)
			}
			judgeImage(t, d, verdict, excepted)
		})
	}
}

// restoreImage returns the path of the disk image in an unpacked file of a format.
func restoreImage(t *testing.T, format, path string) string {
	t.Helper()
	dir := filepath.Dir(path)
	switch format {
	case "btrfs-image":
		raw := filepath.Join(dir, "raw")
		restore := exec.Command("timeout", "60", peer(t, "btrfs-image", "btrfs-progs"),
			"-r", path, raw)
		if out, err := restore.CombinedOutput(); err != nil {
			t.Fatalf("btrfs-image -r: %v: %s", err, out)
		}
		return raw
	case "tar":
		if out, err := exec.Command("tar", "-C", dir, "-xf", path).CombinedOutput(); err != nil {
			t.Fatalf("tar: %v: %s", err, out)
		}
		found, err := filepath.Glob(filepath.Join(dir, "*.*"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%v in the tar file: %v", found, err)
		}
		return found[0]
	}
	return path
}

// judgeImage reads and checks an image, and compares the result with the verdict of the table.
func judgeImage(t *testing.T, d interp.Disk, verdict string, excepted map[string]bool) {
	t.Helper()
	start := time.Now()
	obs, err := btrfs.Image(d)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	var unsupported *interp.UnsupportedError
	var corrupt *interp.CorruptError
	faulted := len(obs.Violations) > 0
	switch {
	case errors.As(err, &corrupt):
		faulted = true
		t.Logf("%s: %v", verdict, err)
	case err != nil:
		t.Logf("%s: %v", verdict, err)
	case obs.Unknown != nil:
		t.Logf("%s: unknown: %v", verdict, obs.Unknown)
	case len(obs.Violations) > 0:
		for _, v := range obs.Violations {
			t.Logf("%s: %s %s %s at %d: %s", verdict, v.Rule, v.Tree, v.ID, v.Addr, v.Detail)
		}
	default:
		vs := check(t, builtin(t), obs.Txn, obs.View)
		for _, log := range obs.Logs {
			vs = append(vs, check(t, builtin(t), log.Txn, log.View)...)
		}
		faulted = len(vs) > 0
		t.Logf("%s: structure holds, %d records, %d rule violations",
			verdict, len(obs.Txn.Records), len(vs))
		for i, v := range vs {
			if i < 5 {
				t.Logf("  %s %s %s", v.Rule, v.Tree, v.ID)
			}
			if verdict == "clean" {
				t.Errorf("false alarm %s %s %s", v.Rule, v.Tree, v.ID)
			}
		}
	}
	if name := filepath.Base(t.Name()); verdict == "must_flag" && faulted == excepted[name] {
		t.Errorf("faulted: %v, among the exceptions: %v", faulted, excepted[name])
	}
	notSound := err != nil || obs.Unknown != nil || len(obs.Violations) > 0
	if verdict == "clean" && !errors.As(err, &unsupported) && notSound {
		t.Error("Image does not read a clean image as sound")
	}
}
