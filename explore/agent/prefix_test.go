package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The agent's program follows commands itself; here that is the test.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == PrefixArg {
		status, err := RunPrefix(os.Args[2:], os.NewFile(3, "told"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// A command ends at each of the calls that change what is below a directory, with what was done before them and nothing after.
func TestPrefix(t *testing.T) {
	const script = `cd $AT; mkdir d; (echo one >d/a) ; mv d/a b; exec 3>>b; echo two >&3; ln b c; echo away >/dev/null; rm c; exit 5`
	want := []string{"mkdir", "open", "write", "rename", "open", "write", "link", "unlink"}
	present := func(dir string) string {
		var out []string
		_ = filepath.Walk(dir, func(p string, _ os.FileInfo, _ error) error {
			b, _ := os.ReadFile(p) // not of directories
			out = append(out, strings.TrimPrefix(p, dir)+" "+strings.TrimSpace(strings.ReplaceAll(string(b), "\n", ",")))
			return nil
		})
		return strings.Join(out[1:], ";")
	}
	states := []string{"", "/d ", "/d ;/d/a ", "/d ;/d/a one,", "/b one,;/d ", "/b one,;/d ", "/b one,two,;/d ", "/b one,two,;/c one,two,;/d ", "/b one,two,;/d "}
	for n := range len(want) + 1 {
		dir := t.TempDir()
		e, err := run(&Command{Args: []string{"sh", "-c", script}, Env: []string{"AT=" + dir}, Timeout: time.Minute, Prefix: &Prefix{At: dir, Calls: uint64(n)}})
		if err != nil {
			t.Fatal(err)
		}
		code, cut := 5, n < len(want)
		if cut {
			code = 137
		}
		calls := strings.Fields(e.Calls)
		if strings.Join(calls, " ") != strings.Join(want[:n], " ") || e.Cut != cut || e.Code != code {
			t.Errorf("%d: %v, cut %t, status %d %s", n, calls, e.Cut, e.Code, e.Stderr)
		}
		if got, want := present(dir), strings.ReplaceAll(states[n], ",;", ";"); strings.ReplaceAll(got, ",", "") != strings.ReplaceAll(want, ",", "") {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
