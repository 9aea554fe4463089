package crash

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A State is a disk as a crash can leave it. It is read like a disk, by one goroutine or by several, and valid during the
// visit that it is given to.
type State struct {
	Point   int       // where in the log it arises, from 0
	At      uint64    // of the last event before it
	Mark    string    // the last mark before that; "" if there is none
	Sig     Signature // states with equal contents have the same; that of a disk that is as the base is zero
	Durable Signature // that of the disk with nothing of what was in flight

	layer  *layer
	flight []*unit
	forms  *forms
	levels []uint32        // how many steps of each unit in flight are done
	over   map[uint64]page // the pages that differ from the layer
}

// ReadAt reads the disk.
func (s *State) ReadAt(p []byte, off int64) (int, error) {
	return s.layer.readAt(p, off, func(number uint64) ([]byte, bool) {
		c, ok := s.over[number]
		return c.contents, ok
	})
}

// Size returns the size of the disk in bytes.
func (s *State) Size() uint64 { return s.layer.base.Size() }

// InFlight tells whether a write in flight touches a page: the other pages are the same in all states of the point.
func (s *State) InFlight(number uint64) bool {
	_, ok := s.forms.writers[number]
	return ok
}

// AllInFlight yields the numbers of the pages that writes in flight touch, in no order.
func (s *State) AllInFlight() iter.Seq[uint64] { return maps.Keys(s.forms.writers) }

// Pages yields the pages in which the disk differs from the base: the address of each in bytes, in order, and its contents,
// which must not be changed.
func (s *State) Pages() iter.Seq2[uint64, []byte] {
	return func(yield func(uint64, []byte) bool) {
		numbers := slices.Collect(maps.Keys(s.over))
		for number := range s.layer.pages {
			if _, ok := s.over[number]; !ok {
				numbers = append(numbers, number)
			}
		}
		slices.Sort(numbers)
		for _, number := range numbers {
			p, ok := s.over[number]
			if !ok {
				p = s.layer.pages[number]
			}
			if p.sum != s.layer.origin[number] && !yield(number*PageSize, p.contents) {
				return
			}
		}
	}
}

// From returns the state that this one is a crash of the recovery of, or what that recovery left; nil if the base is none.
func (s *State) From() *State {
	from, _ := s.layer.base.(*State)
	return from
}

// Contents tells what the disk holds: Sig, against the base of all states that this one comes from.
func (s *State) Contents() Signature {
	if from := s.From(); from != nil {
		return s.Sig.plus(from.Contents())
	}
	return s.Sig
}

// Page tells what a page of PageSize bytes holds: zero what the base holds, and else different signatures different
// contents.
func (s *State) Page(number uint64) Signature {
	p, ok := s.over[number]
	if !ok {
		if p, ok = s.layer.pages[number]; !ok {
			return Signature{}
		}
	}
	return p.sum.minus(s.layer.origin[number])
}

// Settled returns the state with nothing of what was in flight.
func (s *State) Settled() *State {
	return &State{Point: s.Point, At: s.At, Mark: s.Mark, Sig: s.Durable, Durable: s.Durable, layer: s.layer, flight: s.flight, forms: s.forms,
		levels: make([]uint32, len(s.levels))}
}

// Keep returns the state as a disk that stays.
func (s *State) Keep() *Snapshot {
	k := &Snapshot{layer: *s.layer, Sig: s.Sig, at: len(s.layer.changes)}
	k.layer.pages = maps.Clone(s.layer.pages)
	for number, p := range s.over {
		k.layer.pages[number] = p
		k.own = append(k.own, number)
	}
	return k
}

// Differs returns the numbers of the pages in which the state differs from one of the same log that was kept before, or
// from the base if that is nil, in order.
func (s *State) Differs(from *Snapshot) []uint64 {
	if from == nil {
		from = &Snapshot{}
	}
	numbers := slices.Concat(from.own, s.layer.changes[from.at:])
	for number := range s.over {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	return slices.DeleteFunc(numbers, func(n uint64) bool { return s.Page(n) == from.Page(n) })
}

// A Snapshot is a state that stays. Safe for concurrent use.
type Snapshot struct {
	Sig   Signature
	layer layer
	own   []uint64 // pages that differ from what was durable then
	at    int      // how many changes the layer had seen
}

// Page tells what a page holds, as State.Page does.
func (k *Snapshot) Page(number uint64) Signature {
	p, ok := k.layer.pages[number]
	if !ok {
		return Signature{}
	}
	return p.sum.minus(k.layer.origin[number])
}

// ReadAt reads the disk.
func (k *Snapshot) ReadAt(p []byte, off int64) (int, error) {
	return k.layer.readAt(p, off, func(uint64) ([]byte, bool) { return nil, false })
}

// Size returns the size of the disk in bytes.
func (k *Snapshot) Size() uint64 { return k.layer.base.Size() }

// ID names the state: its point and the units in flight that are on the disk, as "12:0-4,7,9.3" (.3: three sectors of it).
// Form makes the state of it again.
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

// parseID reads what ID wrote. which is told of each unit: all of it, or how many steps.
func parseID(id string) (point int, which func(i int) (level uint32, all bool), err error) {
	bad := func() (int, func(int) (uint32, bool), error) {
		return 0, nil, fmt.Errorf("crash state %q: want its point, a colon, and units such as 0-4,7,9.3", id)
	}
	head, list, ok := strings.Cut(id, ":")
	point, err = strconv.Atoi(head)
	if !ok || err != nil || point < 0 {
		return bad()
	}
	type piece struct {
		from, to int
		level    uint32
		all      bool
	}
	var pieces []piece
	for _, part := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		p := piece{all: true}
		unit, level, torn := strings.Cut(part, ".")
		first, last, several := strings.Cut(unit, "-")
		if !several {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 31)
		to, err2 := strconv.ParseUint(last, 10, 31)
		if err1 != nil || err2 != nil || torn && several {
			return bad()
		}
		p.from, p.to = int(from), int(to)
		if torn {
			l, err := strconv.ParseUint(level, 10, 32)
			if err != nil {
				return bad()
			}
			p.level, p.all = uint32(l), false
		}
		pieces = append(pieces, p)
	}
	return point, func(i int) (uint32, bool) {
		for _, p := range pieces {
			if p.from <= i && i <= p.to {
				return p.level, p.all
			}
		}
		return 0, false
	}, nil
}

// Missing lists the writes in flight that had been issued and are not on the disk, or not whole, in the order in which they were issued.
func (s *State) Missing() (writes []uint64) {
	for i, u := range s.flight {
		if s.levels[i] < u.steps && u.issued() && !slices.Contains(writes, u.write()) {
			writes = append(writes, u.write())
		}
	}
	return writes
}

// Early lists what is on the disk and had not been issued: blocks that the kernel held, and could write whenever it liked, in the order
// in which they were dirtied. What a later version hides is none of it.
func (s *State) Early() (blocks []Write) {
	var over []span
	for i, u := range slices.Backward(s.flight) {
		if s.levels[i] == 0 {
			continue
		}
		there := &unit{spans: u.at(s.levels[i])}
		if !u.issued() {
			seen := &unit{spans: there.spans}
			for _, p := range over {
				seen.without(p.off, p.len)
			}
			for _, p := range seen.spans {
				blocks = append(blocks, Write{ID: u.id, Off: p.off, Len: p.len, Data: p.data})
			}
		}
		over = append(over, there.spans...)
	}
	slices.Reverse(blocks)
	return blocks
}
