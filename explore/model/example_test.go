package model_test

import (
	"fmt"

	"fsward/explore/model"
)

// The model decides which trees a crash may leave. /a was synced and must be there. /a/b was not
// synced and may be missing.
func ExampleFS_Allowed() {
	fs := model.New(model.Promises{})
	empty := fs.Observed()
	fs.Apply(model.Op{Code: model.Mkdir, Path: "/a", Mode: 0o755})
	one := fs.Observed()
	fs.Apply(model.Op{Code: model.Sync})
	fs.Apply(model.Op{Code: model.Mkdir, Path: "/a/b", Mode: 0o755})
	two := fs.Observed()

	fmt.Println("both:", fs.Allowed(two))
	fmt.Println("only /a:", fs.Allowed(one))
	fmt.Println("none:", fs.Allowed(empty))
	// Output:
	// both: <nil>
	// only /a: <nil>
	// none: lost: /a is gone: operation 1 was mkdir(/a, 0755); on the disk since operation 2, sync()
}

// The model knows the result of each operation. A directory that is not empty cannot be removed.
func ExampleFS_Apply() {
	fs := model.New(model.Promises{})
	for _, op := range []model.Op{
		{Code: model.Mkdir, Path: "/a", Mode: 0o755},
		{Code: model.Mkdir, Path: "/a/b", Mode: 0o755},
		{Code: model.Rmdir, Path: "/a"},
	} {
		if r := fs.Apply(op); r.Errno != 0 {
			fmt.Printf("%v: %v\n", op, r.Errno)
			continue
		}
		fmt.Println(op)
	}
	// Output:
	// mkdir(/a, 0755)
	// mkdir(/a/b, 0755)
	// rmdir(/a): directory not empty
}
