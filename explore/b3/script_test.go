package b3

import (
	"os/exec"
	"strings"
	"testing"
)

// The script of a workload is one that bash reads, with a line for each step that has an effect.
func TestScript(t *testing.T) {
	w, err := Parse("mkdir A; creat A/foo; write A/foo 0 5000; falloc A/foo punch|keep 0 4096; " +
		"setxattr A/foo; link A/foo bar; rename A B; symlink x l; mmapwrite bar 5000 100; fsync bar; " +
		"sync; chmod bar 755; setxattr bar a; clone bar 0 4096 baz 8192; sync_file_range bar 0 4096; " +
		"creat x; orphan x; creat y; orphan y; write x 0 10; fsync x; close x; fsync y; close y; " +
		"exchange bar l")
	if err != nil {
		t.Fatal(err)
	}
	script := w.Script("btrfs", "lost: /bar\nis gone")
	for _, want := range []string{"# lost: /bar\n# is gone\n", "_supported_fs btrfs\n",
		"mkdir $SCRATCH_MNT/A\n", `-c "fpunch 0 4096" $SCRATCH_MNT/A/foo`,
		"ln $SCRATCH_MNT/A/foo $SCRATCH_MNT/bar\n", `-c "msync -s 4096 1004"`,
		"_flakey_drop_and_remount\n", "_require_attrs\n",
		"chmod 755 $SCRATCH_MNT/bar\n", "-n user.a -v 1 $SCRATCH_MNT/bar\n",
		`-f -c "reflink $SCRATCH_MNT/bar 0 8192 4096" $SCRATCH_MNT/baz`, `-c "sync_range -abw 0 4096"`,
		"exec 10<>$SCRATCH_MNT/x; rm -f $SCRATCH_MNT/x\n", "exec 11<>$SCRATCH_MNT/y; ",
		`-c "fsync" /dev/fd/10 `, "exec 10>&-\n", "_require_renameat2 exchange\n",
		"src/renameat2 -x $SCRATCH_MNT/bar $SCRATCH_MNT/l\n", `-c "fsync" /dev/fd/11 `} {
		if !strings.Contains(script, want) {
			t.Errorf("no %q in\n%s", want, script)
		}
	}
	bash := exec.Command("bash", "-n")
	bash.Stdin = strings.NewReader(script)
	if out, err := bash.CombinedOutput(); err != nil {
		t.Errorf("%v: %s\n%s", err, out, script)
	}
}
