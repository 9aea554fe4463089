package offline

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"fsward/interp/detect"
)

// answersTo asks a goal about a disk and returns the volumes that answered it, with the answers.
func answersTo(t *testing.T, cfg QueryConfig, goal string) (answers []string, err error) {
	t.Helper()
	cfg.Limit = 10
	err = Query(t.Context(), cfg, func(q *Querier) error {
		a, err := q.Ask(context.Background(), goal)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := WriteAnswers(&out, a, q.Volume, false); err != nil {
			return err
		}
		answers = append(answers, q.Volume+": "+strings.Join(strings.Fields(out.String()), " "))
		return nil
	})
	return answers, err
}

// TestQueryVolumes asks about all volumes of a disk, those of one file system, and one volume.
func TestQueryVolumes(t *testing.T) {
	image := dividedImage(t)
	const goal = "query(superblock, 0, blocks_count, N)"
	for _, c := range []struct{ target, fs, goal, want, err string }{
		{image, "ext3", goal, "[p1: N 65536 p4: N 32768]", ""},
		{image, detect.Auto, goal, "[p1: N 65536 p4: N 32768]", "volume p2: query:1:7: "},
		{image + ":p4", detect.Auto, goal, "[p4: N 32768]", ""},
		{image + ":p2", detect.Auto, "query(5, k(256, inode_item, 0), nlink, N)", "[p2: N 1]", ""},
		{image + ":p3", detect.Auto, goal, "[]", "on p3: it holds swap"},
		{image + ":p9", detect.Auto, goal, "[]", "there is no volume p9; the volumes are p1, p2, p3, p4"},
	} {
		got, err := answersTo(t, QueryConfig{Targets: []string{c.target}, FS: c.fs}, c.goal)
		if fmt.Sprint(got) != c.want || (err == nil) != (c.err == "") ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v; want %s and an error with %q", c.target, got, err, c.want, c.err)
		}
	}
}

// TestCorruptVolumes alters the one volume where an alteration fits, and none if it fits on
// several.
func TestCorruptVolumes(t *testing.T) {
	image := dividedImage(t)
	before, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"inode.links_count+1@kind=directory", "nothing!delete"} {
		_, err = CorruptImages([]string{image}, CorruptConfig{FS: detect.Auto, Spec: spec})
		if spec[0] == 'i' && (err == nil ||
			!strings.Contains(err.Error(), "fits on the volumes p1, p4: name one, as in IMG:p1")) {
			t.Errorf("%s: %v", spec, err)
		}
		after, readErr := os.ReadFile(image)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if err == nil || !bytes.Equal(before, after) {
			t.Errorf("%s: %v, and the image changed: %t", spec, err, !bytes.Equal(before, after))
		}
	}
	for _, c := range []struct{ target, spec, volume string }{
		{image, "inode_item.nlink+1", "p2"},
		{image + ":p4", "inode.links_count+1@kind=directory", "p4"},
	} {
		got, err := CorruptImages([]string{c.target}, CorruptConfig{FS: detect.Auto, Spec: c.spec})
		if err != nil || got.Volume != c.volume {
			t.Fatalf("%s on %s: %+v, %v", c.spec, c.target, got, err)
		}
	}
	want := []string{"volume holds", "p1 ext3 holds", "p2 btrfs violated", "p3  holds unguarded: swap",
		"p4 ext3 violated"}
	if got, _ := checkLines(t, image); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAlterablesOfVolumes lists what can be altered on each volume.
func TestAlterablesOfVolumes(t *testing.T) {
	all, err := Alterables([]string{dividedImage(t)}, detect.Auto)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range all {
		got = append(got, fmt.Sprintf("%s %s %t", v.Volume, v.FS, len(v.List) > 5))
	}
	if want := "[p1 ext3 true p2 btrfs true p4 ext3 true]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestDumpVolumes writes the volumes that are sound beside one that is not.
func TestDumpVolumes(t *testing.T) {
	image := dividedImage(t)
	if _, err := CorruptImages([]string{image + ":p1"},
		CorruptConfig{FS: detect.Auto, Spec: "inode.links_count+1"}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	broken, err := Dump(&out, []string{image}, detect.Auto, false)
	if err != nil || len(broken) != 1 || broken[0].Volume != "p1" {
		t.Fatalf("%+v, %v; want a violation of p1", broken, err)
	}
	for _, want := range []string{"volume p2: btrfs", "inode_item", "volume p4: ext3", "links_count"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the dump has no %q", want)
		}
	}
}
