package ext3

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/interp/ext3/ondisk"
)

// acl returns an access list of pairs of tag and permissions. An entry whose tag names a user or
// group gets an ID.
func acl(entries ...uint16) []byte {
	b := binary.LittleEndian.AppendUint32(nil, ondisk.ACLVersion)
	for i := 0; i < len(entries); i += 2 {
		b = binary.LittleEndian.AppendUint16(b, entries[i])
		b = binary.LittleEndian.AppendUint16(b, entries[i+1])
		if entries[i]&(ondisk.ACLUser|ondisk.ACLGroup) != 0 {
			b = binary.LittleEndian.AppendUint32(b, 1000)
		}
	}
	return b
}

// An accessList is an access list with its fault.
type accessList struct {
	name  string
	b     []byte
	fault string // "": none
	// Linux reads such a list, refuses to set it, and denies access to users whom it does not cover
	read bool
}

// accessLists returns sound and faulty access lists.
func accessLists() []accessList {
	full := acl(ondisk.ACLUserObj, 6, ondisk.ACLUser, 4, ondisk.ACLUser, 7, ondisk.ACLGroupObj, 4,
		ondisk.ACLGroup, 5, ondisk.ACLMask, 7, ondisk.ACLOther, 0)
	version := acl(ondisk.ACLUserObj, 6, ondisk.ACLGroupObj, 4, ondisk.ACLOther, 4)
	version[0]++
	unknown := acl(ondisk.ACLUserObj, 6, ondisk.ACLGroupObj, 4, ondisk.ACLOther, 4)
	unknown[8] = 0x40
	return []accessList{
		{"full", full, "", false},
		{"short", acl(ondisk.ACLUserObj, 6, ondisk.ACLGroupObj, 4, ondisk.ACLOther, 4), "", false},
		{"mask-of-nobody", acl(ondisk.ACLUserObj, 6, ondisk.ACLGroupObj, 4, ondisk.ACLMask, 4,
			ondisk.ACLOther, 4), "", false},
		{"version", version, "version", false},
		{"cut-short", full[:len(full)-2], "ends within", false},
		{"cut-in-long", full[:14], "ends within", false},
		{"unknown-tag", unknown, "tag 0x40", false},
		{"no-mask", acl(ondisk.ACLUserObj, 6, ondisk.ACLUser, 4, ondisk.ACLGroupObj, 4, ondisk.ACLOther,
			4), "tag 0x20 after", false},
		{"out-of-order", acl(ondisk.ACLUserObj, 6, ondisk.ACLOther, 4, ondisk.ACLGroupObj, 4),
			"tag 0x20 after", true},
		{"no-others", acl(ondisk.ACLUserObj, 6, ondisk.ACLGroupObj, 4), "others", true},
		{"permissions", acl(ondisk.ACLUserObj, 8, ondisk.ACLGroupObj, 4, ondisk.ACLOther, 4),
			"permissions", true},
	}
}

// TestAccessLists checks that fsward accepts exactly the access lists that Linux reads. e2fsck does
// not check them.
func TestAccessLists(t *testing.T) {
	image := Mkfs(t, "16M", "-b", "1024")
	dir := t.TempDir()
	var commands, queries strings.Builder
	bad := 0
	for _, l := range accessLists() {
		if have := ondisk.ACLFault(l.b); (have == "") != (l.fault == "") || !strings.Contains(have,
			l.fault) {
			t.Errorf("%s: %q, want %q", l.name, have, l.fault)
		}
		path := filepath.Join(dir, l.name)
		if err := os.WriteFile(path, l.b, 0o600); err != nil {
			t.Fatal(err)
		}
		commands.WriteString("write " + path + " " + l.name + "\nea_set -r -f " + path + " " + l.name +
			" system.posix_acl_access\n")
		if l.fault != "" {
			bad++
		}
		if l.fault != "" && !l.read {
			queries.WriteString("! ")
		}
		queries.WriteString("getfattr -n system.posix_acl_access " + l.name + " || exit 1\n")
	}
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte(commands.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	peer(t, "debugfs", "-w", "-f", script, image)
	peer(t, "e2fsck", "-fn", image)
	Follow(t, image, 0, nil, []string{"noatime"}, queries.String())
	found, err := Image(OpenImage(t, image))
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Violations) != bad {
		t.Errorf("%d violations in the image, want %d: %v", len(found.Violations), bad, found.Violations)
	}
}
