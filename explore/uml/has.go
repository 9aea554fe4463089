package uml

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// otherDrivers has the file systems that a driver of the same name serves here, and another one in
// Debian's kernels. The driver ext2 ignores extended attributes that are in an inode.
var otherDrivers = map[string]string{"ext2": "ext4"}

// lists returns the contents of the lists of a name beside the modules, one for each version of the
// kernel.
func lists(name string) (texts [][]byte, err error) {
	files, err := filepath.Glob(filepath.Join(Modules, "*", name))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// CanLoad returns an error if the kernel has no module of this name, neither as a file nor in
// itself.
func CanLoad(module string) error {
	name := strings.ReplaceAll(module, "_", "-")
	for _, list := range []string{"modules.dep", "modules.builtin"} {
		texts, err := lists(list)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(bytes.Join(texts, []byte("\n")))) {
			path, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			if strings.ReplaceAll(strings.TrimSuffix(filepath.Base(path), ".ko"), "_", "-") == name {
				return nil
			}
		}
	}
	return fmt.Errorf("the kernel of user-mode Linux has no module %s", module)
}

// CanMount returns an error if the kernel has no file system of this type for mount(2), neither in
// itself nor as a module, or has one that is another driver than in Debian's kernels.
func CanMount(typ string) error {
	if driver := otherDrivers[typ]; driver != "" {
		return fmt.Errorf("user-mode Linux has another driver for %s than the guest, where %s serves it",
			typ, driver)
	}
	for _, list := range []struct {
		name, end, line string
	}{
		{"modules.builtin.modinfo", "\x00", ".alias=fs-" + typ},
		{"modules.alias", "\n", "alias fs-" + typ + " "},
	} {
		texts, err := lists(list.name)
		if err != nil {
			return err
		}
		has := func(line []byte) bool {
			return bytes.HasPrefix(line, []byte(list.line)) || bytes.HasSuffix(line, []byte(list.line))
		}
		for _, text := range texts {
			if slices.ContainsFunc(bytes.Split(text, []byte(list.end)), has) {
				return nil
			}
		}
	}
	return fmt.Errorf("the kernel of user-mode Linux has no %s", typ)
}
