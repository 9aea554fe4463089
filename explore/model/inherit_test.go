package model_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// TestInheritedList checks what new files get from the default list of their directory: the access
// list of files and directories, the default list of directories, and a mode within the list.
func TestInheritedList(t *testing.T) {
	const access, inherits = "system.posix_acl_access", "system.posix_acl_default"
	f := model.New(model.Promises{Features: []model.Feature{model.ACL, model.Nodes}})
	list := model.AccessList(0o750, 7, 7)
	for _, o := range []model.Op{
		{Code: model.Mkdir, Path: "/d", Mode: 0o755},
		{Code: model.Setxattr, Path: "/d", Name: inherits, Value: list},
		{Code: model.Mkdir, Path: "/d/dir", Mode: 0o755},
		{Code: model.Open, Path: "/d/file", Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o644},
		{Code: model.Mknod, Path: "/d/fifo", Mode: unix.S_IFIFO | 0o600},
		{Code: model.Symlink, Path: "/d/link", To: "x"},
		{Code: model.Removexattr, Path: "/d", Name: inherits},
		{Code: model.Mkdir, Path: "/d/later", Mode: 0o755},
	} {
		if r := f.Apply(o); r.Errno != 0 {
			t.Fatalf("%v: %v", o, r.Errno)
		}
	}
	s := f.Observed()
	for _, row := range []struct {
		path             string
		mode             uint32
		access, inherits string
	}{
		{"/d", 0o755, "", ""},
		{"/d/dir", 0o750, model.AccessList(0o750, 7, 7), list},
		{"/d/file", 0o640, "", ""},
		{"/d/fifo", 0o600, "", ""},
		{"/d/later", 0o755, "", ""},
	} {
		for _, e := range s.Entries() {
			if "/"+e.Path == row.path && e.Mode&0o777 != row.mode {
				t.Errorf("%s has the mode %#o, want %#o", row.path, e.Mode&0o777, row.mode)
			}
		}
		x := s.Xattrs(row.path)
		if row.access != "" && x[access] != row.access || x[inherits] != row.inherits {
			t.Errorf("%s has %q", row.path, x)
		}
		if in := f.Inherits(row.path); in != (row.inherits != "") {
			t.Errorf("%s gives a list: %t", row.path, in)
		}
	}
	// The group of the list keeps its permissions, and the mask has those of the mode.
	if x := s.Xattrs("/d/file"); len(x[access]) == 0 || x[inherits] != "" {
		t.Errorf("a file has %q", x)
	}
	if x := s.Xattrs("/d/link"); len(x) != 0 {
		t.Errorf("a symbolic link has %q", x)
	}
}
