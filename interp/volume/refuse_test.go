package volume_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/interp/volume"
)

// memory is a disk in memory.
type memory []byte

func (m memory) Size() uint64 { return uint64(len(m)) }

func (m memory) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(m).ReadAt(p, off)
}

// load reads an image into memory.
func load(t *testing.T, i image) memory {
	t.Helper()
	b, err := os.ReadFile(i.Name())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// feed makes the pages of a disk those of another one, in order, and returns the rules that are
// violated meanwhile.
func feed(t *testing.T, disk, to memory, pages []int) []string {
	t.Helper()
	j := newJudge(t, disk)
	var found []string
	for _, p := range pages {
		page := to[p*4096 : (p+1)*4096]
		found = append(found, j.rules(j.tables.Observe(interp.Write{Off: uint64(p) * 4096, Len: 4096,
			Data: page}))...)
		copy(disk[p*4096:], page)
		j.tables.Settle(true)
	}
	want, err := volume.Read(disk)
	if err != nil {
		t.Fatal(err)
	}
	got, right := describe(j.tables.Map()), describe(want)
	if len(found) == 0 && !slices.Equal(got, right) {
		t.Errorf("the map that was followed is\n%v\nand that on the disk\n%v", got, right)
	}
	return found
}

// different lists the pages in which two disks differ.
func different(a, b memory) []int {
	var pages []int
	for p := range len(a) / 4096 {
		if !bytes.Equal(a[p*4096:(p+1)*4096], b[p*4096:(p+1)*4096]) {
			pages = append(pages, p)
		}
	}
	return pages
}

// sealGPT makes the checksums of a copy of a GPT right.
func (m memory) sealGPT(header int) {
	h := m[header : header+512]
	array := int(binary.LittleEndian.Uint64(h[72:])) * 512
	n := int(binary.LittleEndian.Uint32(h[80:]) * binary.LittleEndian.Uint32(h[84:]))
	binary.LittleEndian.PutUint32(h[88:], crc32.ChecksumIEEE(m[array:array+n]))
	clear(h[16:20])
	binary.LittleEndian.PutUint32(h[16:], crc32.ChecksumIEEE(h[:92]))
}

// lvmCRC is the checksum of LVM, bit by bit.
func lvmCRC(b []byte) uint32 {
	crc := uint32(0xf597a6cf)
	for _, c := range b {
		crc ^= uint32(c)
		for range 8 {
			crc = crc>>1 ^ 0xedb88320*(crc&1)
		}
	}
	return crc
}

// alterText replaces a part of the metadata of a PV, and makes the checksums right.
func (m memory) alterText(t *testing.T, from, to string) {
	t.Helper()
	h := m[lvmMDA : lvmMDA+512]
	at := lvmMDA + int(binary.LittleEndian.Uint64(h[40:]))
	text := m[at : at+int(binary.LittleEndian.Uint64(h[48:]))]
	if len(from) != len(to) || !bytes.Contains(text, []byte(from)) {
		t.Fatalf("%q is not in the metadata:\n%s", from, text)
	}
	copy(text, bytes.Replace(text, []byte(from), []byte(to), 1))
	binary.LittleEndian.PutUint32(h[56:], lvmCRC(text))
	binary.LittleEndian.PutUint32(h, lvmCRC(h[4:]))
}

const (
	mib    = 1 << 20
	dirty  = mib + 1024 + 96 // byte of the flag that an ext3 on the first partition is mounted
	lvmMDA = 4096            // the metadata area of a PV
)

const (
	gptDisk = `printf 'label: gpt\nsize=20M\nsize=30M\n' | sfdisk -q $D`
	dosDisk = `printf 'label: dos\nsize=20M\nsize=10M\nsize=20M,type=5\nsize=4M\nsize=4M\n' |
		sfdisk -q $D`
	withExt3 = gptDisk + `; mke2fs -q -t ext3 -E offset=1048576 $D 20M`
)

// refusals are changes of tables that break a rule or a check.
var refusals = []struct {
	rule, setup string
	mounted     bool // the ext3 on the first partition is mounted
	script      string
	alter       func(m memory)
}{
	{rule: "volume/1", setup: `printf 'label: dos\nsize=20M\n' | sfdisk -q $D`, alter: func(m memory) {
		binary.LittleEndian.PutUint32(m[446+12:], 1<<30)
	}},
	{rule: "volume/1", setup: gptDisk, alter: func(m memory) {
		binary.LittleEndian.PutUint64(m[1024+32:], 3)
		m.sealGPT(512)
	}},
	{rule: "volume/2", setup: dosDisk, alter: func(m memory) {
		binary.LittleEndian.PutUint32(m[446+12:], 30<<11)
	}},
	{rule: "volume/2", setup: gptDisk, alter: func(m memory) {
		binary.LittleEndian.PutUint64(m[1024+40:], 25<<11)
		m.sealGPT(512)
	}},
	{rule: "volume/3", setup: gptDisk, alter: func(m memory) {
		m[1024+56]++ // the name of a partition
		m.sealGPT(512)
		m[len(m)-33*512+56] += 2
		m.sealGPT(len(m) - 512)
	}},
	{rule: "volume/4", setup: withExt3, mounted: true, script: `sfdisk -q --delete $D 1`},
	{rule: "volume/4", setup: withExt3, mounted: true, script: `echo ,10M | sfdisk -q -N 1 $D`},
	{rule: "volume/4", setup: withExt3, mounted: true, script: `echo 4M,10M | sfdisk -q -N 1 $D`},
	{rule: "volume/4", setup: withExt3, mounted: true, script: `printf 'label: dos\n' | sfdisk -q $D`},
	{rule: "volume/4", setup: `mke2fs -q -t ext3 $D; printf '\006' |
		dd of=$D bs=1 seek=1120 conv=notrunc status=none`, script: gptDisk},
	{rule: "volume/5", setup: withExt3, script: `echo ,10M | sfdisk -q -N 1 $D`},
	{rule: "volume/gpt-header", setup: gptDisk, alter: func(m memory) { m[512+40]++ }},
}

// TestTableRulesRefuse checks that each rule and each check refuses the change that breaks it.
func TestTableRulesRefuse(t *testing.T) {
	proved := map[string]bool{}
	for _, c := range refusals {
		t.Run(c.rule+" "+c.script, func(t *testing.T) {
			i := newImage(t, 64*mib)
			i.sh(t, c.setup)
			if c.mounted {
				if _, err := i.WriteAt([]byte{6}, dirty); err != nil {
					t.Fatal(err)
				}
			}
			before := load(t, i)
			if c.script != "" {
				i.sh(t, c.script)
			}
			after := load(t, i)
			if c.alter != nil {
				c.alter(after)
			}
			if c.alter != nil {
				verify(t, i, after)
			}
			refused(t, c.rule, before, after)
			proved[c.rule] = true
		})
	}
	lvmRulesRefuse(t, proved)
	for _, r := range newJudge(t, memory(make([]byte, mib))).engine.Rules() {
		if !proved[r.Name] {
			t.Errorf("no test shows %s violated: %s", r.Name, r.Doc)
		}
	}
	for _, check := range volume.Checks() {
		if !proved[check.Name] {
			t.Errorf("no test shows %s violated: %s", check.Name, check.Doc)
		}
	}
}

// verify expects sfdisk or sgdisk to find a fault too.
func verify(t *testing.T, i image, m memory) {
	t.Helper()
	if _, err := i.WriteAt(m, 0); err != nil {
		t.Fatal(err)
	}
	out := i.sh(t, "sfdisk --verify $D 2>&1 || true; sgdisk -v $D 2>&1 || true")
	if strings.Contains(out, "No errors detected") && strings.Contains(out, "No problems found") {
		t.Errorf("the tools find nothing wrong:\n%s", out)
	}
}

// refused expects a rule, and no other one, to be violated on the way from one state to another.
func refused(t *testing.T, rule string, before, after memory) {
	t.Helper()
	found := feed(t, before, after, different(before, after))
	if len(found) == 0 {
		t.Fatal("nothing is violated")
	}
	for _, f := range found {
		if !strings.HasPrefix(f, rule+":") {
			t.Errorf("%s is violated, want only %s", f, rule)
		}
	}
}

func lvmRulesRefuse(t *testing.T, proved map[string]bool) {
	l := newLVM(t, 64*mib)
	l.run(t, pvcreate+` $0
		vgcreate -q -s 1m vg $0
		lvcreate -q -l 3 -n one -an -Zn -Wn vg
		lvcreate -q -l 5 -n two -an -Zn -Wn vg`)
	for _, c := range []struct {
		rule  string
		alter func(t *testing.T, m memory)
	}{
		{"volume/6", func(t *testing.T, m memory) {
			m.alterText(t, `"pv0", 3`, `"pv0", 2`)
		}},
		{"volume/7", func(t *testing.T, m memory) {
			m.alterText(t, `pe_count = 63`, `pe_count = 7 `)
		}},
		{"volume/8", func(t *testing.T, m memory) {
			m.alterText(t, `pe_count = 63`, `pe_count = 64`)
		}},
		{"volume/lvm-label", func(_ *testing.T, m memory) { m[512+100]++ }},
		{"volume/lvm-metadata", func(_ *testing.T, m memory) { m[lvmMDA+48]++ }},
		{"volume/lvm-metadata", func(_ *testing.T, m memory) { // the location of a text that is not there
			binary.LittleEndian.PutUint64(m[lvmMDA+40:], 512)
			binary.LittleEndian.PutUint32(m[lvmMDA:], lvmCRC(m[lvmMDA+4:lvmMDA+512]))
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			before := load(t, l.images[0])
			after := slices.Clone(before)
			c.alter(t, after)
			refused(t, c.rule, before, after)
			proved[c.rule] = true
		})
	}
	t.Run("volume/4 lv", func(t *testing.T) {
		before := load(t, l.images[0])
		at := 64<<10 + 1024 // the superblock on the first LV
		copy(before[at+56:], "\x53\xef\x01")
		before[at+96] = 6                                   // mounted
		binary.LittleEndian.PutUint32(before[at+4:], 3<<10) // blocks of 1 KiB
		after := slices.Clone(before)
		after.alterText(t, `"pv0", 0`, `"pv0", 9`)
		refused(t, "volume/4", before, after)
	})
}

// TestOrderOfPages checks that whatever the order in which the pages of a change of a GPT arrive,
// no rule is violated, and the map is right at the end.
func TestOrderOfPages(t *testing.T) {
	for name, scripts := range map[string][2]string{
		"add":    {gptDisk, `echo size=10M | sfdisk -q -a $D`},
		"delete": {gptDisk, `sfdisk -q --delete $D 1`},
		"many":   {gptDisk, `sgdisk -n 100:0:+1M -n 128:0:+1M -s $D`},
		"new":    {"true", gptDisk},
		"mbr":    {dosDisk, `sfdisk -q --delete $D 5`},
	} {
		t.Run(name, func(t *testing.T) {
			i := newImage(t, 64*mib)
			i.sh(t, scripts[0])
			before := load(t, i)
			i.sh(t, scripts[1])
			after := load(t, i)
			pages := different(before, after)
			for _, order := range permutations(pages) {
				if found := feed(t, bytes.Clone(before), after, order); len(found) > 0 {
					t.Fatalf("pages %v: %v", order, found)
				}
			}
			t.Logf("%d pages", len(pages))
		})
	}
}

// permutations returns some orders of pages: all rotations, forwards and backwards.
func permutations(pages []int) [][]int {
	var all [][]int
	for n := range pages {
		order := slices.Concat(pages[n:], pages[:n])
		back := slices.Clone(order)
		slices.Reverse(back)
		all = append(all, order, back)
	}
	return all
}
