package explore

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
)

// CodeMapName is the name of a guest's code map in its folder.
const CodeMapName = "code-map"

// maxCodeFiles bounds the files of a CodeMap.
const maxCodeFiles = 64 << 10

// A CodeMap says which addresses of the kernel belong to which source file. It is sorted by Start.
type CodeMap []CodeFile

// A CodeFile is the code of a source file.
type CodeFile struct {
	Start  uint64 `json:"start"` // address
	End    uint64 `json:"end"`   // address after the last byte
	Points uint64 `json:"points"`
	Path   string `json:"path"`
}

// ReadCodeMap reads a code map that guest/debug.sh wrote. A line has the hexadecimal addresses of
// the begin and of the end of the code of a file, the number of its instrumented points, and its
// path.
func ReadCodeMap(r io.Reader) (m CodeMap, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var f CodeFile
		_, err := fmt.Sscanf(lines.Text(), "%x %x %d %s", &f.Start, &f.End, &f.Points, &f.Path)
		if err != nil || f.Start >= f.End {
			return nil, fmt.Errorf("code map, line %d: %q has no file and its addresses", len(m)+1,
				lines.Text())
		}
		if len(m) == maxCodeFiles {
			return nil, fmt.Errorf("code map: more than %d files", maxCodeFiles)
		}
		m = append(m, f)
	}
	slices.SortFunc(m, func(a, b CodeFile) int { return cmp.Compare(a.Start, b.Start) })
	return m, lines.Err()
}

// A FileCover is the coverage of a source file.
type FileCover struct {
	Path    string
	Reached uint64 // points that were reached
	Points  uint64 // all points
}

// cover returns the files with a point that was reached, sorted by path.
func (m CodeMap) cover(points map[uint64]bool) (out []FileCover) {
	reached := make(map[int]uint64)
	for p := range points {
		after, exact := slices.BinarySearchFunc(m, p, func(f CodeFile, p uint64) int {
			return cmp.Compare(f.Start, p)
		})
		i := after - 1
		if exact {
			i = after
		}
		if i >= 0 && p < m[i].End {
			reached[i]++
		}
	}
	for i, n := range reached {
		out = append(out, FileCover{m[i].Path, n, m[i].Points})
	}
	slices.SortFunc(out, func(a, b FileCover) int { return cmp.Compare(a.Path, b.Path) })
	return out
}
