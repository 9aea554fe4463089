package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWithoutShell: only a line that means the same without a shell is run without one.
func TestWithoutShell(t *testing.T) {
	env := []string{"D=/dev/old", "D=/dev/d", "TWO= -a  -b ", "NONE=", "GLOB=*", "X=$D"}
	for _, c := range []struct {
		line string
		want []string // nil: by the shell
	}{
		{"ls -l $D", []string{"ls", "-l", "/dev/d"}},
		{"ls  $TWO $NONE --x=y", []string{"ls", "-a", "-b", "--x=y"}},
		{"$NONE ls", []string{"ls"}},
		{"ls $UNSET", nil},
		{"ls $GLOB", nil},
		{"ls $X", nil},
		{"ls a$D", nil},
		{"ls $D/x", nil},
		{"ls ${D}", nil},
		{"ls 'a b'", nil},
		{"ls; ls", nil},
		{"ls\nls", nil},
		{"ls > /dev/null", nil},
		{"A=b ls", nil},
		{"exit 3", nil},
		{"echo -e x", nil},
		{"fsward-no-such-program x", nil},
		{"", nil},
		{"$NONE", nil},
	} {
		shell := []string{"sh", "-c", c.line}
		want := c.want
		if want == nil {
			want = shell
		}
		if diff := cmp.Diff(want, withoutShell(shell, env)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.line, diff)
		}
	}
	for _, args := range [][]string{{"sh", "-c", "ls", "sh"}, {"ls", "-c", "ls"}, {"sh"}} {
		if diff := cmp.Diff(args, withoutShell(args, nil)); diff != "" {
			t.Error(diff)
		}
	}
}
