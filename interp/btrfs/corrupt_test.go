package btrfs_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/corrupt"
	"fsward/interp/btrfs/ondisk"
	"fsward/shareddata"
)

// TestEveryAlterationIsMade checks that every alteration that finds a place on a real file system
// changes the block and leaves its checksum correct. It is no error if an alteration finds no
// place.
func TestEveryAlterationIsMade(t *testing.T) {
	d := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	c, err := corrupt.NewCorrupter(d, false)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	try := func(spec string) {
		t.Helper()
		out, err := c.Corrupt(spec, 0)
		if errors.Is(err, interp.ErrNoPlace) {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			return
		}
		made++
		if out.What == "" || len(out.Patches) == 0 {
			t.Errorf("%s: %q, %d patches", spec, out.What, len(out.Patches))
		}
		for _, p := range out.Patches {
			old := make([]byte, len(p.Data))
			if _, err := d.ReadAt(old, int64(p.Off)); err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(old[ondisk.CsumArea:], p.Data[ondisk.CsumArea:]) {
				t.Errorf("%s: nothing differs at %d", spec, p.Off)
			}
			if get32(p.Data, 0) != crc32c(p.Data) {
				t.Errorf("%s: the checksum at %d is wrong", spec, p.Off)
			}
		}
	}
	for _, a := range corrupt.Alterables() {
		for _, f := range a.Fields {
			try(a.Object + "." + f.Name + "+1")
			try(a.Object + "." + f.Name + "=0")
		}
		for _, action := range a.Actions {
			try(a.Object + "!" + action)
		}
	}
	if made < 300 {
		t.Errorf("only %d alterations were made", made)
	}
}

// TestActionsKeepLeavesWellFormed checks that after an action on an item, the headers of its leaf
// are still well formed.
func TestActionsKeepLeavesWellFormed(t *testing.T) {
	base := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	c, err := corrupt.NewCorrupter(base, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"inode_ref!delete", "dir_index!add", "dir_item!swap",
		"root_item!shrink", "extent_item!grow", "dev_extent!duplicate"} {
		out, err := c.Corrupt(spec, 0)
		if err != nil {
			if errors.Is(err, interp.ErrNoPlace) {
				continue
			}
			t.Fatal(err)
		}
		d := base.clone()
		for _, p := range out.Patches {
			d.apply(interp.Write{Off: p.Off, Len: uint64(len(p.Data)), Data: p.Data})
		}
		obs, err := btrfs.Image(d)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		for _, v := range obs.Violations {
			if v.Rule == "btrfs/item-bounds" || v.Rule == "btrfs/nritems" || v.Rule == "btrfs/csum" {
				t.Errorf("%s (%s): %s: %s", spec, out.What, v.Rule, v.Detail)
			}
		}
	}
}

// TestStructureOfAlteredImages checks that Image reports a fault of a single block in every tree.
func TestStructureOfAlteredImages(t *testing.T) {
	base := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	c, err := corrupt.NewCorrupter(base, false)
	if err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]string{
		"header.flags^4@tree=5":                   "btrfs/header",
		"header.flags=0@tree=2":                   "btrfs/header",
		"header.backref_rev=0@tree=3":             "btrfs/header",
		"header.bytenr+4096@tree=5":               "btrfs/header",
		"header.generation-1@tree=5":              "btrfs/generation",
		"super_block.stripesize+4096":             "btrfs/superblock",
		"super_block.sys_chunk.stripe.dev_uuid+1": "btrfs/chunk",
		"chunk_item.stripe.dev_uuid+1":            "btrfs/chunk",
	} {
		out, err := c.Corrupt(spec, 0)
		if err != nil {
			t.Fatal(err)
		}
		d := base.clone()
		for _, p := range out.Patches {
			d.apply(interp.Write{Off: p.Off, Len: uint64(len(p.Data)), Data: p.Data})
		}
		var found []string
		obs, err := btrfs.Image(d)
		if corrupted, ok := errors.AsType[*interp.CorruptError](err); ok {
			found = append(found, corrupted.Reason)
		} else if err != nil {
			t.Errorf("%s: %v", spec, err)
		}
		for _, v := range obs.Violations {
			found = append(found, v.Rule)
		}
		if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, want) }) {
			t.Errorf("%s (%s): found %q, want %s", spec, out.What, found, want)
		}
	}
}
