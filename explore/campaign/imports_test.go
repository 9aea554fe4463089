package campaign

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Only campaigns need NATS: what guards and checks disks does not have it.
func TestWhoImportsNATS(t *testing.T) {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "fsward/...")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "github.com/nats-io/") {
			name, _, _ := strings.Cut(line, " ")
			got = append(got, name)
		}
	}
	want := []string{"fsward/cmd/fsward", "fsward/explore/campaign", "fsward/explore/campaign/child"}
	if !slices.Equal(got, want) {
		t.Errorf("%v depend on NATS, want %v", got, want)
	}
}
