// Package abitest holds a Go package against the C header of a kernel module.
package abitest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Header is a C header, and what Go takes from it.
type Header struct {
	path    string
	prefix  string // of its structs
	numbers []number
}

type number struct {
	expr string // in C
	want uint64
}

// New names a header and the prefix of its structs, "fsw_rd_" and the like.
func New(t *testing.T, path, prefix string) *Header {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return &Header{path: abs, prefix: prefix}
}

// Is says what an expression in C has to be.
func (h *Header) Is(expr string, want uint64) { h.numbers = append(h.numbers, number{expr, want}) }

// Offsets says where the fields of a struct are: "first 0 second 4".
func (h *Header) Offsets(t *testing.T, name, fields string) {
	t.Helper()
	f := strings.Fields(fields)
	for i := 0; i < len(f); i += 2 {
		var at uint64
		if _, err := fmt.Sscan(f[i+1], &at); err != nil {
			t.Fatal(err)
		}
		h.Is(fmt.Sprintf("offsetof(struct %s%s, %s)", h.prefix, name, f[i]), at)
	}
}

// Check has the C compiler say what is in the header, and fails the test for each difference, and for structs with holes.
func (h *Header) Check(t *testing.T) {
	t.Helper()
	var c strings.Builder
	c.WriteString("#include <stddef.h>\n#include <stdio.h>\n#include \"" + h.path + "\"\nint main(void)\n{\n")
	for _, n := range h.numbers {
		fmt.Fprintf(&c, "\tprintf(\"%%llu\\n\", (unsigned long long)(%s));\n", n.expr)
	}
	c.WriteString("\treturn 0;\n}\n")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "abi.c"), filepath.Join(dir, "abi")
	if err := os.WriteFile(source, []byte(c.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-Wall", "-Wpadded", "-Werror", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	if len(lines) != len(h.numbers) {
		t.Fatalf("%d numbers of %d", len(lines), len(h.numbers))
	}
	for i, n := range h.numbers {
		if lines[i] != fmt.Sprint(n.want) {
			t.Errorf("%s is %s in C and %d here", n.expr, lines[i], n.want)
		}
	}
}
