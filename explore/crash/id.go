package crash

import (
	"fmt"
	"strconv"
	"strings"
)

// ID names the state by its point and the units in flight that are on the disk, as in
// "12:0-4,7,9.3". Here only the first three sectors of unit 9 are on the disk. Form forms the state
// with an ID again.
func (s *State) ID() string {
	var parts []string
	for i := 0; i < len(s.levels); i++ {
		switch level := s.levels[i]; {
		case level == 0:
		case level < s.flight[i].steps:
			parts = append(parts, fmt.Sprintf("%d.%d", i, level))
		default:
			from := i
			for i+1 < len(s.levels) && s.levels[i+1] == s.flight[i+1].steps {
				i++
			}
			if from == i {
				parts = append(parts, strconv.Itoa(i))
			} else {
				parts = append(parts, fmt.Sprintf("%d-%d", from, i))
			}
		}
	}
	return fmt.Sprintf("%d:%s", s.Point, strings.Join(parts, ","))
}

// An idPart is a range of units that are on the disk at the same level.
type idPart struct {
	from, to int
	level    uint32
	all      bool // the whole unit, whatever its number of steps
}

// parseID parses the output of ID. which returns the level of unit i, or all for the whole unit.
func parseID(id string) (point int, which func(i int) (level uint32, all bool), err error) {
	bad := func() (int, func(int) (uint32, bool), error) {
		return 0, nil, fmt.Errorf(
			"crash state %q: want its point, a colon, and units such as 0-4,7,9.3", id)
	}
	head, list, ok := strings.Cut(id, ":")
	point, err = strconv.Atoi(head)
	if !ok || err != nil || point < 0 {
		return bad()
	}
	var parts []idPart
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		p, ok := parseIDPart(text)
		if !ok {
			return bad()
		}
		parts = append(parts, p)
	}
	return point, func(i int) (uint32, bool) {
		for _, p := range parts {
			if p.from <= i && i <= p.to {
				return p.level, p.all
			}
		}
		return 0, false
	}, nil
}

// parseIDPart parses "7", "0-4" or "9.3".
func parseIDPart(text string) (p idPart, ok bool) {
	unit, level, torn := strings.Cut(text, ".")
	first, last, several := strings.Cut(unit, "-")
	if !several {
		last = first
	}
	from, err1 := strconv.ParseUint(first, 10, 31)
	to, err2 := strconv.ParseUint(last, 10, 31)
	if err1 != nil || err2 != nil || torn && several {
		return p, false
	}
	p = idPart{from: int(from), to: int(to), all: true}
	if torn {
		l, err := strconv.ParseUint(level, 10, 32)
		if err != nil {
			return p, false
		}
		p.level, p.all = uint32(l), false
	}
	return p, true
}

// Form visits the state with an ID that State.ID returned. The base, the log and the options must
// be the same as then. An ID that names no state of the log is an error.
func Form(
	base Base, events Events, options Options, id string, visit func(*State) error,
) error {
	point, which, err := parseID(id)
	if err != nil {
		return err
	}
	e := New(base, options)
	found := false
	e.formOnly = func() error {
		if found || e.stats.Points != point {
			return nil
		}
		found = true
		levels := make([]uint32, len(e.flight))
		for i, u := range e.flight {
			level, all := which(i)
			if all {
				level = u.steps
			}
			if level > u.steps {
				return fmt.Errorf("crash state %q: unit %d has %d steps", id, i, u.steps)
			}
			levels[i] = level
		}
		return e.formState(levels, visit)
	}
	ignore := func(*State) error { return nil }
	for ev, err := range events {
		if err == nil {
			err = e.Add(ev, ignore)
		}
		if err != nil || found {
			return err
		}
	}
	if err := e.Now(ignore); err != nil || found {
		return err
	}
	return fmt.Errorf("crash state %q: the log has no such point", id)
}
