package btrfs

import (
	"errors"
	"fmt"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// A state is the file system that one superblock defines.
type state struct {
	sb   ondisk.Superblock
	devs *devices
	reader
	roots map[treeKey]treeRoot // looked up so far, by the View alone
	log   pointer              // the root of the tree of the log under examination, tree -6
	logOf uint64               // the subvolume of that log; 0: log is the log root tree, or unset
	// unsound: the commit was let through undecided or violated. A difference from it proves
	// nothing, so the next commit is judged as a whole image.
	unsound bool
	// unjudged: unsound for no other reason than that the commit was undecided.
	unjudged bool
}

// A treeKey names a tree. The trees of balance share one objectid and differ in offset.
type treeKey struct{ id, offset uint64 }

// A treeRoot is the root of a tree, as the root item names it.
type treeRoot struct {
	pointer
	dead     bool // refs is 0: the tree is being dropped
	dropping bool // dead, and the part below drop_progress no longer exists
	// The uuid of the tree, and that of the tree that it is a snapshot of. They are 0 in items of
	// kernels before 3.6.
	uuid, parent [ondisk.UUIDSize]byte
}

// chunkRoot returns the root of the chunk tree.
func (s *state) chunkRoot() pointer {
	return pointer{s.sb.ChunkRoot(), s.sb.ChunkRootGen(), s.sb.ChunkRootLevel(), true}
}

// rootTree returns the root of the root tree.
func (s *state) rootTree() pointer {
	return pointer{s.sb.Root(), s.sb.Generation(), s.sb.RootLevel(), false}
}

// parseRoot reads the root of a tree from its root item. ok is false if the item is cut short;
// otherwise the decoder has accepted it. refs 0 means that the tree is being dropped, but only for
// trees of files: the kernel ignores refs of other trees, and btrfstune
// --convert-to-block-group-tree sets it to 0.
func parseRoot(tree uint64, r disk.Region) (root treeRoot, ok bool) {
	item, ok := ondisk.ViewRootItem(r)
	if !ok {
		return treeRoot{}, false
	}
	dead := item.Refs() == 0 && ondisk.ClassOf(tree) == ondisk.InFile
	root = treeRoot{
		pointer:  pointer{item.Bytenr(), item.Generation(), item.Level(), false},
		dead:     dead,
		dropping: dead && item.DropProgress() != ondisk.Key{},
	}
	if item.Len() >= ondisk.RootItemSize {
		root.uuid, root.parent = item.UUID(), item.ParentUUID()
	}
	return root, true
}

// readSuper reads the superblock at a device address.
func readSuper(d interp.Disk, addr uint64) (ondisk.Superblock, error) {
	sb := ondisk.NewSuperblock(new([ondisk.SuperSize]byte))
	return sb, readFull(d, sb.Bytes()[:], addr)
}

// Detect reports whether a disk has the magic of Btrfs in the place of the primary superblock.
func Detect(d interp.Disk) bool {
	sb, err := readSuper(d, ondisk.SuperOffset)
	return err == nil && sb.Magic() == ondisk.SuperMagic
}

// Member returns the UUID that all devices of the Btrfs on a disk have in common; "" if there is
// none.
func Member(d interp.Disk) string {
	sb, err := readSuper(d, ondisk.SuperOffset)
	if err != nil || sb.Magic() != ondisk.SuperMagic {
		return ""
	}
	return uuidText(sb.FSID())
}

// Backup returns the device address of a copy of the superblock on a disk whose primary superblock
// is missing. ok is false if there is none.
func Backup(d interp.Disk) (at uint64, ok bool) {
	for _, at := range ondisk.SuperOffsets[1:] {
		sb, err := readSuper(d, at)
		if err == nil && sb.Magic() == ondisk.SuperMagic && sb.Bytenr() == at {
			return at, true
		}
	}
	return 0, false
}

// findDevices finds the devices of the file system that has a superblock on disk on of d. It reads
// the superblocks of all disks of d. The error is interp.ErrNotFound if that disk has none, and
// that of checkSuper otherwise.
func findDevices(d interp.Disk, sizes []uint64, on int) (*devices, error) {
	sb, err := readSuper(d, interp.Address(on, ondisk.SuperOffset))
	if err != nil || sb.Magic() != ondisk.SuperMagic {
		return nil, interp.ErrNotFound // also if the disk is too small or cannot be read there
	}
	fsid := sb.FSID()
	devs := &devices{}
	for i, size := range sizes {
		at := interp.Address(i, ondisk.SuperOffset)
		sb, err := readSuper(d, at)
		if err != nil || sb.Magic() != ondisk.SuperMagic || i != on && sb.FSID() != fsid {
			continue
		}
		if err := checkSuper(sb, at); err != nil {
			return nil, err
		}
		if inRewrite(sb) {
			if i != on {
				continue
			}
			return nil, &interp.UnsupportedError{FS: ondisk.FSName, Feature: fmt.Sprintf(
				"a change of format that has not finished (super flags %#x)", sb.Flags())}
		}
		if devs, err = devs.with(interp.Address(i, 0), size, &sb); err != nil {
			return nil, err
		}
	}
	devs.seeds = seedsOf(d, sizes, devs)
	return devs, nil
}

// bootstrap returns the state that the superblock at addr defines. It knows only the chunks of
// sys_chunk_array, so that it can read the chunk tree and nothing else.
func bootstrap(
	d interp.Disk, sb ondisk.Superblock, addr uint64, devs *devices, cache *nodeCache,
) (*state, error) {
	sys, err := parseSysArray(sb, addr, devs)
	if err != nil {
		return nil, err
	}
	chunks, err := newChunkMap(sys)
	if err != nil {
		return nil, err
	}
	rules := nodeRules{
		nodeSize: sb.NodeSize(), sectorSize: sb.SectorSize(), csum: sb.CsumType(),
		fsid: sb.MetadataUUID(), seeds: devs.seedFSIDs(), anyChunkTree: true,
	}
	return &state{
		sb:     sb,
		devs:   devs,
		reader: reader{disk: d, rules: rules, chunks: chunks, cache: cache},
		roots:  make(map[treeKey]treeRoot),
	}, nil
}

// loadState returns the state that the superblock at addr defines. It reads the chunk tree and the
// root of the root tree.
func loadState(
	d interp.Disk, sb ondisk.Superblock, addr uint64, devs *devices, cache *nodeCache,
) (*state, error) {
	s, err := bootstrap(d, sb, addr, devs, cache)
	if err != nil {
		return nil, err
	}
	root, err := s.node(s.chunkRoot(), false)
	if err != nil {
		return nil, fmt.Errorf("chunk tree: %w", err)
	}
	s.rules.chunkTreeUUID, s.rules.anyChunkTree = root.ChunkTreeUUID(), false
	var chunks []chunk
	budget := newBudget()
	err = s.eachLeaf(s.chunkRoot(), budget, func(n *ondisk.Node) error {
		for i := range n.NrItems() {
			k := n.Key(i)
			if k.Type != ondisk.ChunkItemKey {
				continue
			}
			c, err := parseChunk(k, n.Item(i), sb.SectorSize(), devs)
			if err != nil {
				return err
			}
			chunks = append(chunks, c)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("chunk tree: %w", err)
	}
	if s.chunks, err = newChunkMap(chunks); err != nil {
		return nil, err
	}
	if err := s.chunks.tolerates(); err != nil {
		return nil, err
	}
	if _, err := s.node(s.rootTree(), false); err != nil {
		return nil, fmt.Errorf("root tree: %w", err)
	}
	return s, nil
}

// complete returns an *interp.MissingDiskError if a device of the file system is missing, or if
// more of them are lost than a chunk tolerates. It does not count the target of a running
// replacement.
func (s *state) complete() error {
	there := uint64(0)
	for _, dev := range s.devs.list {
		if dev.id != 0 {
			there++
		}
	}
	for i := range s.devs.seeds {
		if used, err := s.uses(&s.devs.seeds[i]); err == nil && used {
			there++
		}
	}
	if len(s.devs.lost) > 0 {
		if err := s.chunks.tolerates(); err != nil {
			return err
		}
	}
	for _, dev := range s.devs.lost {
		if s.needs(dev) {
			there++
		}
	}
	if there < s.sb.NumDevices() {
		return &interp.MissingDiskError{FS: ondisk.FSName, Degradable: true, Device: fmt.Sprintf(
			"the file system %s has %d devices, %d of them are here",
			uuidText(s.sb.FSID()), s.sb.NumDevices(), there)}
	}
	return nil
}

// eachLeaf visits the leaves below a block in the order of keys.
func (s *state) eachLeaf(p pointer, b *budget, visit func(*ondisk.Node) error) error {
	if err := b.node(); err != nil {
		return err
	}
	n, err := s.node(p, false)
	if err != nil {
		return err
	}
	if n.Level() == 0 {
		return visit(n)
	}
	for i := range n.NrItems() {
		if err := s.eachLeaf(childOf(n, i, p.chunkTree), b, visit); err != nil {
			return err
		}
	}
	return nil
}

// childOf returns pointer i of a node. It expects the child one level below, so that no walk can
// run in a circle.
func childOf(n *ondisk.Node, i int, chunkTree bool) pointer {
	logical, generation := n.Child(i)
	return pointer{logical, generation, n.Level() - 1, chunkTree}
}

// Limits of one transaction. A guest with terabytes of data stays far below them. They bound the
// work that a hostile guest can cause.
const (
	// Metadata blocks that differencing reads. No block occurs twice in one tree, since the keys in it
	// ascend, but trees share blocks: a hundred snapshots of a system have a million.
	maxNodes   = 1 << 26
	maxRecords = 8 << 20 // change records
	maxFaults  = 32      // violations of structure reported for one commit
)

// A budgetError reports that a transaction exceeds a limit, so that it was not judged in full.
type budgetError struct {
	what  string
	limit int
}

func (e *budgetError) Error() string {
	return fmt.Sprintf("the transaction has more than %d %s", e.limit, e.what)
}

// A budget counts the blocks read for one transaction.
type budget struct {
	nodes int
	read  func(blocks uint64) // called with the number of blocks read so far; may be nil
	work  *change.Work        // of the judgment; may be nil
}

// Steps of a judgment, in the time that rules take to look at a record or an object.
const (
	compareSteps = 200 // to read a block, check it and compare its items
	fetchSteps   = 200 // to read a block that is not in the cache, for the View
)

func newBudget() *budget { return &budget{nodes: maxNodes} }

// node counts a block. It fails when the budget is exhausted.
func (b *budget) node() error {
	if b.read != nil {
		b.read(uint64(maxNodes - b.nodes))
	}
	if b.nodes--; b.nodes < 0 {
		return &budgetError{"metadata blocks", maxNodes}
	}
	return b.work.Blocks(1, compareSteps)
}

// baseline turns the error of reading a baseline into an error of package interp: that of New.
func baseline(err error) error {
	if unsupported, ok := errors.AsType[*interp.UnsupportedError](err); ok {
		return unsupported
	}
	if e, ok := errors.AsType[*structureError](err); ok {
		reason := e.v.Rule + ": " + e.v.Detail
		return &interp.CorruptError{FS: ondisk.FSName, Addr: e.v.Addr, Reason: reason}
	}
	if missing, ok := errors.AsType[*interp.MissingDiskError](err); ok {
		return missing
	}
	if missing, ok := errors.AsType[*missingError](err); ok {
		return &interp.MissingDiskError{FS: ondisk.FSName, Device: missing.Error(), Degradable: true}
	}
	return fmt.Errorf("btrfs: %w", err)
}
