package damage_test

import (
	"bytes"
	"fmt"

	"fsward/repair/damage"
)

// memory is a disk in memory.
type memory struct{ *bytes.Reader }

func (m memory) Size() uint64 { return uint64(m.Reader.Size()) }

// Raw finds the words of an image whose format is not known, and At returns their damages.
func ExampleRaw() {
	image := make([]byte, 4096)
	image[512] = 7
	model, err := damage.Raw(memory{bytes.NewReader(image)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fields, _ := model.Fields()
	fmt.Println(fields, "field,", model.Count(), "damages")
	d, err := model.At(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.What)
	// Output:
	// 1 field, 42 damages
	// word at 0x200: 0x7 → 0x0
}
