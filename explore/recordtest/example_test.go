package recordtest_test

import (
	"testing"

	"fsward/explore/crash"
	"fsward/explore/durable"
	"fsward/explore/recordtest"
)

// A test records what the kernel writes to a new ext3, and reads the log of these writes. It needs
// root for the mount.
func ExampleRecord() {
	test := func(t *testing.T) {
		_, log := recordtest.Record(t, recordtest.Load{
			FS:   "ext3",
			Size: 64 << 20,
			Do:   recordtest.Script("mkdir a; echo text > a/file; sync; rm -r a"),
		})
		var account durable.Account
		debts, err := account.Follow(crash.OpenTrace(log))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range debts {
			t.Error(d)
		}
	}
	_ = test
}
