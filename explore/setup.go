package explore

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"fsward/explore/agent"
	"fsward/explore/crash"
)

// A variant is one way to make the stack: the choices of the components' Init, and of the first
// Mount and Unmount, with the pristine disks that they led to.
type variant struct {
	choices []Choice
	over    map[uint32][]agent.Page // pages in which its disks differ from those of the first variant
}

// maxVariants bounds the ways to make a stack. Each keeps its own pages in memory.
const maxVariants = 1 << 12

// begins reports whether a setup with these values makes the stack in this way. Missing values are
// zeros.
func (v *variant) begins(values []uint32) bool {
	for i, c := range v.choices {
		if i < len(values) && values[i] != c.Value || i >= len(values) && c.Value != 0 {
			return false
		}
	}
	return true
}

// setUp selects the pristine disks of a setup, or makes them. choices then has the choices of this
// part. A stack that cannot be made is a failure.
func (d *diskSet) setUp(ctx context.Context, t *target, choices *Chooser) (*Failure, error) {
	i := slices.IndexFunc(d.variants, func(v *variant) bool { return v.begins(choices.loaded) })
	if i >= 0 {
		choices.repeat(d.variants[i].choices)
		d.use(i)
		return nil, choices.err
	}
	if len(d.variants) == maxVariants {
		return nil, fmt.Errorf("the stack can be made in more than %d ways", maxVariants)
	}
	if err := d.clear(ctx); err != nil {
		return nil, err
	}
	e := t.choosing(ctx, t.system, choices)
	err := t.make(e)
	if f := t.failure(e, "make failed", err); f != nil || fatal(e) != nil {
		t.dead = true // parts of the stack may be mounted
		return f, fatal(e)
	}
	if err := choices.err; err != nil {
		return nil, err
	}
	return nil, d.keepVariant(ctx, choices.Taken())
}

// clear restores the disks of zeros.
func (d *diskSet) clear(ctx context.Context) error {
	for _, disk := range d.list {
		if err := d.system.Restore(ctx, disk.Number, blank); err != nil {
			return err
		}
	}
	return nil
}

// keepVariant keeps the present contents of the disks as the pristine ones of another variant, and
// selects it.
func (d *diskSet) keepVariant(ctx context.Context, choices []Choice) error {
	v := &variant{choices: choices, over: make(map[uint32][]agent.Page)}
	for i, disk := range d.list {
		now, first := make(memory, disk.Bytes), d.first[i]
		if err := d.system.ReadDisk(ctx, disk.Number, disk.Bytes, now); err != nil {
			return err
		}
		for at := 0; at < len(now); at += crash.PageSize {
			if page := now[at:][:crash.PageSize]; !bytes.Equal(page, first[at:][:crash.PageSize]) {
				p := agent.Page{Number: uint64(at / crash.PageSize), Data: bytes.Clone(page)}
				v.over[disk.Number] = append(v.over[disk.Number], p)
			}
		}
	}
	d.variants = append(d.variants, v)
	d.use(len(d.variants) - 1)
	return nil
}

// use selects the variant whose pristine disks bases are.
func (d *diskSet) use(i int) {
	if d.used == i {
		return
	}
	d.used, d.bases = i, slices.Clone(d.first)
	for n, disk := range d.list {
		pages := d.variants[i].over[disk.Number]
		if len(pages) == 0 {
			continue
		}
		d.bases[n] = slices.Clone(d.first[n])
		for _, p := range pages {
			copy(d.bases[n][p.Number*crash.PageSize:], p.Data)
		}
	}
}
