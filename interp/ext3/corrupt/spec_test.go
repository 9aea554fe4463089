package corrupt

import (
	"strings"
	"testing"
)

func TestBadEdit(t *testing.T) {
	for spec, want := range map[string]string{"": "there are superblock, group, inode",
		"nosuch.field=1": "there are superblock, group, inode", "inode.links_count": "links_count",
		"inode.nlink+1": "links_count", "inode.mode+x": "links_count"} {
		if _, err := parseAlterSpec(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", spec, err, want)
		}
	}
}

func TestBadCorruption(t *testing.T) {
	for _, spec := range []string{"inode.mode=1@kind=nosuch", "inode.mode=1@level=3", "inode!nosuch",
		"inode.mode=x", "inode@id=1"} {
		if _, err := parseAlterSpec(spec); err == nil {
			t.Errorf("%q is taken", spec)
		}
	}
}
