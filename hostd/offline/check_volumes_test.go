package offline

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/interp/detect"
)

// dividedImage makes an image with an ext3, a Btrfs, swap and another ext3 on four partitions.
func dividedImage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	image := filepath.Join(dir, "disk.img")
	out, err := exec.CommandContext(t.Context(), "sh", "-ec", `
truncate -s 400M $1
printf 'label: gpt\nstart=2048,size=64M\nsize=160M\nsize=16M\nsize=32M\n' | sfdisk -q $1
put() { dd if=part of=$1 bs=512 seek=$2 conv=notrunc,sparse status=none; }
cd $(dirname $1)
truncate -s 64M part; mkfs.ext3 -q -F part; put $1 2048; rm part
truncate -s 160M part; mkfs.btrfs -q part; put $1 $((2048+131072)); rm part
truncate -s 16M part; mkswap -q part; put $1 $((2048+131072+327680)); rm part
truncate -s 32M part; mkfs.ext3 -q -F part; put $1 $((2048+131072+327680+32768)); rm part
`, "sh", image).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return image
}

// checkLines checks an image and returns a line for each event, and the worst verdict.
func checkLines(t *testing.T, args ...string) (lines []string, worst change.Outcome) {
	t.Helper()
	worst, err := CheckVolumes(t.Context(), args, CheckConfig{FS: detect.Auto},
		func(*guard.Progress) {}, func(ev *guard.Event) {
			line := fmt.Sprintf("%s %s %s %s", ev.Volume, ev.FS, ev.Outcome, ev.State)
			lines = append(lines, strings.TrimSpace(line))
		})
	if err != nil {
		t.Fatal(err)
	}
	return lines, worst
}

// TestCheckVolumes checks a disk with partitions: the table, and each volume by itself.
func TestCheckVolumes(t *testing.T) {
	image := dividedImage(t)
	want := []string{"volume holds", "p1 ext3 holds", "p2 btrfs holds", "p3  holds unguarded: swap",
		"p4 ext3 holds"}
	got, worst := checkLines(t, image)
	if fmt.Sprint(got) != fmt.Sprint(want) || worst != change.Holds {
		t.Errorf("%q, %s; want %q", got, worst, want)
	}
	f, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	// free blocks in the superblock of the ext3
	b := make([]byte, 4)
	const at = 1<<20 + 1024 + 12
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)+100)
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want[1] = "p1 ext3 violated"
	if got, worst := checkLines(t, image); fmt.Sprint(got) != fmt.Sprint(want) ||
		worst != change.Violated {
		t.Errorf("after a change of p1: %q, %s; want %q", got, worst, want)
	}
	if got, worst := checkLines(t, image+":p2"); fmt.Sprint(got) != "[p2 btrfs holds]" ||
		worst != change.Holds {
		t.Errorf("p2 alone: %q, %s", got, worst)
	}
	if _, err := CheckVolumes(t.Context(), []string{image + ":p9"}, CheckConfig{FS: detect.Auto},
		nil, nil); err == nil || !strings.Contains(err.Error(),
		"there is no volume p9; the volumes are p1, p2") {
		t.Errorf("p9: %v", err)
	}
}

// TestCheckManyVolumes checks as many partitions as a GPT has by default, each with an ext3.
func TestCheckManyVolumes(t *testing.T) {
	const n = 128
	image := filepath.Join(t.TempDir(), "disk.img")
	out, err := exec.CommandContext(t.Context(), "sh", "-ec", `
cd $(dirname $1)
truncate -s $(($2*2+4))M $1
{ echo label: gpt; for i in $(seq $2); do echo size=2M; done; } | sfdisk -q $1
truncate -s 2M part; mkfs.ext3 -q -F part
for i in $(seq $2); do
	dd if=part of=$1 bs=1M seek=$((2*i-1)) conv=notrunc,sparse status=none
done`, "sh", image, fmt.Sprint(n)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines, worst := checkLines(t, image)
	if len(lines) != n+1 || worst != change.Holds {
		t.Fatalf("%d lines, %s: %q", len(lines), worst, lines[:min(len(lines), 3)])
	}
	for i, line := range lines[1:] {
		if want := fmt.Sprintf("p%d ext3 holds", i+1); line != want {
			t.Errorf("%q, want %q", line, want)
		}
	}
}
