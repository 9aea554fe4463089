package model_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"fsward/explore/agent"
	"fsward/explore/model"
	"fsward/explore/modeltest"
)

// host performs operations on the kernel of the machine that runs the test.
func host(t testing.TB) model.Perform {
	t.Helper()
	c := modeltest.ThisMachine(t)
	return func(ops ...agent.Op) ([]agent.Result, error) {
		d, err := c.Do(context.Background(), agent.Batch{Ops: ops, Timeout: time.Minute})
		if err == nil && len(d.Results) != len(ops) {
			err = fmt.Errorf("%d operations gave %d results", len(ops), len(d.Results))
		}
		return d.Results, err
	}
}

// mustOccur are results that the random operations have to produce.
var mustOccur = []string{
	"rename ENOTEMPTY", "rename EINVAL", "link EEXIST", "open ELOOP", "rmdir ENOTEMPTY", "write ok",
	"fallocate ok", "setxattr EEXIST", "truncate EISDIR", "read ok", "rename ok", "mmapwrite ok",
	"mmapwrite EFAULT", "mmapwrite EACCES", "msync ok", "dwrite ok", "dwrite EBADF", "linkat ok",
	"linkat ENOENT", "setxattr EACCES", "mkdir inherits", "mknod ok", "mknod EEXIST",
	"sync_file_range ok", "open ENXIO",
}

// hostFeatures are the features of the file systems of this machine's kernel, and the results that
// they have to produce.
var hostFeatures = map[string][]model.Feature{
	"tmpfs": {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL, model.Times},
	"ext2": {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL, model.Times,
		model.FileFlags, model.FileExtents},
	"ext3": {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL, model.Times,
		model.FileFlags, model.FileExtents},
	"ext4": {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL, model.ZeroRange,
		model.Shift, model.Times, model.FileFlags, model.FileExtents},
	"btrfs": {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL, model.ZeroRange,
		model.Reflink, model.Times, model.FileFlags, model.Subvolumes,
		model.FileExtents},
	"xfs": {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL, model.ZeroRange,
		model.Shift, model.Reflink, model.Times, model.FileFlags, model.FileExtents},
}

var featuresOccur = map[model.Feature][]string{
	model.Shift:       {"collapse ok", "insert ok", "collapse EINVAL"},
	model.ZeroRange:   {"zero ok"},
	model.FileExtents: {"fiemap ok", "fiemap EINVAL"},
	model.Reflink:     {"clone ok", "dedupe ok", "clone EINVAL"},
	model.FileFlags: {"setflags ok", "setflags ENOENT", "mkdir inherits flags", "unlink EPERM",
		"rename EPERM", "open EPERM", "mkdir EPERM", "chmod EPERM", "truncate EPERM",
		"setxattr EPERM", "linkat EPERM"},
	model.Subvolumes: {"subvolume ok", "snapshot ok", "delete_subvolume ok", "subvolume EEXIST",
		"delete_subvolume EINVAL", "delete_subvolume ENOTEMPTY", "link EXDEV", "rename EXDEV",
		"subvolume inherits flags", "set_read_only ok", "set_read_only EINVAL", "open EROFS",
		"unlink EROFS", "rename EROFS", "mkdir EROFS", "setxattr EROFS", "chmod EROFS",
		"setflags EROFS", "snapshot EROFS", "truncate EROFS"},
}

// TestAsLinux: each operation gives the same result on real file systems as in the model, and
// leaves the same tree. With -short there are fewer lists of operations.
func TestAsLinux(t *testing.T) {
	for _, fs := range []string{"tmpfs", "ext2", "ext3", "ext4", "btrfs", "xfs"} {
		t.Run(fs, func(t *testing.T) {
			do, dir := host(t), modeltest.Mounted(t, fs)
			promises := model.Promises{NoFallocate: fs == "ext2" || fs == "ext3",
				Features: hostFeatures[fs]}
			lists := 160
			if testing.Short() {
				lists = 25
			}
			c := modeltest.Comparison{Do: do, Promises: promises, Seen: make(map[string]int)}
			for seed := range uint64(lists) {
				if err := c.Compare(dir, seed); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d lists; results by operation: %v", lists, c.Seen)
			must := mustOccur
			for _, f := range promises.Features {
				must = slices.Concat(must, featuresOccur[f])
			}
			for _, must := range must {
				if c.Seen[must] == 0 && !testing.Short() {
					t.Errorf("no operation gave %s", must)
				}
			}
		})
	}
}
