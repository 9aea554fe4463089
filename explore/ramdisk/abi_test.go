package ramdisk

import (
	"testing"

	"fsward/dev/abitest"
)

// constants are the values in this package of the constants of the header, without FSW_RD_.
var constants = map[string]uint64{
	"ABI": ABI, "SECTOR": SectorSize, "PAGE": PageSize, "DISKS": MaxDisks, "MAX_BYTES": MaxBytes,
	"SNAPSHOTS": MaxSnapshots, "RULES": MaxRules, "NAME": MaxName + 1, "TEXT": MaxText,
	"NUMBERS": maxNumbers, "DELAY_MS": MaxDelayMS,
	"READ": uint64(Read), "WRITE": uint64(Write), "FLUSH": uint64(Flush),
	"DISCARD": uint64(Discard), "ZEROES": uint64(Zeroes),
	"F_FUA": uint64(FUA), "F_PREFLUSH": uint64(Preflush), "F_META": uint64(Meta),
	"F_SYNC": uint64(Sync), "F_PRIO": uint64(Prio), "F_RAHEAD": uint64(Readahead),
	"F_BACKGROUND": uint64(Background), "F_NOUNMAP": uint64(NoUnmap),
	"SUBMIT": uint64(Submit), "COMPLETE": uint64(Complete), "MARK": uint64(Mark),
	"LOST": uint64(Lost), "SNAPSHOT": uint64(Snapshot), "RESTORE": uint64(Restore),
	"PATCH": uint64(Patch),
	"FAIL":  uint64(Fail), "DELAY": uint64(Delay), "TEAR": uint64(Tear),
	"DROP_FLUSH": uint64(DropFlush),
}

// commands are the numbers in this package of the commands of the header, without FSW_RD_IOC_.
var commands = map[string]uint32{
	"HELLO": cmdHello, "DISK": cmdDisk, "LOG": cmdLog, "MARK": cmdMark, "SNAPSHOT": cmdSnapshot,
	"RESTORE": cmdRestore, "DROP": cmdDrop, "CHANGED": cmdChanged, "PAGE_GET": cmdPageGet,
	"PAGE_SET": cmdPageSet, "INJECT": cmdInject, "CLEAR": cmdClear, "STAT": cmdStat,
	"GUARD": cmdGuard, "ANSWER": cmdAnswer,
}

// offsets are the offsets in bytes at which abi.go, control.go and log.go read and write the fields
// of the structs.
var offsets = map[string]string{
	"hello":    "abi 0 disks 4 log_bytes 8 log_used 16 lost 24 pages 32",
	"disk":     "disk 0 pad 4 bytes 8",
	"switch":   "disk 0 on 4",
	"mark":     "len 0 pad 4 text 8",
	"snapshot": "disk 0 pad 4 pages 8 name 16",
	"changed":  "disk 0 count 4 from 8 name 16 pages 48",
	"page":     "disk 0 pad 4 page 8 data 16",
	"rule":     "disk 0 action 4 ops 8 error 12 nth 16 times 24 arg 32",
	"stat": "disk 0 logging 4 bytes 8 pages 16 kept 24 snapshots 32 rules 36 fired 40 " +
		"submitted 48 completed 56 no_memory 64",
	"answer": "disk 0 error 4 id 8",
	"record": "seq 0 time_ns 8 id 16 sector 24 len 32 done 40 data_len 48 type 52 op 54 flags 56 " +
		"disk 60 status 64 injected 68 pid 72 tgid 76 comm 80",
}

// TestABI checks this package against the header that the module is built with, with a C compiler.
func TestABI(t *testing.T) {
	h := abitest.New(t, "../../ramdisk/fsw_ramdisk.h", "fsw_rd_")
	for name, want := range constants {
		h.Is("FSW_RD_"+name, want)
	}
	for name, want := range commands {
		h.Is("FSW_RD_IOC_"+name, uint64(want))
	}
	h.Is("sizeof(struct fsw_rd_record)", recordSize)
	for name, fields := range offsets {
		h.Offsets(t, name, fields)
	}
	h.Check(t)
}
