package ext3

import (
	"bytes"

	"fsward/interp"
)

// rewritten returns the blocks that differ and that may be metadata before or after.
func (k *BaseState) rewritten(f interp.CrashImage, next *Mounted) (map[uint32]bool, error) {
	d := blockDiff{image: f, was: k.m, now: next, differ: make(map[uint32]bool)}
	for block := range k.m.State.Copies {
		if err := d.look(block); err != nil {
			return nil, err
		}
	}
	for block := range next.State.Copies {
		if _, done := k.m.State.Copies[block]; done {
			continue
		}
		if err := d.look(block); err != nil {
			return nil, err
		}
	}
	return d.differ, d.lookInPlace()
}

// A blockDiff finds the blocks that differ between the base state and a crash image.
type blockDiff struct {
	image    interp.CrashImage
	was, now *Mounted
	differ   map[uint32]bool
}

// look compares the contents of a block.
func (d *blockDiff) look(block uint32) error {
	was, had := d.was.State.Place(block)
	now, copied := d.now.State.Place(block)
	at := now.Block
	if !copied {
		at = block
	}
	if had == copied && was.Block == now.Block && was.Escaped == now.Escaped &&
		d.image.Same(d.now.Geo.Addr(at), uint64(d.now.Geo.BlockSize)) {
		return nil
	}
	old, err := d.was.State.Block(block)
	if err != nil {
		return err
	}
	b, err := d.now.State.Block(block)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, b) {
		d.differ[block] = true
	}
	return nil
}

// lookInPlace compares the blocks that were metadata and have no copy in the journal. Other steps
// find the blocks that become metadata, through the pointers to them.
func (d *blockDiff) lookInPlace() error {
	pages := d.image.Differing(func(addr uint64) (keep bool) {
		d.eachBlock(addr, func(block uint32) { keep = keep || d.inPlace(block) })
		return keep
	})
	for _, addr := range pages {
		var err error
		d.eachBlock(addr, func(block uint32) {
			if err == nil && d.inPlace(block) {
				err = d.look(block)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// inPlace reports whether a block was metadata and has no copy in the journal.
func (d *blockDiff) inPlace(block uint32) bool {
	if _, copied := d.now.State.Copies[block]; copied {
		return false
	}
	return block == d.now.Geo.SuperBlock() || d.was.metadata(block)
}

// eachBlock calls visit for each block that touches a page.
func (d *blockDiff) eachBlock(addr uint64, visit func(block uint32)) {
	bs := uint64(d.now.Geo.BlockSize)
	for b := addr / bs; b*bs < addr+interp.CrashPage && b < d.now.State.blocks; b++ {
		visit(uint32(b))
	}
}
