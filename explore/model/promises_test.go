package model_test

import (
	"reflect"
	"strings"
	"testing"

	"fsward/explore/model"
)

// TestAboveLacks: what a layer or the file system below it lacks, both lack, whatever promises are
// added. All other promises are those below.
func TestAboveLacks(t *testing.T) {
	lacks := 0
	for i := range reflect.TypeFor[model.Promises]().NumField() {
		field := reflect.TypeFor[model.Promises]().Field(i)
		if field.Type.Kind() != reflect.Bool {
			continue
		}
		var p model.Promises
		reflect.ValueOf(&p).Elem().Field(i).SetBool(true)
		above := reflect.ValueOf(p.Above(model.Promises{})).Field(i).Bool()
		below := reflect.ValueOf(model.Promises{}.Above(p)).Field(i).Bool()
		both := strings.HasPrefix(field.Name, "No") || strings.HasSuffix(field.Name, "ync")
		if strings.HasPrefix(field.Name, "No") {
			lacks++
		}
		if above != both || !below {
			t.Errorf("%s: %t if the layer has it, %t if the file system below has it", field.Name,
				above, below)
		}
	}
	if lacks < 13 {
		t.Errorf("only %d fields are about what is lacking", lacks)
	}
}
