package checkers

import (
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// E2BIG says that there is no room for an attribute, and nothing of other operations.
func TestResourceErrors(t *testing.T) {
	for _, c := range []struct {
		code  model.Code
		errno unix.Errno
		want  bool
	}{
		{model.Setxattr, unix.E2BIG, true}, {model.Write, unix.E2BIG, false},
		{model.Write, unix.ENOSPC, true}, {model.Setxattr, unix.EEXIST, false},
	} {
		if got := isResourceError(c.code, c.errno); got != c.want {
			t.Errorf("%v, %v: %t, want %t", c.code, c.errno, got, c.want)
		}
	}
}
