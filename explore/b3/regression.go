package b3

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed regressions/*.txt
var regressions embed.FS

// A Regression is a workload that showed a bug of a file system once.
type Regression struct {
	Name string
	Text string // as Parse reads it, with a comment that says what it does
	Workload
}

// Regressions returns the workloads of known bugs, by name. Kernels of today have mended most of
// these: where a workload finds nothing, it is a control.
func Regressions() (list []Regression, err error) {
	files, err := regressions.ReadDir("regressions")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := regressions.ReadFile(path.Join("regressions", f.Name()))
		if err != nil {
			return nil, err
		}
		r := Regression{Name: strings.TrimSuffix(f.Name(), ".txt"), Text: string(text)}
		if r.Workload, err = Parse(r.Text); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		list = append(list, r)
	}
	return list, nil
}
