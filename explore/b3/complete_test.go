package b3

import "testing"

// completed are workloads, and what they are once they are complete.
var completed = map[string]string{
	"link foo A/bar; fsync A/bar": "mkdir A; creat foo; link foo A/bar; open A/bar; fsync A/bar; " +
		"close A/bar; close foo",
	"creat foo; creat foo; sync": "creat foo; close foo; unlink foo; creat foo; sync; close foo",
	"write foo extend; fsync bar": "creat foo; write foo 0 32768; write foo 30768 5000; creat bar; " +
		"fsync bar; close bar; close foo",
	"removexattr foo; sync": "creat foo; setxattr foo; removexattr foo; sync; close foo",
	"rename A B; fsync A":   "mkdir A; rename A B; mkdir A; open A; fsync A; close A",
	"creat A/foo; sync; rename A B; mkdir A; fsync A": "mkdir A; creat A/foo; sync; close A/foo; " +
		"rename A B; mkdir A; open A; fsync A; close A",
	"creat A/foo; mkdir A; sync": "mkdir A; creat A/foo; close A/foo; unlink A/foo; rmdir A; " +
		"mkdir A; sync",
	"creat B/foo; rename A B; sync": "mkdir B; creat B/foo; mkdir A; close B/foo; unlink B/foo; " +
		"rename A B; sync",
	"rename A A/C; sync": "mkdir A; rename A A/C; sync",
	"unlink A/bar; sync": "mkdir A; creat A/bar; close A/bar; unlink A/bar; sync",
	"truncate foo 0; fdatasync foo": "creat foo; write foo 0 32768; truncate foo 0; fdatasync foo; " +
		"close foo",
	"link foo bar; rename foo bar; sync": "creat foo; link foo bar; close foo; rename foo bar; sync",
	"removexattr foo a; sync": "creat foo; setxattr foo a; removexattr foo a; sync; " +
		"close foo",
	"setxattr foo; removexattr foo a; sync": "creat foo; setxattr foo; setxattr foo a; " +
		"removexattr foo a; sync; close foo",
	"clone foo block bar 32768; write bar append; sync": "creat foo; write foo 0 32768; creat bar; " +
		"clone foo 0 8192 bar 32768; write bar 40960 32768; sync; close bar; close foo",
	// A file without a name is used until it is closed, or the name is used for another one.
	"orphan A/foo; write A/foo append; fsync A/foo": "mkdir A; creat A/foo; orphan A/foo; " +
		"write A/foo 0 32768; fsync A/foo; close A/foo",
	"write foo append; orphan foo; write foo end; creat foo; sync": "creat foo; " +
		"write foo 0 32768; orphan foo; write foo 27768 5000; close foo; creat foo; sync; close foo",
	"orphan foo; rename foo bar; sync": "creat foo; orphan foo; close foo; creat foo; close foo; " +
		"rename foo bar; sync",
	"chmod A 700; sync_file_range foo block; sync": "mkdir A; open A; chmod A 700; creat foo; " +
		"write foo 0 32768; sync_file_range foo 0 8192; sync; close A; close foo",
	"exchange foo A/bar; write A/bar append; sync": "mkdir A; creat foo; creat A/bar; close foo; " +
		"close A/bar; exchange foo A/bar; open A/bar; write A/bar 0 32768; sync; close A/bar",
	"write foo append; exchange foo bar; write bar append; write foo append; sync": "creat foo; " +
		"write foo 0 32768; creat bar; close foo; close bar; exchange foo bar; open bar; " +
		"write bar 32768 32768; open foo; write foo 0 32768; sync; close bar; close foo",
	"creat A/foo; exchange A B; unlink B/foo; rmdir A; sync": "mkdir A; creat A/foo; mkdir B; " +
		"close A/foo; exchange A B; unlink B/foo; rmdir A; sync",
	"exchange A A/foo; sync": "mkdir A; creat A/foo; close A/foo; exchange A A/foo; sync",
	// A direct write begins at a block, also if the file does not end at one.
	"write foo extend; dwrite foo append; dwrite foo last; sync": "creat foo; write foo 0 32768; " +
		"write foo 30768 5000; dwrite foo 36864 32768; dwrite foo 61440 8192; sync; close foo",
	// At most eight are open: the one that was used longest ago is closed, one without a name is not.
	"orphan a; repeat 7 creat f%d; fsync f0; creat g; write f1 append; write a append; sync": "" +
		"creat a; orphan a; creat f0; creat f1; creat f2; creat f3; creat f4; creat f5; creat f6; " +
		"fsync f0; " +
		"close f1; creat g; close f2; open f1; write f1 0 32768; write a 0 32768; sync; close a; " +
		"close f0; close f1; close f3; close f4; close f5; close f6; close g",
	"repeat 6 orphan f%d; write a append; clone a start b 0; sync": "creat f0; orphan f0; creat f1; " +
		"orphan f1; creat f2; orphan f2; creat f3; orphan f3; creat f4; orphan f4; creat f5; " +
		"orphan f5; creat a; write a 0 32768; creat b; clone a 0 5000 b 0; sync; close a; close b; " +
		"close f0; close f1; close f2; close f3; close f4; close f5",
	// A snapshot has what its subvolume has, but for the subvolumes in it.
	"snapshot / A/S; write A/S/foo append; delete_subvolume A/S; rmdir A; sync": "mkdir A; " +
		"snapshot / A/S; creat A/S/foo; write A/S/foo 0 32768; close A/S/foo; " +
		"delete_subvolume A/S; rmdir A; sync",
	"write S/foo append; subvolume S/T; snapshot S U; write U/foo append; sync": "mkdir S; " +
		"creat S/foo; write S/foo 0 32768; subvolume S/T; rmdir S/T; close S/foo; unlink S/foo; " +
		"rmdir S; subvolume S; snapshot S U; creat U/foo; write U/foo 0 32768; sync; close U/foo",
	"subvolume S; link foo S/foo; rename foo S/foo; write S/foo start; sync": "subvolume S; " +
		"creat foo; link foo S/foo; close foo; rename foo S/foo; creat S/foo; " +
		"write S/foo 0 32768; write S/foo 0 5000; sync; close S/foo",
	"write S/foo append; subvolume T; exchange S T; rename T S; sync": "mkdir S; creat S/foo; " +
		"write S/foo 0 32768; subvolume T; close S/foo; exchange S T; rmdir S; rename T S; sync",
	"falloc foo collapse block; falloc foo insert 0 4096; write foo append; sync": "creat foo; " +
		"write foo 0 32768; falloc foo collapse 0 8192; falloc foo insert 0 4096; " +
		"write foo 28672 32768; sync; close foo",
	"chattr foo =Cd; write foo append; chattr foo =; sync": "creat foo; chattr foo =Cd; " +
		"write foo 0 32768; chattr foo =; sync; close foo",
	// An exchange in a subvolume takes nothing to another one.
	"subvolume S; exchange S/foo S/A; creat S/foo/bar; sync": "subvolume S; creat S/foo; mkdir S/A; " +
		"close S/foo; exchange S/foo S/A; creat S/foo/bar; sync; close S/foo/bar",
	"fsync /": "open /; fsync /; close /",
}

// What a workload needs comes right before the step that needs it.
func TestComplete(t *testing.T) {
	for text, want := range completed {
		w, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		done := w.Complete()
		if done.String() != want {
			t.Errorf("%s:\n got %s\nwant %s", text, done, want)
		}
		if again := done.Complete(); again.String() != want {
			t.Errorf("%s: completed again: %s", text, again)
		}
	}
}

// Directories with thousands of names are renamed, exchanged and removed thousands of times. A cost
// of each name for each of these is one of minutes.
func TestCompleteMany(t *testing.T) {
	const n = 8000
	for _, c := range []struct {
		text string
		adds int // steps that make the workload complete
	}{
		{"repeat 8000 creat A/f%d; repeat 8000 exchange A B; sync", 2 + n},
		{"repeat 8000 creat f%d; repeat 8000 exchange f%d g%d; sync", 3 * n},
		{"repeat 8000 creat f%d; repeat 8000 rename f%d g%d; sync", n},
		{"repeat 8000 creat A/f%d; repeat 8000 rmdir D%d; sync", 1 + 2*n},
	} {
		w, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(w.Complete()) - len(w); got != c.adds {
			t.Errorf("%s: %d steps were added, want %d", c.text, got, c.adds)
		}
	}
}
