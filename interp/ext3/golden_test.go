package ext3

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// unsplit keeps the kernel from making commits at other times than the script does. It ends a
// transaction after 5 seconds, which on a busy machine is between two commands of a script. Some
// seconds after mounting it also notes in the group descriptors that the inode tables are zeros
// (ext4_lazyinit_thread).
var unsplit = []string{"commit=300", "noinit_itable"}

// TestGoldenCommits compares the records of small commits of the host's kernel with files. A file
// holds a script, a line of dashes, and the records of the last commit that the script makes,
// without the numbers of blocks and without times.
func TestGoldenCommits(t *testing.T) {
	files, err := filepath.Glob("testdata/commits/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script, want, _ := strings.Cut(string(text), "----\n")
			got := lastRecords(t, script)
			// A sync(2) of another process on this machine splits the last commit.
			for range 3 {
				if got != want && !*update {
					got = lastRecords(t, script)
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(script+"----\n"+got), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// lastRecords runs a script on a new file system and returns the records of its last commit as
// text.
func lastRecords(t *testing.T, script string) (got string) {
	t.Helper()
	image := Mkfs(t, "8M", "-b", "1024", "-I", "128")
	last, over := "", false
	Follow(t, image, 1, func(obs interp.Observation) {
		if obs.Txn == nil || over {
			return
		}
		got, last = last, normal(obs.Txn)
		over = strings.Contains(last, "the-next-commit")
	}, unsplit, script+"sync -f .; : > the-next-commit; sync -f .\n")
	return got
}

var blockNumber = regexp.MustCompile(
	`^change\((block,a\(|owner,k\(|xattr_owner,a\(|xattr_block,)(\d+)`)

// normal writes the records of a transaction, with the blocks numbered in the order of their
// appearance.
func normal(txn *change.Txn) string {
	var b strings.Builder
	seen := make(map[string]int)
	for _, r := range txn.Records {
		if r.Field == ondisk.FieldGeneration || r.Field == ondisk.FieldDtime {
			r.Old, r.New = known0(r.Old), known0(r.New)
		}
		line := schema.RecordText(r, txn.Names)
		line = blockNumber.ReplaceAllStringFunc(line, func(m string) string {
			part := blockNumber.FindStringSubmatch(m)
			if _, ok := seen[part[2]]; !ok {
				seen[part[2]] = len(seen) + 1
			}
			return fmt.Sprintf("change(%sB%d", part[1], seen[part[2]])
		})
		b.WriteString(line + "\n")
	}
	return b.String()
}

// known0 replaces a number by a bit: whether it is not 0.
func known0(v change.Value) change.Value {
	if n, ok := v.Num(); ok {
		return change.Bit(n != 0)
	}
	return v
}
