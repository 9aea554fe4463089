package fieldmap_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"fsward/repair/fieldmap"
	"fsward/repair/linux"
	"fsward/repair/testimage"
)

func TestMain(m *testing.M) {
	linux.ServeIfInside()
	os.Exit(m.Run())
}

// A query asks the file system's own debugger. What it prints is compared with the map.
type query struct {
	argv  []string // IMAGE stands for the image
	stdin string
	// structure and place are those of the fields.
	structure, place string
	// line matches a field's name and its number, if the debugger uses the names of the map. Other
	// fields have a pattern each, by name.
	line   string
	base   int // of the numbers; 0: as Go has them
	labels map[string]string
	least  int // fields that the debugger and the map have in common
}

const (
	xfsLine  = `(?m)^(?:core\.)?(\w+) = (\w+)(?:\s|$)`
	f2fsLine = `(?m)^(\w+)\s+\[0x *([0-9a-f]+) :`
	jfsLine  = `\[\d+\] (\w+):\s+(\w+)`
)

func xfs(structure, place, at string, least int) query {
	return query{argv: []string{"xfs_db", "-r", "-c", at, "-c", "p", "IMAGE"}, structure: structure,
		place: place, line: xfsLine, least: least}
}

func jfs(structure, place, command string, least int) query {
	return query{argv: []string{"jfs_debugfs", "IMAGE"}, stdin: command + "\nx\nq\n",
		structure: structure, place: place, line: jfsLine, least: least}
}

