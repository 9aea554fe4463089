package exploretest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/durable"
	"fsward/explore/guest"
	"fsward/explore/ramdisk"
)

// A Bug is a bug that a Toy can have. The zero value is no bug.
type Bug string

// The bugs.
const (
	DroppedFlush Bug = "dropped flush" // sync writes, and does not flush
	EarlySync    Bug = "early sync"    // sync does not write the last dirty key, and succeeds
	Panic        Bug = "panic"         // removing the third key makes the machine panic
	LazySync     Bug = "lazy sync"     // sync does not flush if no key is dirty
)

// A Toy is a small storage system: a map from the keys 0 to 15 to bytes other than zero. Changed
// keys are dirty blocks in memory until they are synced. Sector 0 of the disk holds a magic text;
// the sector key+1 holds the byte of a key.
type Toy struct {
	explore.Node
	Bug Bug

	mounted bool
	values  map[int]byte // the values that get returns
	dirty   map[int]bool // keys that differ from the disk
	flusher *Flusher     // nil: none
}

// toyMagic begins sector 0.
var toyMagic = []byte("a toy, not a file system")

// NewToy returns a Toy on disk 0 of a system, and adds its program "toy" to the system.
func NewToy(s *System, bug Bug) *Toy {
	on := []explore.Component{explore.RAMDisk(0, 64<<10)}
	t := &Toy{Node: explore.Node{At: "/toy", On: on}, Bug: bug}
	s.Programs["toy"] = t.run
	s.Memory = func() func() {
		was := Toy{mounted: t.mounted, values: maps.Clone(t.values), dirty: maps.Clone(t.dirty)}
		var held, unscheduled bool
		if t.flusher != nil {
			held, unscheduled = t.flusher.held, t.flusher.unscheduled
		}
		return func() {
			t.mounted, t.values, t.dirty = was.mounted, maps.Clone(was.values), maps.Clone(was.dirty)
			if t.flusher != nil {
				t.flusher.held, t.flusher.unscheduled = held, unscheduled
			}
		}
	}
	return t
}

// Init makes the Toy on the disk.
func (t *Toy) Init(e *explore.Env) error { return command(e, "toy", "make") }

// Mount mounts the Toy.
func (t *Toy) Mount(e *explore.Env) error { return command(e, "toy", "mount") }

// Unmount syncs and unmounts the Toy.
func (t *Toy) Unmount(e *explore.Env) error { return command(e, "toy", "unmount") }

// command runs a command that must succeed.
func command(e *explore.Env, args ...string) error {
	exit, err := e.Run(args...)
	if err == nil && exit.Code != 0 {
		err = &explore.CommandError{Command: fmt.Sprint(args), Exit: exit}
	}
	return err
}

// run is the program "toy".
func (t *Toy) run(s *System, c agent.Command) (agent.Exit, error) {
	out, err := t.do(s, c.Args[1:])
	var failure *guest.Failure
	switch {
	case errors.As(err, &failure):
		return agent.Exit{}, failure
	case err != nil:
		out = []byte(err.Error())
		//nolint:nilerr // the program fails, and the machine does not
		return agent.Exit{Code: 1, Stdout: out}, nil
	}
	return agent.Exit{Stdout: out}, nil
}

// do performs a command of the program and returns its output.
func (t *Toy) do(s *System, args []string) (out []byte, err error) {
	sector := make([]byte, ramdisk.SectorSize)
	var key, value int
	if len(args) > 1 {
		if key, err = strconv.Atoi(args[1]); err != nil {
			return nil, err
		}
	}
	if len(args) > 2 {
		if value, err = strconv.Atoi(args[2]); err != nil {
			return nil, err
		}
	}
	switch command := args[0]; command {
	case "make":
		copy(sector, toyMagic)
		return nil, s.Submit(0, ramdisk.Write, ramdisk.FUA, 0, sector)
	case "mount":
		return nil, t.load(s)
	case "unmount":
		err, t.mounted = t.sync(s), false
		return nil, err
	case "sync":
		return nil, t.sync(s)
	case "put": // value 0 removes the key
		if t.Bug == Panic && key == 2 && value == 0 && t.values[key] != 0 {
			return nil, &guest.Failure{Kind: guest.Panicked,
				Text: "Kernel panic - not syncing: bug of the toy"}
		}
		t.values[key], t.dirty[key] = byte(value), true
		if f := t.flusher; f != nil && f.held && f.Eager == key && value != 0 {
			f.unscheduled = true
			return nil, t.write(s, []int{key})
		}
		block := bytes.Repeat([]byte{byte(value)}, ramdisk.SectorSize)
		return nil, s.Dirty(0, uint64(1+key), block)
	case "get":
		return []byte(strconv.Itoa(int(t.values[key]))), nil
	default:
		return nil, fmt.Errorf("toy: unknown command %s", command)
	}
}

