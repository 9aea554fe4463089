package agent

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// TestOpText checks that each operation has a text, and the texts of some operations.
func TestOpText(t *testing.T) {
	for c := opInvalid + 1; c < opEnd; c++ {
		if s := (Op{Code: c}).String(); strings.HasPrefix(s, "operation ") || strings.Contains(s, "%") {
			t.Errorf("the text of operation %d is %q", c, s)
		}
	}
	for want, op := range map[string]Op{
		"mkdir /a 0755":                 Mkdir("/a", 0o755),
		"rename /a /b":                  Rename("/a", "/b", 0),
		"rename /a /b RENAME_EXCHANGE":  Rename("/a", "/b", 2),
		"open 3: /a O_RDWR|O_CREAT":     Open(3, "/a", 0o102, 0o644),
		"open 3: /a O_RDONLY|O_SYNC":    Open(3, "/a", unix.O_SYNC|unix.O_NONBLOCK, 0),
		"write 3: at 4096, 2 bytes":     Write(3, 4096, []byte("%s")),
		"fill 0: at 1, 2 bytes, seed 3": Fill(0, 1, 2, 3),
		"inject disk 2: fail read or write 3 with EIO": DiskInject(2, ramdisk.Rule{
			Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Read, ramdisk.Write}, Nth: 3, Times: 1,
			Error: 5}),
		"inject disk 0: fail write 1 and all after it with ENOSPC": DiskInject(0, ramdisk.Rule{
			Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Write}, Nth: 1, Times: 1 << 40, Error: 28}),
		"inject disk 0: fail write 2 to 5 with EIO": DiskInject(0, ramdisk.Rule{
			Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Write}, Nth: 2, Times: 4, Error: 5}),
		"inject disk 0: tear write 2 at sector 1": DiskInject(0, ramdisk.Rule{
			Action: ramdisk.Tear, Ops: []ramdisk.Op{ramdisk.Write}, Nth: 2, Times: 1, Arg: 1}),
		"inject disk 0: drop flush 4": DiskInject(0, ramdisk.Rule{
			Action: ramdisk.DropFlush, Nth: 4, Times: 1}),
		"fallocate 1: at 3, 4 bytes":                      Fallocate(1, 0, 3, 4),
		"fallocate 1: PUNCH_HOLE|KEEP_SIZE at 3, 4 bytes": Fallocate(1, 3, 3, 4),
		"fallocate 1: KEEP_SIZE|0x40 at 3, 4 bytes":       Fallocate(1, 0x41, 3, 4),
	} {
		if got := op.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (Op{Code: opEnd}).String(); got == "" {
		t.Error("an unknown operation has no text")
	}
}
