package output_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"fsward/hostd/output"
)

// TestLinesHaveCommonKeys checks the keys that every line has.
func TestLinesHaveCommonKeys(t *testing.T) {
	before := time.Now().Truncate(time.Microsecond)
	var b bytes.Buffer
	l := output.NewLines(&b, "vm")
	for _, v := range []any{struct {
		Event string `json:"event"`
	}{"<commit>"}, map[string]any{}} {
		if err := l.Print(v); err != nil {
			t.Fatal(err)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if len(lines) != 3 || lines[2] != "" {
		t.Fatalf("%q, want two lines", b.String())
	}
	if !strings.HasPrefix(lines[0], `{"event":"<commit>","schema":1,"time":"`) {
		t.Errorf("%s: the object's own keys come first", lines[0])
	}
	for _, line := range lines[:2] {
		var got struct {
			Schema               int
			Time                 string
			Host, Guest, Version string
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		at, err := time.Parse(time.RFC3339, got.Time)
		if err != nil || at.Before(before) || at.After(time.Now()) {
			t.Errorf("time %q: %v", got.Time, err)
		}
		if got.Schema != output.Schema || got.Host != host || got.Guest != "vm" ||
			got.Version != output.Version() || got.Version == "" {
			t.Errorf("%s", line)
		}
	}
}

// TestLinesAreObjects checks that what is no JSON object is no line.
func TestLinesAreObjects(t *testing.T) {
	var b bytes.Buffer
	for _, v := range []any{1, "}", []int{1}, nil, func() {}} {
		if err := output.NewLines(&b, "").Print(v); err == nil || b.Len() > 0 {
			t.Errorf("%T was printed as %q", v, b.String())
		}
	}
}
