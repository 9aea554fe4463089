package detect

import (
	"fmt"
	"slices"

	"fsward/interp"
	"fsward/interp/volume"
)

// Contents are the file systems on the volumes of disks that do not change.
type Contents struct {
	disks  interp.Disk
	space  *space
	groups []Group
}

// A Group is the volumes of one file system, or one volume without one that is known.
type Group struct {
	FS      string // "" if there is none
	Reason  string // why it cannot be checked; "" if it can, or the volume is blank
	Err     error  // of a read: the content of the volume is unknown
	Volumes []VolumeState
	// Disk is an interp.Set of the volumes in their order; a volume alone is a disk by itself.
	Disk interp.Disk

	contents *Contents
	numbers  []int
}

// ReadContents reads the tables on disks and finds the file systems on their volumes. fs is Auto,
// or the name of the only file system to look for. The error is that of a read.
func ReadContents(d interp.Disk, fs string) (*Contents, error) {
	m, err := volume.Read(d)
	if err != nil {
		return nil, fmt.Errorf("cannot read the tables: %w", err)
	}
	s, err := newSpace(d, m)
	if err != nil {
		return nil, err
	}
	c := &Contents{disks: d, space: s}
	byID := make(map[string]int)
	for i, slot := range s.now.Load().slots {
		if slot.volume == none {
			continue
		}
		g, id := c.group(i, fs)
		if at, ok := byID[id]; ok && id != "" {
			c.join(at, &g)
			continue
		}
		byID[id] = len(c.groups)
		c.groups = append(c.groups, g)
	}
	for i := range c.groups {
		c.groups[i].Disk = c.disk(c.groups[i].numbers)
	}
	return c, nil
}

// group describes a volume. id is the same for all volumes of a file system that can have several.
func (c *Contents) group(i int, fs string) (g Group, id string) {
	vol := c.space.now.Load().volume(i)
	d := interp.Sub(c.space, i)
	g = Group{contents: c, numbers: []int{i}, Reason: vol.Unguarded,
		Volumes: []VolumeState{{Path: vol.Path, Disk: vol.Disk, Size: vol.Size}}}
	if g.Reason != "" {
		return g, ""
	}
	for _, f := range formats {
		if fs != Auto && fs != f.name {
			continue
		}
		if f.detect(d) {
			g.FS = f.name
		}
		id = f.member(d)
		switch {
		case id != "":
			return g, f.name + id
		case g.FS != "":
			return g, "" // it has no other volumes
		}
	}
	g.Reason, g.Err = describe(d, fs)
	return g, ""
}

// join adds the volume of g to an earlier group.
func (c *Contents) join(at int, g *Group) {
	into := &c.groups[at]
	if into.FS == "" && g.FS != "" { // the disk of an external journal came first
		into.Volumes = append(g.Volumes, into.Volumes...)
		into.numbers = append(g.numbers, into.numbers...)
		into.FS, into.Reason = g.FS, ""
		return
	}
	into.Volumes, into.numbers = append(into.Volumes, g.Volumes...), append(into.numbers, g.numbers...)
}

// disk returns volumes as an interp.Set, or the only one as it is.
func (c *Contents) disk(numbers []int) interp.Disk {
	if len(numbers) == 1 {
		return interp.Sub(c.space, numbers[0])
	}
	var all []interp.Disk
	for _, i := range numbers {
		all = append(all, interp.Sub(c.space, i))
	}
	set, err := interp.NewSet(all...)
	if err != nil {
		return interp.Sub(c.space, numbers[0]) // not reached: the volumes lie on disks of a Set
	}
	return set
}

// Divided reports whether a table divides a disk into volumes.
func (c *Contents) Divided() bool {
	return slices.ContainsFunc(c.space.now.Load().Volumes,
		func(v volume.Volume) bool { return v.Kind != volume.Whole }) ||
		len(c.space.now.Load().Tables) > 0
}

// InTable reports whether a range of the disks meets a table of volumes.
func (c *Contents) InTable(addr, n uint64) bool {
	m := c.space.now.Load().Map
	for end := addr + n; addr < end; {
		p := m.Place(addr)
		if p.What == volume.InTable {
			return true
		}
		addr += min(p.Len, end-addr)
	}
	return false
}

// Groups returns the file systems and the other volumes, in the order of the volumes.
func (c *Contents) Groups() []Group { return c.groups }

// Tables reads the tables as one transaction of additions.
func (c *Contents) Tables() (interp.Observation, error) {
	return volume.ImageWith(c.disks, volume.ReadUse)
}

// OnDisks turns the addresses of violations into those on the disks. A Group that was not read
// from Contents has them already.
func (g *Group) OnDisks(obs *interp.Observation) {
	if g.contents != nil {
		inPlace(obs, g.Place)
	}
}

// Place returns the address on the disks of an address in Disk, and how many bytes from there on
// follow one another in both: 0 past the end of a volume. In a Group that was not read from
// Contents the two are the same.
func (g *Group) Place(addr uint64) (at, n uint64) {
	if g.contents == nil {
		i, off := interp.Locate(addr)
		if i >= len(interp.Sizes(g.Disk)) {
			return 0, 0
		}
		return addr, max(interp.Sub(g.Disk, i).Size(), off) - off
	}
	i, off := interp.Locate(addr)
	if i >= len(g.numbers) {
		return 0, 0
	}
	return g.contents.space.now.Load().place(g.numbers[i], off)
}