// queries has what is asked of each file system.
var queries = map[string][]query{
	"xfs": {xfs("superblock", "", "sb 0", 40), xfs("agf", "1", "agf 1", 8),
		xfs("agi", "0", "agi 0", 7),
		xfs("inode", "root", "inode 128", 15), xfs("inode", "summary", "inode 130", 15),
		xfs("inode", "block_device", "inode 131", 15)},
	"f2fs": {
		{argv: []string{"dump.f2fs", "-d", "1", "IMAGE"}, structure: "superblock", line: f2fsLine,
			base: 16, least: 20},
		{argv: []string{"dump.f2fs", "-i", "3", "IMAGE"}, structure: "inode", place: "root",
			line: f2fsLine, base: 16, least: 10},
	},
	"jfs": {jfs("superblock", "", "su p", 10), jfs("inode", "fileset/root", "i 2", 6),
		jfs("inode", "aggregate", "i 1 a", 6)},
	"exfat": {{argv: []string{"dump.exfat", "IMAGE"}, structure: "boot", least: 9,
		labels: map[string]string{"volume_length": `Volume Length\(sectors\):\s+(\d+)`,
			"fat_offset":     `FAT Offset\(sector offset\):\s+(\d+)`,
			"fat_length":     `FAT Length\(sectors\):\s+(\d+)`,
			"clu_offset":     `Cluster Heap Offset \(sector offset\):\s+(\d+)`,
			"clu_count":      `Cluster Count:\s+(\d+)`,
			"root_cluster":   `Root Cluster \(cluster offset\):\s+(\d+)`,
			"vol_serial":     `Volume Serial:\s+(\w+)`,
			"sect_size_bits": `Sector Size Bits:\s+(\d+)`,

			"sect_per_clus_bits": `Sector per Cluster bits:\s+(\d+)`}},
		{argv: []string{"dump.exfat", "IMAGE"}, structure: "dirent", place: "bitmap", least: 2,
			labels: map[string]string{"start_clu": `Bitmap start cluster:\s+(\d+)`,
				"size": `Bitmap size:\s+(\d+)`}},
		{argv: []string{"dump.exfat", "IMAGE"}, structure: "dirent", place: "upcase", least: 2,
			labels: map[string]string{"start_clu": `Upcase table start cluster:\s+(\d+)`,
				"size": `Upcase table size:\s+(\d+)`}}},
	"vfat": {{argv: []string{"minfo", "-i", "IMAGE", "::"}, structure: "boot", least: 11,
		labels: map[string]string{"sector_size": `sector size: (\d+)`,
			"cluster_size": `cluster size: (\d+)`,
			"reserved":     `reserved \(boot\) sectors: (\d+)`, "fats": `fats: (\d+)`,
			"dir_entries": `max available root directory slots: (\d+)`, "sectors": `small size: (\d+)`,
			"media": `media descriptor byte: (\w+)`, "fat_length": `sectors per fat: (\d+)`,
			"secs_track": `sectors per track: (\d+)`, "heads": `heads: (\d+)`,
			"drive_number": `physical drive id: (\w+)`}}},
	"reiserfs": {
		{argv: []string{"debugreiserfs", "IMAGE"}, structure: "superblock", least: 10,
			labels: map[string]string{"block_count": `Count of blocks on the device: (\d+)`,
				"bmap_nr": `Number of bitmaps: (\d+)`, "blocksize": `Blocksize: (\d+)`,
				"free_blocks": `Free blocks .*: (\d+)`, "root_block": `Root block: (\d+)`,
				"tree_height": `Tree height: (\d+)`, "oid_cursize": `Objectid map size (\d+)`,
				"oid_maxsize": `Objectid map size \d+, max (\d+)`, "jp_magic": `Magic \[(\w+)\]`,
				"jp_1st_block": `first block (\d+)`, "jp_trans_max": `Max transaction length (\d+)`,
				"jp_max_batch": `Max batch size (\d+)`, "jp_max_commit_age": `Max commit age (\d+)`,
				"fs_state": `Fs state field: (\w+)`, "version": `sb_version: (\d+)`}},
		{argv: []string{"debugreiserfs", "-d", "IMAGE"}, structure: "stat_data", place: "0/root",
			least: 3, labels: map[string]string{"size": `1 2 0x0 SD[^\n]*\n[^\n]*size (\d+)`,
				"nlink": `1 2 0x0 SD[^\n]*\n[^\n]*nlink (\d+)`, "uid": `1 2 0x0 SD[^\n]*\n[^\n]*uid (\d+)`}},
		{argv: []string{"debugreiserfs", "-d", "IMAGE"}, structure: "stat_data", place: "1/file",
			least: 2, labels: map[string]string{"size": `2 8 0x0 SD[^\n]*\n[^\n]*size (\d+)`,
				"nlink": `2 8 0x0 SD[^\n]*\n[^\n]*nlink (\d+)`}},
		{argv: []string{"debugreiserfs", "-d", "IMAGE"}, structure: "child", place: "1", least: 2,
			labels: map[string]string{"block": `PTR 1: \[dc_number=(\d+)`,
				"size": `PTR 1: \[dc_number=\d+, dc_size=(\d+)`}},
	},
	"ext4": {
		{argv: []string{"debugfs", "-R", "stat f", "IMAGE"}, structure: "inode", place: "file", least: 5,
			labels: map[string]string{"links_count": `Links: (\d+)`, "size": `Size: (\d+)`,
				"generation": `Generation: (\d+)`, "flags": `Flags: (\w+)`, "blocks": `Blockcount: (\d+)`,
				"file_acl": `File ACL: (\d+)`, "extra_isize": `Size of extra inode fields: (\d+)`,
				"ctime": `ctime: (\w+)`}},
		{argv: []string{"debugfs", "-R", "stat f", "IMAGE"}, structure: "extents", place: "file",
			least: 1, labels: map[string]string{"ee_start": `\(0-\d+\):(\d+)-`}},
		{argv: []string{"debugfs", "-R", "stats", "IMAGE"}, structure: "superblock", least: 12,
			labels: map[string]string{"inodes_count": `Inode count: +(\d+)`,
				"blocks_count":      `(?m)^Block count: +(\d+)`,
				"r_blocks_count":    `Reserved block count: +(\d+)`,
				"free_blocks_count": `Free blocks: +(\d+)`, "free_inodes_count": `Free inodes: +(\d+)`,
				"first_data_block": `First block: +(\d+)`, "desc_size": `Group descriptor size: +(\d+)`,
				"blocks_per_group": `Blocks per group: +(\d+)`, "inodes_per_group": `Inodes per group: +(\d+)`,
				"first_ino": `First inode: +(\d+)`, "inode_size": `Inode size: +(\d+)`,
				"want_extra_isize": `Desired extra isize: +(\d+)`, "journal_inum": `Journal inode: +(\d+)`,
				"rev_level": `Filesystem revision #: +(\d+)`}},
		{argv: []string{"debugfs", "-R", "stats", "IMAGE"}, structure: "group", least: 5,
			labels: map[string]string{"block_bitmap": `block bitmap at (\d+)`,
				"inode_bitmap": `inode bitmap at (\d+)`, "inode_table": `inode table at (\d+)`,
				"free_blocks_count": `(\d+) free blocks`, "free_inodes_count": `(\d+) free inodes`}},
	},
	"minix3": {{argv: []string{"fsck.minix", "-s", "-f", "IMAGE"}, structure: "superblock", least: 4,
		labels: map[string]string{"s_ninodes": `(\d+) inodes`, "s_zones": `(\d+) blocks`,
			"s_firstdatazone": `Firstdatazone=(\d+)`, "s_max_size": `Maxsize=(\d+)`}}},
}

