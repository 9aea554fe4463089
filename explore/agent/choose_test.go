package agent

import (
	"slices"
	"testing"
)

// TestChoices checks the encoding of LoadChoices and of the choices that were taken.
func TestChoices(t *testing.T) {
	want := []uint32{0, 7, 65535}
	got, ok := LoadChoices(want).LoadedChoices()
	if !ok || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, ok)
	}
	if _, ok := FailEnd().LoadedChoices(); ok {
		t.Error("another operation is taken for LoadChoices")
	}
	list := []KernelChoice{{3, 2, "raid5_recover+0x10"}, {2, 0, ""}}
	back, err := DecodeChoices(EncodeChoices(list))
	if err != nil || !slices.Equal(back, list) {
		t.Errorf("%v, %v", back, err)
	}
	for _, bad := range [][]KernelChoice{{{1, 0, ""}}, {{3, 3, ""}}} {
		if _, err := DecodeChoices(EncodeChoices(bad)); err == nil {
			t.Errorf("DecodeChoices accepts %v", bad)
		}
	}
}