// load reads the values from the disk. It fails if sector 0 does not hold the magic text.
func (t *Toy) load(s *System) error {
	head, err := s.Read(0, 0)
	if err != nil || !bytes.HasPrefix(head[:], toyMagic) {
		return fmt.Errorf("the disk does not hold a toy: %q, %w", head[:len(toyMagic)], err)
	}
	t.mounted, t.values, t.dirty = true, make(map[int]byte), make(map[int]bool)
	for key := range 16 {
		data, err := s.Read(0, uint64(1+key))
		if err != nil {
			return err
		}
		if data[0] != 0 {
			t.values[key] = data[0]
		}
	}
	return nil
}

// sync writes the dirty keys and flushes.
func (t *Toy) sync(s *System) error {
	keys := slices.Sorted(maps.Keys(t.dirty))
	if t.Bug == EarlySync && len(keys) > 1 {
		keys = keys[:len(keys)-1]
	}
	if t.Bug == LazySync && len(keys) == 0 {
		return nil
	}
	if f := t.flusher; f != nil && f.held && len(keys) > 0 {
		f.unscheduled = true // sync wakes the thread and waits for it
	}
	if err := t.write(s, keys); err != nil || t.Bug == DroppedFlush {
		return err
	}
	return s.Submit(0, ramdisk.Flush, ramdisk.Preflush, 0, nil)
}

// write writes dirty keys, and does not flush.
func (t *Toy) write(s *System, keys []int) error {
	for _, key := range keys {
		sector := bytes.Repeat([]byte{t.values[key]}, ramdisk.SectorSize)
		if err := s.Submit(0, ramdisk.Write, 0, uint64(1+key), sector); err != nil {
			return err
		}
		delete(t.dirty, key)
	}
	return nil
}

// A ToyChecker is a checker of a Toy: it puts bytes and syncs. After a crash the synced values must
// be on the disk. Values that were put later may be.
type ToyChecker struct {
	explore.Plain
	Keys   int // number of keys, 1 to 16
	Values int // number of values, 1 to 255

	values, synced map[int]byte
	changed        map[int]bool // since the last sync
}

// Init begins without keys.
func (c *ToyChecker) Init(*explore.Env) error {
	c.values, c.synced, c.changed = make(map[int]byte), make(map[int]byte), make(map[int]bool)
	return nil
}

// Mutate puts a byte, removes one, or syncs.
func (c *ToyChecker) Mutate(e *explore.Env) error {
	if e.Choose(2) == 1 {
		sync := func() error { return command(e, "toy", "sync") }
		if err := e.Promised("toy sync", durable.All, sync); err != nil {
			return err
		}
		c.synced, c.changed = maps.Clone(c.values), make(map[int]bool)
		return e.CheckCrashesNow(bytesOf(maps.Clone(c.synced)))
	}
	key, value := int(e.Choose(uint32(c.Keys))), byte(e.Choose(uint32(c.Values+1)))
	if value == 0 {
		delete(c.values, key)
	} else {
		c.values[key] = value
	}
	c.changed[key] = true
	return command(e, "toy", "put", strconv.Itoa(key), strconv.Itoa(int(value)))
}

// bytesOf are the values that must be on the disk after a crash.
type bytesOf map[int]byte

// Key returns a text that differs for different values.
func (b bytesOf) Key() string { return fmt.Sprint(map[int]byte(b)) }

// Check compares the values of all keys with the synced ones.
func (c *ToyChecker) Check(e *explore.Env, crash explore.Crash) error {
	for key := range c.Keys {
		exit, err := e.Run("toy", "get", strconv.Itoa(key))
		if err != nil {
			return err
		}
		if want := strconv.Itoa(int(crash.After.(bytesOf)[key])); string(exit.Stdout) != want {
			return explore.Failuref("synced byte lost", "key %d has %s, want %s", key, exit.Stdout, want)
		}
	}
	return nil
}

// Signature returns the values, and the keys that are not synced.
func (c *ToyChecker) Signature(*explore.Env) ([]byte, error) {
	return fmt.Appendf(nil, "%v %v", c.values, c.changed), nil // maps are printed in order
}
