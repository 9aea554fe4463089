package change

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestNameTable interns names of all lengths. Each has a handle of its own, and its text stays what
// it was when the table grows and when it is emptied.
func TestNameTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := NewNames()
	for round := range 3 {
		want := make(map[string]Value)
		for i := range 20_000 {
			b := fmt.Appendf(nil, "%d-%d", round, i)
			if i%10 == 0 {
				b = bytes.Repeat([]byte{byte(i)}, r.IntN(300))
			}
			if i == 777 {
				b = make([]byte, 3*maxNameBlock)
			}
			v, known := want[string(b)]
			if got := names.Intern(b); known && got != v {
				t.Fatalf("%q is %v, and was %v", b, got, v)
			} else if !known {
				want[names.Text(got)] = got
			}
		}
		handles := make(map[Value]string)
		for text, v := range want {
			if other, taken := handles[v]; taken {
				t.Fatalf("%q and %q are both %v", text, other, v)
			}
			handles[v] = text
			if got := names.Text(v); got != text || names.Intern([]byte(text)) != v {
				t.Fatalf("%v is %q, want %q", v, got, text)
			}
		}
		if names.Len() != len(want) {
			t.Errorf("%d names, want %d", names.Len(), len(want))
		}
		held := names.Text(names.Intern([]byte("held")))
		names.Reset()
		for i := range 1000 {
			names.Intern(fmt.Appendf(nil, "other %d", i))
		}
		if held != "held" {
			t.Errorf("a text became %q", held)
		}
		names.Reset()
	}
}
