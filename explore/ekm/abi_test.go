package ekm

import (
	"testing"

	"fsward/dev/abitest"
)

// constants are the values in this package of the constants of the header, without FSW_EK_.
var constants = map[string]uint64{
	"ABI": ABI, "CHOICES": MaxChoices, "BOUND": MaxBound, "SITES": MaxSites, "MEMBERS": MaxMembers,
	"DEVICES": MaxDevices, "HELD": MaxHeld, "TEXT": MaxText + 1, "MARK": MaxMark, "DATA": MaxData,
	"PATH": MaxPath + 1, "WAIT_MS": MaxWaitMS,
	"VALUES_PER": valuesPer, "CHOICES_PER": choicesPer, "SITES_PER": sitesPer,
	"THREADS_PER": threadsPer, "EDGES_PER": edgesPer, "FINDINGS": maxFindings,
	"FINDING": findingText, "GATES": maxGates, "LOCK_NAME": lockName,
	"CHECK_LOCKS": uint64(Locks), "CHECK_PAIRS": uint64(Pairs), "CHECK_BUFFERS": uint64(Buffers),
	"LOCK_LEFT": uint64(LockLeft), "UNPAIRED": uint64(Unpaired), "UNDIRTIED": uint64(Undirtied),
	"CALL": uint64(Call), "SLAB": uint64(Slab), "PAGE": uint64(Page),
	"BREAD": uint64(BufferRead), "READ": uint64(PageRead), "USER": uint64(UserMemory),
	"SUBMIT": uint64(Submit), "END": uint64(End), "POINTS": uint64(points),
	"OFF": uint64(Off), "COUNT": uint64(Count), "ON": uint64(On),
	"LOG_WRITES": uint64(Writes), "LOG_CALLS": uint64(Calls), "LOG_CHOICES": uint64(Choices),
	"F_DIRTY": WasDirty, "F_WRITEBACK": WasWriteback, "F_PATH": PathMissing, "F_DATA": DataMissing,
	"BIO_OP": 0xff, "BIO_FLAGS": 8, "F_REPLAYED": 1, "F_DIVERGED": 2,
	"F_WORKER": 1, "F_RESCUER": 2, "F_HELD": 4, "TREE": kindTree, "THREAD": kindThread,
	"HOLD": howHold, "RUN": howRun, "RELEASE": howRelease,
}

// recordTypes are the record types of the header, without FSW_EK_T_.
var recordTypes = map[string]Type{
	"MARK": Mark, "LOST": Lost, "CHOICE": Chosen,
	"BUFFER_DIRTY": BufferDirty, "BUFFER_JOURNAL": BufferJournal, "BUFFER_LOCK": BufferLock,
	"BUFFER_UNLOCK": BufferUnlock, "BUFFER_SUBMIT": BufferSubmit,
	"BUFFER_WRITTEN": BufferWritten, "BUFFER_FORGET": BufferForget,
	"FOLIO_DIRTY": FolioDirty, "FOLIO_REDIRTY": FolioRedirty, "FOLIO_CLEAN": FolioClean,
	"FOLIO_CANCEL": FolioCancel, "FOLIO_WRITEBACK": FolioWriteback,
	"FOLIO_WRITTEN": FolioWritten, "FOLIO_DROP": FolioDrop,
	"BIO_SUBMIT": BioSubmit, "BIO_DATA": BioData, "BIO_END": BioEnd,
	"CALL": SystemCall, "CALL_DATA": SystemCallData, "END": types,
}

// commands are the numbers in this package of the commands of the header, without FSW_EK_IOC_.
var commands = map[string]uint32{
	"HELLO": cmdHello, "CHOOSE": cmdChoose, "LOAD": cmdLoad, "START": cmdStart, "STATE": cmdState,
	"TAKEN": cmdTaken, "SET": cmdSet, "STAT": cmdStat, "SITES": cmdSites, "MEMBER": cmdMember,
	"WATCH": cmdWatch, "LOG": cmdLog, "MARK": cmdMark, "THREADS": cmdThreads, "HOLD": cmdHold,
	"STRAY": cmdStray, "CHECK": cmdCheck, "FINDINGS": cmdFindings, "EDGES": cmdEdges,
}

// sizes are the sizes, in bytes, of the structs that an answer can hold several of.
var sizes = map[string]uint64{
	"record": recordSize, "syscall": syscallSize, "choice": choiceSize, "site": siteSize,
	"thread": threadSize, "strayed": unscheduledSize, "finding": findingSize, "edge": edgeSize,
}

// offsets are the offsets in bytes at which abi.go, control.go, thread.go and log.go read and write
// the fields of the structs.
var offsets = map[string]string{
	"hello":  "abi 0 what 4 probes 8 pad 12 log_bytes 16 log_used 24 lost 32 missed 40",
	"choose": "bound 0 value 4 site 8",
	"load":   "from 0 count 4 values 8",
	"run":    "loaded 0 taken 4 full 8 diverged 16 foreign 24 interrupts 32",
	"choice": "bound 0 value 4 point 8 flags 12 pid 16 tgid 20 stack 24 comm 32 site 48",
	"taken":  "from 0 count 4 choices 8",
	"set":    "point 0 mode 4 stack 8 symbol 16",
	"stat": "point 0 mode 4 functions 8 hits 16 failed 24 elsewhere 32 exempt 40 foreign 48 " +
		"interrupts 56 full 64",
	"site":   "stack 0 hits 8 failed 16 point 24 site 32",
	"sites":  "from 0 count 4 sites 8",
	"member": "pid 0 kind 4 on 8 pad 12",
	"watch":  "dev 0 on 4",
	"log":    "what 0 pad 4",
	"mark":   "len 0 pad 4 text 8",
	"thread": "pid 0 flags 4 nice 8 policy 12 switches 16 run_ns 24 last_run_ns 32 events 40 " +
		"comm 48 work 64",
	"threads":  "from 0 count 4 threads 8",
	"hold":     "pid 0 how 4 wait_ms 8 ran 12",
	"strayed":  "pid 0 run_ns 8 switches 16 last_run_ns 24 comm 32",
	"stray":    "held 0 count 4 threads 8",
	"check":    "what 0 pad 4",
	"finding":  "kind 0 hits 4 comm 8 text 24",
	"findings": "full 0 count 4 findings 8",
	"edge": "from 0 to 8 hits 16 gate 24 gates 56 pad 60 from_name 64 to_name 96 from_site 128 " +
		"to_site 208 comm 288",
	"edges": "from 0 count 4 edges 8",
	"record": "seq 0 time_ns 8 object 16 ino 24 pos 32 len 40 pfn 48 page_off 56 data_len 60 " +
		"type 64 flags 68 dev 72 status 76 pid 80 tgid 84 comm 88",
	"syscall": "args 0 result 48 path_len 56 name 64",
}

// TestABI checks this package against the header that the module is built with, with a C compiler.
func TestABI(t *testing.T) {
	h := abitest.New(t, "../../guest-kmod/fsw_ekm.h", "fsw_ek_")
	for name, want := range constants {
		h.Is("FSW_EK_"+name, want)
	}
	for name, want := range recordTypes {
		h.Is("FSW_EK_T_"+name, uint64(want))
	}
	for name, want := range commands {
		h.Is("FSW_EK_IOC_"+name, uint64(want))
	}
	for name, want := range sizes {
		h.Is("sizeof(struct fsw_ek_"+name+")", want)
	}
	for name, fields := range offsets {
		h.Offsets(t, name, fields)
	}
	h.Check(t)
}
