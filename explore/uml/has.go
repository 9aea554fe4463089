package uml

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// CanMount returns an error if the kernel has no file system of this type for mount(2), neither in
// itself nor as a module.
func CanMount(typ string) error {
	for _, list := range []struct {
		name, end, line string
	}{
		{"modules.builtin.modinfo", "\x00", ".alias=fs-" + typ},
		{"modules.alias", "\n", "alias fs-" + typ + " "},
	} {
		files, err := filepath.Glob(filepath.Join(Modules, "*", list.name))
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			has := func(line []byte) bool {
				return bytes.HasPrefix(line, []byte(list.line)) || bytes.HasSuffix(line, []byte(list.line))
			}
			if slices.ContainsFunc(bytes.Split(text, []byte(list.end)), has) {
				return nil
			}
		}
	}
	return fmt.Errorf("the kernel of user-mode Linux has no %s", typ)
}
