package model_test

import (
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// TestNoDirFsync: without the fsync of directories it gives EINVAL, and forces nothing to the disk.
func TestNoDirFsync(t *testing.T) {
	for _, lacks := range []bool{false, true} {
		fs := model.New(model.Promises{NoDirFsync: lacks})
		fs.Apply(model.Op{Code: model.Open, Slot: 1, Path: "/a", Flags: unix.O_RDWR | unix.O_CREAT})
		fs.Apply(model.Op{Code: model.Open, Slot: 2, Path: "/"})
		if got := fs.Apply(model.Op{Code: model.Fsync, Slot: 1}); got != (model.Result{}) {
			t.Errorf("fsync of the file: %v", got)
		}
		want := model.Result{}
		if lacks {
			want.Errno = unix.EINVAL
		}
		if got := fs.Apply(model.Op{Code: model.Fsync, Slot: 2}); got != want {
			t.Errorf("fsync of the directory: %v, want %v", got, want)
		}
	}
}

// TestAboveLacks: what a layer or the file system below it lacks, both lack, whatever promises are
// added. All other promises are those below.
func TestAboveLacks(t *testing.T) {
	lacks := 0
	for i := range reflect.TypeFor[model.Promises]().NumField() {
		field := reflect.TypeFor[model.Promises]().Field(i)
		if field.Type.Kind() != reflect.Bool {
			continue
		}
		var p model.Promises
		reflect.ValueOf(&p).Elem().Field(i).SetBool(true)
		above := reflect.ValueOf(p.Above(model.Promises{})).Field(i).Bool()
		below := reflect.ValueOf(model.Promises{}.Above(p)).Field(i).Bool()
		both := strings.HasPrefix(field.Name, "No") || strings.HasSuffix(field.Name, "ync")
		if strings.HasPrefix(field.Name, "No") {
			lacks++
		}
		if above != both || !below {
			t.Errorf("%s: %t if the layer has it, %t if the file system below has it", field.Name,
				above, below)
		}
	}
	if lacks < 13 {
		t.Errorf("only %d fields are about what is lacking", lacks)
	}
}

// TestNewFileFlags: Btrfs gives each new file NoCOW with nodatacow, and no directory.
func TestNewFileFlags(t *testing.T) {
	for _, flags := range []uint32{0, agent.NoCOW} {
		fs := model.New(model.Promises{NewFileFlags: flags,
			Features: []model.Feature{model.FileFlags, model.Subvolumes}})
		fs.Apply(model.Op{Code: model.Open, Path: "/f", Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o644})
		fs.Apply(model.Op{Code: model.Mkdir, Path: "/d", Mode: 0o755})
		if file, dir := fs.Flags("/f"), fs.Flags("/d"); file != flags || dir != 0 {
			t.Errorf("the file has the flags %#x, want %#x, the directory %#x, want 0", file, flags, dir)
		}
	}
}
