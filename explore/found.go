package explore

import "fmt"

// A Found is an error of what is checked. Any other error says that it could not be checked.
type Found struct {
	Kind string // what is wrong, in a word or two, the same for errors of one cause: "file gone"
	Text string // what was expected and what is there
}

func (f *Found) Error() string { return f.Kind + ": " + f.Text }

// Foundf makes a Found.
func Foundf(kind, format string, args ...any) error {
	return &Found{Kind: kind, Text: fmt.Sprintf(format, args...)}
}
