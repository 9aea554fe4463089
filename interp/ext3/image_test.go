package ext3

import (
	"bufio"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"fsward/interp"
	"fsward/shareddata"
)

// TestImagesOfE2fsprogs reads the test images of e2fsprogs: none of them causes a panic or a hang,
// images that e2fsck calls clean have no violation, and images with errors for e2fsck have one.
func TestImagesOfE2fsprogs(t *testing.T) {
	table, err := os.Open(shareddata.Path(t, "ext3/table.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	rules := Engine(t)
	judged, flagged := 0, 0
	lines := bufio.NewScanner(table)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		col := strings.Split(lines.Text(), "\t")
		if len(col) < 14 || col[0] == "test" {
			continue
		}
		verdict := col[9]
		path := Unpack(t, shareddata.Path(t, "ext3/"+col[1]))
		start := time.Now()
		obs, err := Image(OpenImage(t, path))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %v", col[0], took)
		}
		var foreign *interp.UnsupportedError
		var missing *interp.MissingDiskError
		var bad *interp.CorruptError
		switch {
		case errors.As(err, &foreign) || errors.As(err, &missing) ||
			errors.Is(err, interp.ErrNotFound):
			continue
		case errors.As(err, &bad):
			if verdict == "clean" {
				t.Errorf("%s is clean: %v", col[0], err)
			}
			t.Logf("%s (%s): %v", col[0], verdict, err)
			flagged++
			continue
		case err != nil:
			t.Errorf("%s: %v", col[0], err)
			continue
		}
		judged++
		found := Judge(rules, obs)
		if len(found) > 0 {
			flagged++
		}
		switch {
		case verdict == "clean" && len(found) > 0:
			t.Errorf("%s is clean, found %q", col[0], found[:min(3, len(found))])
		case verdict == "must_flag" && len(found) == 0:
			t.Errorf("%s: nothing is found, e2fsck finds %s", col[0], col[11])
		default:
			t.Logf("%s (%s, e2fsck %s): %d found, such as %.300q", col[0], verdict, col[12], len(found),
				found[:min(1, len(found))])
		}
	}
	t.Logf("%d judged, %d faulted", judged, flagged)
}