// TestDebuggers compares the fields of maps with what the debuggers of the file systems print.
func TestDebuggers(t *testing.T) {
	for fs, list := range queries {
		t.Run(fs, func(t *testing.T) {
			image, err := testimage.Build(t.Context(), fs, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer image.Close()
			path := filepath.Join(t.TempDir(), "disk.img")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := image.CopyTo(f); err != nil {
				t.Fatal(err)
			}
			m, err := fieldmap.Known(fs)
			if err != nil {
				t.Fatal(err)
			}
			found, _, err := m.Find(image)
			if err != nil {
				t.Fatal(err)
			}
			if fs == "reiserfs" {
				clearTails(t, f, found)
			}
			for _, q := range list {
				q.compare(t, path, found)
			}
		})
	}
}

// clearTails clears the last bytes of the internal blocks of a ReiserFS, which no item uses. There
// the kernel may leave the magic number of a block of the journal (get_journal_desc_magic), and
// debugreiserfs then takes the block for one of these (who_is_this).
func clearTails(t *testing.T, image *os.File, found []*fieldmap.Found) {
	t.Helper()
	const blockSize, tail = 4096, 12
	var at uint64 // the block whose level was found last, if it is an internal one
	for _, f := range found {
		switch {
		case f.Group == "block_head.level" && f.Old > 1:
			at = f.Off
		case f.Group == "block_head.free_space" && at != 0 && f.Off/blockSize == at/blockSize:
			if f.Old < tail {
				t.Fatalf("the block at %d has %d free bytes", at, f.Old)
			}
			if _, err := image.WriteAt(make([]byte, tail), int64(at+blockSize-tail)); err != nil {
				t.Fatal(err)
			}
			at = 0
		}
	}
}

// compare asks the debugger, and compares its numbers with the fields that were found.
func (q *query) compare(t *testing.T, path string, found []*fieldmap.Found) {
	t.Helper()
	old := map[string]*fieldmap.Found{}
	for _, f := range found {
		name, is := strings.CutPrefix(f.Group, q.structure+".")
		if is && f.Place == q.place {
			old[name] = f
		}
	}
	equal := 0
	for name, text := range q.ask(t, path) {
		want, err := strconv.ParseUint(text, q.base, 64)
		f := old[name]
		switch {
		case f == nil || err != nil: // a name that only the debugger knows, or no number
		case f.Old != want:
			t.Errorf("%s: %s of %q at %d is %d, and the debugger says %s", q.structure, name, q.place,
				f.Off, f.Old, text)
		default:
			equal++
		}
	}
	if equal < q.least {
		t.Errorf("%s of %q: %d fields are compared, want %d", q.structure, q.place, equal, q.least)
	}
	t.Logf("%s of %q: %d fields are equal", q.structure, q.place, equal)
}

// ask returns the numbers that the debugger prints, by name.
func (q *query) ask(t *testing.T, path string) map[string]string {
	t.Helper()
	argv := append([]string{}, q.argv...)
	for i, a := range argv {
		argv[i] = strings.ReplaceAll(a, "IMAGE", path)
	}
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(q.stdin)
	out, err := cmd.Output()
	if len(out) == 0 {
		t.Fatalf("%v: %v", argv, err)
	}
	numbers := map[string]string{}
	if q.line != "" {
		for _, m := range regexp.MustCompile(q.line).FindAllStringSubmatch(string(out), -1) {
			if _, twice := numbers[m[1]]; !twice && m[1] != "crc" { // XFS has it in another byte order
				numbers[m[1]] = m[2]
			}
		}
	}
	for name, pattern := range q.labels {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(string(out)); m != nil {
			numbers[name] = m[1]
		}
	}
	return numbers
}
