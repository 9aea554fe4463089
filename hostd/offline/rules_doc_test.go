package offline_test

import (
	"bytes"
	"os"
	"testing"

	"fsward/hostd/offline"

	"github.com/google/go-cmp/cmp"
)

// TestInvariantsDoc checks that docs/user/invariants.md is the output of `fsward rules doc`.
func TestInvariantsDoc(t *testing.T) {
	var want bytes.Buffer
	if err := offline.WriteInvariants(&want); err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../docs/user/invariants.md")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.String(), string(have)); d != "" {
		t.Errorf("docs/user/invariants.md is out of date: "+
			"run `go run ./cmd/fsward rules doc > docs/user/invariants.md` (-want +have):\n%s", d)
	}
}
