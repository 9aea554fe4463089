package campaign

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fsward/interp"
	"fsward/repair/adapter"
	"fsward/repair/tree"
)

// maxDifferences bounds the files of a finding that differ.
const maxDifferences = 50

// compareFiles repairs the image of a finding's damage once, and notes which files differ from
// those before the damage.
func (w *worker) compareFiles(f *Finding, patches []interp.Patch, m *adapter.Mode) error {
	if f.slow() || w.own.image != nil { // images of a suite have no files before the damage
		return nil
	}
	if err := w.reset(patches); err != nil {
		return err
	}
	if _, err := w.run(m); err != nil {
		return err
	}
	before, after, problem, err := beforeAndAfter(w)
	if err != nil || before == nil {
		return err
	}
	if problem != "" {
		f.Files = []string{"cannot be read: " + problem}
		return nil
	}
	f.Files = differences(before, after)
	if more := len(f.Files) - maxDifferences; more > 0 {
		f.Files = append(f.Files[:maxDifferences:maxDifferences], fmt.Sprintf("… and %d more", more))
	}
	return nil
}

// beforeAndAfter returns the attributes of the files before the damage, and of those that the image
// has now: as fsward reads them, or as Linux does if a check has asked it before. They are nil if
// neither does. problem says why the image cannot be read now.
func beforeAndAfter(w *worker) (before, after map[string]string, problem string, err error) {
	before, err = readAttributes(w.base, w.checks.fs)
	if errors.Is(err, tree.ErrUnsupported) {
		if w.checks.view == nil {
			return nil, nil, "", nil
		}
		if after, err = w.attributes(); after == nil {
			problem = "Linux does not mount the file system"
		}
		return viewed(w.checks.view), after, problem, err
	}
	if err != nil {
		return nil, nil, "", err
	}
	now, err := w.contents()
	if err != nil {
		return nil, nil, "", err
	}
	defer now.Close()
	after, unreadable := readAttributes(now, w.checks.fs)
	if unreadable != nil {
		problem = unreadable.Error()
	}
	return before, after, problem, nil
}

// differences compares attributes, one line for each file: "- PATH" if it is gone, "+ PATH" if it
// is new, and "~ PATH" with what changed. What is below a directory that is gone or new has no
// line.
func differences(before, after map[string]string) (list []string) {
	was, is := byFile(before), byFile(after)
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		above := path[:strings.LastIndexByte(path, '/')]
		switch old, now := was[path], is[path]; {
		case now == nil && is[above] == nil && was[above] != nil,
			old == nil && was[above] == nil && is[above] != nil:
		case now == nil:
			list = append(list, "- "+path)
		case old == nil:
			list = append(list, "+ "+path)
		default:
			if changes := changed(old, now); len(changes) > 0 {
				list = append(list, "~ "+path+": "+strings.Join(changes, ", "))
			}
		}
	}
	return list
}

// changed names the attributes of a file that changed.
func changed(old, now map[string]string) (list []string) {
	for _, what := range slices.Sorted(maps.Keys(old)) {
		switch {
		case old[what] == now[what]:
		case what == "type" && old["mode"] != now["mode"]: // the mode says it
		case what == "content": // a hash
			list = append(list, what)
		default:
			list = append(list, fmt.Sprintf("%s %s → %s", what, old[what], now[what]))
		}
	}
	return list
}

// byFile returns the values of "PATH ATTRIBUTE" by path and attribute.
func byFile(attributes map[string]string) map[string]map[string]string {
	list := map[string]map[string]string{}
	for what, value := range attributes {
		i := strings.LastIndexByte(what, ' ')
		path := what[:i]
		if list[path] == nil {
			list[path] = map[string]string{}
		}
		list[path][what[i+1:]] = value
	}
	return list
}
