package corrupt

import (
	"strings"
	"testing"
)

func TestBadEdit(t *testing.T) {
	for _, spec := range []string{"", "inode.links_count", "inode.nlink+1", "nosuch.field=1",
		"inode.mode+x"} {
		if _, err := parseAlterSpec(spec); err == nil || !strings.Contains(err.Error(),
			"inode.links_count") {
			t.Errorf("%q: the error does not list the fields: %v", spec, err)
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
