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

// Bug is one that a Toy can have. The zero value is none.
type Bug string

// The bugs.
const (
	DroppedFlush Bug = "dropped flush" // sync writes, and does not flush
	EarlySync    Bug = "early sync"    // sync returns before the last dirty key was written
	Panic        Bug = "panic"         // the third key's removal ends the machine
	LazySync     Bug = "lazy sync"     // where nothing is dirty any more, sync does not flush
)

// A Toy is storage that can be told in a few lines: keys 0 to Keys-1, each with a byte that is not zero or none. What is put is kept in
// memory until it is synced, as a dirty block. Each key has a sector of its own, after sector 0, which says that this is a Toy.
type Toy struct {
	explore.Node
	Bug Bug

	mounted bool
	values  map[int]byte // as seen
	dirty   map[int]bool
	flusher *Flusher // nil: there is none
}

var toyMagic = []byte("a toy, not a file system")

// NewToy makes a Toy on disk 0 of a system, and gives the system its program "toy".
func NewToy(s *System, bug Bug) *Toy {
	t := &Toy{Node: explore.Node{At: "/toy", On: []explore.Component{explore.RAMDisk(0, 64<<10)}}, Bug: bug}
	s.Programs["toy"] = t.run
	s.Memory = func() func() {
		was := Toy{mounted: t.mounted, values: maps.Clone(t.values), dirty: maps.Clone(t.dirty)}
		var held, strayed bool
		if t.flusher != nil {
			held, strayed = t.flusher.held, t.flusher.strayed
		}
		return func() {
			t.mounted, t.values, t.dirty = was.mounted, maps.Clone(was.values), maps.Clone(was.dirty)
			if t.flusher != nil {
				t.flusher.held, t.flusher.strayed = held, strayed
			}
		}
	}
	return t
}

// Init makes it.
func (t *Toy) Init(e *explore.Env) error { return command(e, "toy", "make") }

// Mount mounts it.
func (t *Toy) Mount(e *explore.Env) error { return command(e, "toy", "mount") }

// Unmount syncs and unmounts it.
func (t *Toy) Unmount(e *explore.Env) error { return command(e, "toy", "unmount") }

func command(e *explore.Env, args ...string) error {
	exit, err := e.Run(args...)
	if err == nil && exit.Code != 0 {
		err = &explore.CommandError{Command: fmt.Sprint(args), Exit: exit}
	}
	return err
}

func (t *Toy) run(s *System, c agent.Command) (agent.Exit, error) {
	out, err := t.do(s, c.Args[1:])
	var failure *guest.Failure
	switch {
	case errors.As(err, &failure):
		return agent.Exit{}, failure
	case err != nil:
		out = []byte(err.Error())
		return agent.Exit{Code: 1, Stdout: out}, nil //nolint:nilerr // the program's failure, not the machine's
	}
	return agent.Exit{Stdout: out}, nil
}

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
	switch what := args[0]; what {
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
	case "put": // 0 removes
		if t.Bug == Panic && key == 2 && value == 0 && t.values[key] != 0 {
			return nil, &guest.Failure{Kind: guest.Panicked, Text: "Kernel panic - not syncing: a toy's"}
		}
		t.values[key], t.dirty[key] = byte(value), true
		if f := t.flusher; f != nil && f.held && f.Eager == key && value != 0 {
			f.strayed = true
			return nil, t.write(s, []int{key})
		}
		return nil, s.Dirty(0, uint64(1+key), bytes.Repeat([]byte{byte(value)}, ramdisk.SectorSize))
	case "get":
		return []byte(strconv.Itoa(int(t.values[key]))), nil
	default:
		return nil, fmt.Errorf("toy %s: unknown", what)
	}
}

func (t *Toy) load(s *System) error {
	head, err := s.Read(0, 0)
	if err != nil || !bytes.HasPrefix(head[:], toyMagic) {
		return fmt.Errorf("this is no toy: %q, %w", head[:len(toyMagic)], err)
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

func (t *Toy) sync(s *System) error {
	keys := slices.Sorted(maps.Keys(t.dirty))
	if t.Bug == EarlySync && len(keys) > 1 {
		keys = keys[:len(keys)-1]
	}
	if t.Bug == LazySync && len(keys) == 0 {
		return nil
	}
	if f := t.flusher; f != nil && f.held && len(keys) > 0 {
		f.strayed = true // sync has it write, and waits for that
	}
	if err := t.write(s, keys); err != nil || t.Bug == DroppedFlush {
		return err
	}
	return s.Submit(0, ramdisk.Flush, ramdisk.Preflush, 0, nil)
}

// write writes keys that are dirty, and flushes nothing.
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

// A ToyChecker puts bytes and syncs. What was synced has to be there after a crash, and what was put since may.
type ToyChecker struct {
	explore.Plain
	Keys, Values int // 1 to 16, 1 to 255

	values, synced map[int]byte
	changed        map[int]bool // since the last sync
}

// Init begins with no keys.
func (c *ToyChecker) Init(*explore.Env) error {
	c.values, c.synced, c.changed = make(map[int]byte), make(map[int]byte), make(map[int]bool)
	return nil
}

// Mutate puts a byte, removes one, or syncs.
func (c *ToyChecker) Mutate(e *explore.Env) error {
	if e.Choose(2) == 1 {
		if err := e.Promised("toy sync", durable.All, func() error { return command(e, "toy", "sync") }); err != nil {
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

// bytesOf is what has to be there.
type bytesOf map[int]byte

// Key tells them apart.
func (b bytesOf) Key() string { return fmt.Sprint(map[int]byte(b)) }

// Check asks for all keys.
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

// Signature is the bytes and which of them are not synced.
func (c *ToyChecker) Signature(*explore.Env) ([]byte, error) {
	return fmt.Appendf(nil, "%v %v", c.values, c.changed), nil // maps are printed in order
}
