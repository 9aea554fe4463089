package shareddata_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"fsward/shareddata"
)

// printer is a test that prints its failures.
type printer struct{ testing.TB }

func (printer) Helper() {}

func (printer) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// A test reads a file of the shared data. FSWARD_DATA names the folder of that data.
func ExamplePath() {
	dir, err := os.MkdirTemp("", "shareddata")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "table.txt"), []byte("12 inodes"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	defer restore("FSWARD_DATA")()
	if err := os.Setenv("FSWARD_DATA", dir); err != nil {
		fmt.Println(err)
		return
	}

	test := func(t testing.TB) {
		b, err := os.ReadFile(shareddata.Path(t, "table.txt"))
		if err != nil {
			t.Fatalf("%v", err)
		}
		fmt.Printf("%s\n", b)
	}
	test(printer{})
	// Output: 12 inodes
}

// restore returns a function that gives an environment variable its present value again.
func restore(name string) func() {
	value, set := os.LookupEnv(name)
	return func() {
		if !set {
			_ = os.Unsetenv(name)
			return
		}
		_ = os.Setenv(name, value)
	}
}
