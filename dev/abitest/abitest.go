// Package abitest checks that the constants and struct layouts of a Go package agree with the C
// header of a kernel module. A test makes a Header with New, adds the expected numbers with Is and
// Offsets, and calls Check.
package abitest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A Header is a C header with the numbers that Go expects in it.
type Header struct {
	path    string
	prefix  string // of the names of its structs
	numbers []number
}

// A number is a C expression with its expected value.
type number struct {
	expr string
	want uint64
}

// New returns the header at path. prefix is the prefix of the names of its structs, such as
// "fsw_rd_".
func New(t *testing.T, path, prefix string) *Header {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return &Header{path: abs, prefix: prefix}
}

// Is adds a C expression and its expected value.
func (h *Header) Is(expr string, want uint64) { h.numbers = append(h.numbers, number{expr, want}) }

// Offsets adds the expected offsets of the fields of a struct. fields alternates names and offsets
// in bytes: "first 0 second 4".
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

// Check compiles and runs a C program that prints the numbers. The test fails for each number that
// differs, and if a struct has padding.
func (h *Header) Check(t *testing.T) {
	t.Helper()
	var c strings.Builder
	c.WriteString("#include <stddef.h>\n#include <stdio.h>\n")
	c.WriteString("#include \"" + h.path + "\"\nint main(void)\n{\n")
	for _, n := range h.numbers {
		fmt.Fprintf(&c, "\tprintf(\"%%llu\\n\", (unsigned long long)(%s));\n", n.expr)
	}
	c.WriteString("\treturn 0;\n}\n")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "abi.c"), filepath.Join(dir, "abi")
	if err := os.WriteFile(source, []byte(c.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	gcc := exec.Command("gcc", "-Wall", "-Wpadded", "-Werror", "-o", program, source)
	out, err := gcc.CombinedOutput()
	if err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	out, err = exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	if len(lines) != len(h.numbers) {
		t.Fatalf("the C program prints %d numbers, want %d", len(lines), len(h.numbers))
	}
	for i, n := range h.numbers {
		if lines[i] != fmt.Sprint(n.want) {
			t.Errorf("%s is %s in C and %d in Go", n.expr, lines[i], n.want)
		}
	}
}
