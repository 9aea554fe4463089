package spec

import (
	"os"
	"strings"
	"testing"
)

// TestAlone checks that a stack is read without its folder, and refused if it names another file.
func TestAlone(t *testing.T) {
	text, err := os.ReadFile("../../docs/examples/raid.yaml")
	if err != nil {
		t.Fatal(err)
	}
	raid := string(text)
	s, err := Alone(raid)
	if err != nil || len(s.Layers) < 2 {
		t.Errorf("%+v, %v", s, err)
	}
	parameter := "parameters: {fs: [ext3, /etc/own.yaml]}\n" +
		strings.Replace(raid, "component: ext3", "component: $fs", 1)
	for name, text := range map[string]string{
		"component": strings.Replace(raid, "component: ext3", "component: own.yaml", 1),
		"path":      strings.Replace(raid, "component: ext3", "component: /etc/passwd", 1),
		"parameter": parameter,
		"syntax":    raid + "\nunknown: 1\n",
	} {
		if text == raid {
			t.Fatalf("%s: the example has changed", name)
		}
		if s, err := Alone(text); err == nil {
			t.Errorf("%s is accepted: %+v", name, s)
		}
	}
}
