package spec

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestProgramOfVM assembles the program that the machine of the stack vm runs, and compares it with
// the one in the stack.
func TestProgramOfVM(t *testing.T) {
	dir := t.TempDir()
	object, program := filepath.Join(dir, "o"), filepath.Join(dir, "program")
	for _, args := range [][]string{
		{"as", "--32", "-o", object, "../../docs/examples/vm.s"},
		{"objcopy", "-O", "binary", "-j", ".text", object, program},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	want, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	text, err := shipped.ReadFile("stacks/vm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)<<'END'[^\n]*\n(.*?)\n *END`).FindSubmatch(text)
	if found == nil {
		t.Fatal("the stack has no program")
	}
	got, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(found[1])), ""))
	if err != nil || string(got) != string(want) {
		t.Errorf("the program of the stack is %q, %v; docs/examples/vm.s is %q", got, err, want)
	}
}
