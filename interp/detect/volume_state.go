package detect

import "fsward/interp"

// A VolumeState describes a volume.
type VolumeState struct {
	Path   string // "" for a whole disk, "p2", "vg/lv"
	Disk   int    // the disk of its first byte
	Size   uint64 // bytes
	FS     string // the file system that is guarded; "" if there is none
	Lost   string // the devices that the file system lacks; "" if it is whole
	Reason string // why it is not guarded; "" if it is, or is blank
}

// Numbers returns the numbers of the volumes, ascending.
func (v *Volumes) Numbers() (numbers []int) {
	for i, s := range v.space.now.Load().slots {
		if s.volume != none {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// State describes a volume. It is empty if there is no volume with the number.
func (v *Volumes) State(i int) VolumeState {
	vol := v.space.now.Load().volume(i)
	if vol == nil {
		return VolumeState{}
	}
	s := VolumeState{Path: vol.Path, Disk: vol.Disk, Size: vol.Size, FS: v.follower.On(i),
		Lost: v.follower.Lost(i)}
	if s.FS == "" {
		s.Reason = v.reasons[i]
	}
	return s
}

// Disk returns a volume as a disk. It may be read at any time.
func (v *Volumes) Disk(i int) interp.Disk { return interp.Sub(v.space, i) }

// All returns all volumes as one disk, as an interp.Set of them by number.
func (v *Volumes) All() interp.Disk { return v.space }

// Locate returns the number of the volume that holds an address, and the offset in the volume. ok
// is false if no volume holds the address.
func (v *Volumes) Locate(addr uint64) (i int, off uint64, ok bool) {
	i, at, _ := v.space.now.Load().locate(addr)
	if i == none {
		return 0, 0, false
	}
	_, off = interp.Locate(at)
	return i, off, true
}

// Place returns the address on the disks of an offset in a volume. ok is false if the volume has
// no such offset.
func (v *Volumes) Place(i int, off uint64) (addr uint64, ok bool) {
	addr, n := v.space.now.Load().place(i, off)
	return addr, n > 0
}

// Run returns how many of the n bytes from an address on belong together: to one volume in the
// same order, or to none.
func (v *Volumes) Run(addr, n uint64) uint64 {
	_, _, run := v.space.now.Load().locate(addr)
	return min(n, run)
}

// FileSystem returns the disk of the file system on a volume, or its disks as an interp.Set, and
// the address in All at which that disk begins.
func (v *Volumes) FileSystem(i int) (d interp.Disk, start uint64) {
	if len(v.Members(i)) > 1 {
		return v.space, 0
	}
	return v.Disk(i), interp.Address(i, 0)
}

// On returns the name of the file system on a volume, "" while there is none.
func (v *Volumes) On(i int) string { return v.follower.On(i) }

// Needs returns a function that reports whether Image may read a range of a volume for the state
// that its file system is in now. Its addresses are those of an interp.Set of the volumes by
// number. It returns nil if Image may read all of the volume.
func (v *Volumes) Needs(i int) func(off, n uint64) bool { return v.follower.Needs(i) }

// Found returns the changes that the next mount makes, as the volume had them when it was
// attached: see Follower.Found.
func (v *Volumes) Found(i int) interp.Observation {
	obs := v.follower.Found(i)
	obs.Volume = i
	inPlace(&obs, v.space.now.Load().placeOf)
	return obs
}

// Together reports whether two volumes belong to one file system.
func (v *Volumes) Together(i, j int) bool { return v.follower.Together(i, j) }

// Members returns the numbers of the volumes of the file system on a volume, ascending: the volume
// alone if it has none.
func (v *Volumes) Members(i int) []int { return v.follower.Members(i) }

// Seeds returns the numbers of the volumes that the file system on a volume also reads, and which
// belong to others, ascending.
func (v *Volumes) Seeds(i int) []int { return v.follower.Seeds(i) }

// OnDisks turns the addresses of violations in the image of volumes into those on the disks. The
// image is that of an interp.Set of the volumes with these numbers.
func (v *Volumes) OnDisks(obs *interp.Observation, numbers []int) {
	l := v.space.now.Load()
	inPlace(obs, func(at uint64) (addr, n uint64) {
		i, off := interp.Locate(at)
		if i >= len(numbers) {
			return 0, 0
		}
		return l.place(numbers[i], off)
	})
}
