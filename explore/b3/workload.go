package b3

import (
	"fmt"
	"strconv"
	"strings"
)

// A Step is one operation of a workload. Steps are equal if their texts are.
type Step struct {
	Verb Verb
	Name string // path from the root without a leading slash; "/" is the root
	// To is of Link, Rename and Snapshot the new name, of Exchange the other one, of Symlink its
	// target, of Clone the file that gets the data, and of Setxattr and Removexattr the attribute
	// without "user." ("": fsward). Of Chattr it is the letters.
	To    string
	Mode  Mode   // of Falloc
	Range Range  // of Falloc, Write, Dwrite, Mmapwrite, Msync, SyncFileRange; of Clone: in Name
	Len   uint64 // bytes; of Truncate: the size, of Clone: the offset in To
	Perm  uint32 // of Chmod
}

// A Range is a range of a file: a named one, or an offset and a length in bytes.
type Range struct {
	Where    Where
	Off, Len uint64
}

func (r Range) String() string {
	if r.Where != "" {
		return string(r.Where)
	}
	return fmt.Sprintf("%d %d", r.Off, r.Len)
}

// Names returns the names of files and directories that the step uses.
func (s Step) Names() []string {
	switch s.Verb {
	case Sync, DropCaches:
		return nil
	case Link, Rename, Clone, Exchange, Snapshot:
		return []string{s.Name, s.To}
	}
	return []string{s.Name}
}

func (s Step) String() string {
	var b strings.Builder
	b.WriteString(s.Verb.String())
	names := 0
	for _, p := range s.Verb.parts() {
		b.WriteByte(' ')
		switch p {
		case aName:
			if names++; names == 2 {
				b.WriteString(s.To)
			} else {
				b.WriteString(s.Name)
			}
		case aTarget:
			b.WriteString(s.To)
		case aMode:
			b.WriteString(string(s.Mode))
		case aRange:
			b.WriteString(s.Range.String())
		case aLength, anOffset:
			b.WriteString(strconv.FormatUint(s.Len, 10))
		case aPermission:
			b.WriteString(strconv.FormatUint(uint64(s.Perm), 8))
		case anAttribute:
			b.WriteString(s.To)
		case aFlags:
			b.WriteString("=" + s.To)
		}
	}
	return strings.TrimSuffix(b.String(), " ") // without an attribute
}

// Attribute returns the name of the extended attribute of Setxattr and Removexattr.
func (s Step) Attribute() string {
	if s.To == "" {
		return "user.fsward"
	}
	return "user." + s.To
}

// FlagBits returns the flags of Chattr, as FS_IOC_SETFLAGS takes them.
func (s Step) FlagBits() (bits uint32) {
	for _, f := range flags {
		if strings.IndexByte(s.To, f.letter) >= 0 {
			bits |= f.bits
		}
	}
	return bits
}

// A Workload is a sequence of operations.
type Workload []Step

// String returns the text of the workload, on one line.
func (w Workload) String() string {
	texts := make([]string, len(w))
	for i, s := range w {
		texts[i] = s.String()
	}
	return strings.Join(texts, "; ")
}

// Skeleton returns the names of the operations that change something, as in "link write". Findings
// are grouped by it.
func (w Workload) Skeleton() string {
	var names []string
	for _, s := range w {
		switch s.Verb {
		case Fsync, Fdatasync, Sync, Msync, Open, Close, DropCaches, SyncFileRange:
		default:
			names = append(names, s.Verb.String())
		}
	}
	return strings.Join(names, " ")
}

// Points returns the indices of the persistence points.
func (w Workload) Points() (at []int) {
	for i, s := range w {
		if s.Verb.Persists() {
			at = append(at, i)
		}
	}
	return at
}
