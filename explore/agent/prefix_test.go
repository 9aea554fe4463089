package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain makes the test program stand for the agent's program, which runs itself to trace
// commands.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == PrefixArg {
		status, err := RunPrefix(os.Args[2:], os.NewFile(3, "report"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// treeOf returns the paths below a directory with the contents of the files, without line feeds.
func treeOf(dir string) string {
	var out []string
	_ = filepath.Walk(dir, func(p string, _ os.FileInfo, _ error) error {
		b, _ := os.ReadFile(p) // fails for directories
		out = append(out, strings.TrimPrefix(p, dir)+" "+strings.ReplaceAll(string(b), "\n", ""))
		return nil
	})
	return strings.Join(out[1:], ";")
}

// TestPrefix checks that a command dies at each system call that changes a directory, after the
// effects of the calls before it and without those of the calls after it.
func TestPrefix(t *testing.T) {
	const script = `cd $AT; mkdir d; (echo one >d/a) ; mv d/a b; exec 3>>b; echo two >&3; ln b c;
		echo away >/dev/null; rm c; exit 5`
	want := []string{"mkdir", "open", "write", "rename", "open", "write", "link", "unlink"}
	states := []string{ // after each number of calls
		"",
		"/d ",
		"/d ;/d/a ",
		"/d ;/d/a one",
		"/b one;/d ",
		"/b one;/d ",
		"/b onetwo;/d ",
		"/b onetwo;/c onetwo;/d ",
		"/b onetwo;/d ",
	}
	for n := range len(want) + 1 {
		dir := t.TempDir()
		e, err := run(&Command{Args: []string{"sh", "-c", script}, Env: []string{"AT=" + dir},
			Timeout: time.Minute, Prefix: &Prefix{At: dir, Calls: uint64(n)}})
		if err != nil {
			t.Fatal(err)
		}
		code, cut := 5, n < len(want)
		if cut {
			code = 137
		}
		calls := strings.Fields(e.Calls)
		if strings.Join(calls, " ") != strings.Join(want[:n], " ") || e.Cut != cut || e.Code != code {
			t.Errorf("%d calls: %v, killed %t, status %d %s", n, calls, e.Cut, e.Code, e.Stderr)
		}
		if got := treeOf(dir); got != states[n] {
			t.Errorf("%d calls: %s, want %s", n, got, states[n])
		}
	}
}
