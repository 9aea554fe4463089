package fieldmap_test

import (
	"bytes"
	"fmt"

	"fsward/repair/fieldmap"
)

// memory is a disk in memory.
type memory struct{ *bytes.Reader }

func (m memory) Size() uint64 { return uint64(m.Reader.Size()) }

// The place of the items depends on a field of the head.
func ExampleMap_Find() {
	m, err := fieldmap.Parse([]byte(`
file_system: toy
structures:
  head: {fields: [[magic, 0, 2], [items, 2, 2]]}
  item: {fields: [[value, 0, 1]]}
places:
  - {structure: head, at: 0}
  - {structure: item, at: head.items}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	image := []byte{0x34, 0x12, 6, 0, 0, 0, 42, 0}
	found, _, err := m.Find(memory{bytes.NewReader(image)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found {
		fmt.Printf("%s at %d: %#x\n", f.Group, f.Off, f.Old)
	}
	// Output:
	// head.magic at 0: 0x1234
	// head.items at 2: 0x6
	// item.value at 6: 0x2a
}
