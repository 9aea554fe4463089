package btrfs

import (
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A sprout is a file system that began as a copy of another one, its seed (btrfstune -S 1). The
// sprout has an fsid of its own, and its trees still use the devices of the seed, which nobody
// writes: their chunks, their metadata blocks with the seed's fsid, and their dev_items. Each seed
// is followed as a file system of its own, which keeps its blocks from being overwritten.

// holder returns the device that a stripe names: a device of the file system, or one of its seeds.
// It returns nil if the disk is missing.
func (d *devices) holder(id uint64, uuid [16]byte) *device {
	if dev := d.find(id); dev != nil {
		return dev
	}
	return d.seed(id, uuid)
}

// seed returns the device of a seed, or nil if there is none.
func (d *devices) seed(id uint64, uuid [16]byte) *device {
	i := slices.IndexFunc(d.seeds, func(s device) bool { return s.id == id && s.uuid == uuid })
	if i < 0 {
		return nil
	}
	return &d.seeds[i]
}

// onSeed reports whether the disk that begins at a device address is that of a seed.
func (d *devices) onSeed(start uint64) bool {
	return slices.ContainsFunc(d.seeds, func(s device) bool { return s.start == start })
}

// seedFSIDs returns the fsids of the seeds, which their metadata blocks have.
func (d *devices) seedFSIDs() (fsids [][16]byte) {
	for i := range d.seeds {
		fsids = append(fsids, d.seeds[i].sb.MetadataUUID())
	}
	return fsids
}

// seedsOf returns the devices of the seeds of a file system: disks with the superblock of another
// one that is a seed, and that the chunk tree has a dev_item of (open_seed_devices). If the chunk
// tree cannot be read, all seeds among the disks count.
func seedsOf(d interp.Disk, sizes []uint64, devs *devices) []device {
	sb, start := devs.newest()
	candidates := &devices{list: devs.list, lost: devs.lost}
	for i, size := range sizes {
		at := interp.Address(i, ondisk.SuperOffset)
		seed, err := readSuper(d, at)
		if err != nil || seed.Flags()&ondisk.SuperFlagSeeding == 0 || seed.FSID() == sb.FSID() ||
			checkSuper(seed, at) != nil || inRewrite(seed) {
			continue
		}
		item := seed.DevItem()
		candidates.seeds = append(candidates.seeds, device{id: item.DevID(), uuid: item.UUID(),
			start: interp.Address(i, 0), size: size, sb: seed})
	}
	if len(candidates.seeds) == 0 {
		return nil
	}
	s, err := bootstrap(d, sb, start+ondisk.SuperOffset, candidates,
		newNodeCache(sb.NodeSize(), sb.SectorSize(), 0))
	if err != nil {
		return candidates.seeds
	}
	return slices.DeleteFunc(slices.Clone(candidates.seeds), func(seed device) bool {
		used, err := s.uses(&seed)
		return err == nil && !used
	})
}

// uses reports whether the chunk tree has a dev_item of a seed.
func (s *state) uses(seed *device) (bool, error) {
	v, ok, err := s.devItem(seed.id)
	return ok && v.UUID() == seed.uuid && v.FSID() == seed.sb.MetadataUUID(), err
}

// devItem returns the dev_item that the chunk tree has of a device. ok is false if there is none.
func (s *state) devItem(id uint64) (v ondisk.DevItem, ok bool, err error) {
	k := ondisk.Key{ObjectID: ondisk.DevItemsID, Type: ondisk.DevItemKey, Offset: id}
	p, ok, err := s.seek(ondisk.ChunkTreeID, s.chunkRoot(), k)
	if err != nil || !ok || p.key() != k {
		return v, false, err
	}
	item := p.item()
	v, ok = ondisk.ViewDevItem(item.data())
	return v, ok, nil
}

// Seeds returns the disks of the seeds of the file system.
func (f *FS) Seeds() []int {
	if f.base == nil {
		return nil
	}
	return disksOf(f.base.devs.seeds)
}

// first returns the first disk of a Set that has a superblock of Btrfs, or 0 if none has. A seed
// comes after all others, and among seeds the latest comes first: it can be the sprout of another.
func first(d interp.Disk) int {
	found, generation := 0, uint64(0)
	for i := range interp.Sizes(d) {
		sb, err := readSuper(d, interp.Address(i, ondisk.SuperOffset))
		if err != nil || sb.Magic() != ondisk.SuperMagic {
			continue
		}
		if sb.Flags()&ondisk.SuperFlagSeeding == 0 {
			return i
		}
		if sb.Generation() > generation {
			found, generation = i, sb.Generation()
		}
	}
	return found
}
