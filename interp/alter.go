package interp

import (
	"errors"
	"fmt"
	"strconv"
)

// An Alterer changes one named field in the metadata that passes through it and makes the checksums
// right again, as a bug in the guest's file system would: what `fsward` shows that it refuses, it has
// to be able to cause. It is used by one goroutine.
type Alterer interface {
	// Alter looks at a write on its way from the guest and may change w.Data in place. It returns what
	// it changed, for people ("inode_item k(257,inode_item,0) of tree 5: nlink 1 → 2"), or "". Once it
	// has changed an object it changes the same object in the same way in every later write of the
	// transaction (the second copy under DUP), and no other.
	Alter(w Write) string
}

// A Corrupter alters the metadata of one state of a file system that is on a disk as a whole, in the
// same words as an Alterer. It only reads the disk. It is used by one goroutine.
type Corrupter interface {
	// Corrupt makes the change that spec names at the pick-th place that it fits, from 0, in the order
	// of the trees. The error is about the spec, or is ErrNoPlace.
	Corrupt(spec string, pick int) (Corruption, error)
}

// ErrNoPlace means that an alteration fits nothing in a state, or nothing more.
var ErrNoPlace = errors.New("nothing that the alteration fits")

// A Corruption is one alteration, made in all copies and with right checksums.
type Corruption struct {
	What    string  // for people
	Patches []Patch // what the disk is to hold
}

// A Patch is new contents of a range of the disk.
type Patch struct {
	Off  uint64 // device address, bytes
	Data []byte
}

// An Alterable is a kind of object that can be altered.
type Alterable struct {
	Object  string           `json:"object"`
	Fields  []AlterableField `json:"fields"`
	Actions []string         `json:"actions,omitempty"`
	Kinds   []string         `json:"kinds,omitempty"` // for a condition kind=
}

// An AlterableField is a number in an object.
type AlterableField struct {
	Name  string `json:"name"`
	Width int    `json:"width"` // bytes
}

// ParseNumber reads decimal, 0x and 0o; a negative number stands for the same 64 bits.
func ParseNumber(s string) (uint64, error) {
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return uint64(n), nil
}
