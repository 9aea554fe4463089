package checkers

import (
	"testing"

	"fsward/explore"
	"fsward/explore/model"
)

// TestUseWithoutRepair checks that what is read-only after a crash is not used.
func TestUseWithoutRepair(t *testing.T) {
	c := &Core{At: fakeAt, Promises: model.Promises{NoRepair: true}}
	if err := c.Use(new(explore.Env)); err != nil { // the Env can perform nothing
		t.Error(err)
	}
}
