package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A terminal is fsward on a pseudo-terminal, as a person has it.
type terminal struct {
	t    *testing.T
	tty  *os.File
	text bytes.Buffer
}

// until reads what is shown until it has want, and returns what was shown since the last call.
func (c *terminal) until(want string) string {
	c.t.Helper()
	if err := c.tty.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		c.t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for !strings.Contains(c.text.String(), want) {
		n, err := c.tty.Read(buffer)
		c.text.Write(buffer[:n])
		if err != nil {
			c.t.Fatalf("%v; no %q in what is shown: %q", err, want, c.text.String())
		}
	}
	shown := c.text.String()
	c.text.Reset()
	return shown
}

func (c *terminal) press(keys string) {
	c.t.Helper()
	if _, err := c.tty.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// Asked without a goal on a terminal, query converses: Tab completes predicates, kinds and fields,
// the arrow up brings back the last goal, help lists what there is, and a mistake does not end it.
func TestConverse(t *testing.T) {
	image := filepath.Join(t.TempDir(), "e.img")
	for _, args := range [][]string{{"truncate", "-s", "16M", image},
		{"mkfs.ext3", "-q", "-F", image}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	command := exec.Command("fsward", "rules", "query", image)
	tty, err := pty.StartWithSize(command, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	c := &terminal{t: t, tty: tty}
	c.until("?- ")

	c.press("quer\t(inode, 2, links_c\t, N)\r")
	if shown := c.until("\n?- "); !strings.Contains(shown, "query(inode, 2, links_count, N)") ||
		!strings.Contains(shown, "\r\n3\r\n") {
		t.Errorf("a goal with completions shows %q", shown)
	}
	c.press("add(inode_\t") // several begin so: they are listed
	if shown := c.until("inode_bit"); !strings.Contains(shown, "add(") {
		t.Errorf("Tab shows %q", shown)
	}
	c.press("bit, I), I =:= 2\r")
	c.until("\r\nI\r\n2\r\n")
	c.press("nonsense\r")
	c.until("unknown predicate nonsense/0")
	c.press("\x1b[A\x1b[A\x1b[A\r") // three goals back
	if shown := c.until("\r\n3\r\n"); !strings.Contains(shown, "query(inode, 2, links_count, N)") {
		t.Errorf("arrow up shows %q", shown)
	}
	c.press("help\r")
	c.until("dirent")
	c.press("\x04")
	if err := command.Wait(); err != nil {
		t.Errorf("Ctrl-D: %v", err)
	}
}
