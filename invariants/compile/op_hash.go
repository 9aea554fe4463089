package compile

import (
	"fsward/invariants/reference"

	"github.com/ichiban/prolog/engine"
)

// unhashOp puts each name with a hash into a register, one after the other.
func unhashOp(hash operand, register int, info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			c := hash(m)
			if c.tag != tagNumber {
				return false
			}
			if m.streaming != nil {
				return m.fail(streamError{info.goal})
			}
			for _, handle := range m.hashed.Find(m.records, m.names, c.n) {
				if m.row(info) {
					return true
				}
				m.r[register] = m.name(handle)
				if next(m) {
					return true
				}
			}
			return false
		}
	}
}

// crcOp is crc32c/2.
func crcOp(text operand, hash place) op {
	return func(next step) step {
		return func(m *machine) bool {
			if !m.readText(text(m)) {
				return m.fail(errMistake)
			}
			h := reference.NameHash(m.text)
			return hash.match(m, numberValue(uint64(h))) && next(m)
		}
	}
}

// readText puts a text into m.text; it reports false if a value is no text.
func (m *machine) readText(c value) bool {
	switch c.tag {
	case tagName:
		m.text = append(m.text[:0], m.names.At(c.n)...)
	case tagAtom:
		m.text = append(m.text[:0], engine.Atom(c.n).String()...)
	default:
		return false
	}
	return true
}
