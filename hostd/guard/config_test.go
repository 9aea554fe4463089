package guard_test

import (
	"testing"

	"fsward/blocktap/qemudisk"
	"fsward/hostd/guard"
)

// TestParseDiskSpec reads names and paths, also paths with a "=", and then formats by these names.
func TestParseDiskSpec(t *testing.T) {
	var cfg guard.Config
	for _, c := range []struct{ text, name, path string }{
		{"vm.img", "vm", "vm.img"},
		{"root=/srv/vm.img", "root", "/srv/vm.img"},
		{"/srv/a=b.img", "a=b", "/srv/a=b.img"},
		{"./c=d.img", "c=d", "./c=d.img"},
		{"root2=/srv/a=b.img", "root2", "/srv/a=b.img"},
		{"nbd+unix:///x?socket=/run/s", "x", "nbd+unix:///x?socket=/run/s"},
		{"v=nbd+unix:///x?socket=/run/s", "v", "nbd+unix:///x?socket=/run/s"},
	} {
		got, err := guard.ParseDiskSpec(c.text)
		if err != nil || got.Name != c.name || got.Path != c.path {
			t.Errorf("%s: name %q, path %q, %v", c.text, got.Name, got.Path, err)
		}
		cfg.Disks = append(cfg.Disks, got)
	}
	for _, bad := range []string{"", "=vm.img", "root=", "two words=vm.img"} {
		if got, err := guard.ParseDiskSpec(bad); err == nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
	if err := cfg.SetFormat("c=d=qcow2"); err != nil || cfg.Disks[3].Format != qemudisk.Qcow2 ||
		cfg.Disks[2].Format != "" {
		t.Errorf("formats %q and %q, %v", cfg.Disks[3].Format, cfg.Disks[2].Format, err)
	}
}
