package corruptspec_test

import (
	"errors"
	"fmt"
	"testing"

	"fsward/interp/corruptspec"
)

func ExampleParse() {
	s, err := corruptspec.Parse("inode.mode^0x10@kind=file,id=12")
	fmt.Println(s.Object, s.Field, string(s.Op), s.Value, s.Where, err)
	fmt.Println(corruptspec.Apply(s.Op, 0o100644, s.Value) == 0o100664)
	// Output:
	// inode mode ^ 16 [{kind file} {id 12}] <nil>
	// true
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]error{
		"inode":      corruptspec.ErrNoChange,
		"":           corruptspec.ErrNoChange,
		"inode.mode": corruptspec.ErrNoOperation,
		"inode.=1":   corruptspec.ErrNoOperation,
	} {
		if _, err := corruptspec.Parse(text); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if s, err := corruptspec.Parse("inode.mode=x"); err == nil || s.Field != "mode" {
		t.Errorf("a value that is not a number: %+v, %v; want an error and the field mode", s, err)
	}
}
