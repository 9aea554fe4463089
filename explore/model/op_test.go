package model_test

import (
	"testing"

	"fsward/explore/agent"
	"fsward/explore/model"
	"fsward/explore/modeltest"
)

// TestFromCall: FromCall inverts Call.
func TestFromCall(t *testing.T) {
	g := modeltest.NewGenerator(1)
	for range 2000 {
		call := g.Op().Call("/mnt/x")
		o, ok := model.FromCall("/mnt/x", call)
		_, n, s, data := o.Call("/mnt/x").Fields()
		_, n2, s2, data2 := call.Fields()
		if !ok || n != n2 || s != s2 || string(data) != string(data2) ||
			o.Call("/mnt/x").Code != call.Code {
			t.Fatalf("%v of %v", o, call)
		}
	}
	for _, call := range []agent.Op{
		agent.Tree("/mnt/x"),
		agent.Mkdir("/mnt/y", 0),
		agent.Rename("/mnt/x/a", "/b", 0),
	} {
		if o, ok := model.FromCall("/mnt/x", call); ok {
			t.Errorf("%v gives %v, want no operation", call, o)
		}
	}
}
