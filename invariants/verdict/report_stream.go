package verdict

import (
	"slices"

	"fsward/change"
)

// EndPart makes the findings of a part of a stream independent of the part: its names and its
// records become invalid.
func (p *Report) EndPart(part *change.Txn) {
	if p.settled == len(p.found) {
		return
	}
	w := newWitnesses(part, p.vocabulary)
	schema := p.vocabulary.Schema
	renamed := false
	for i := p.settled; i < len(p.found); i++ {
		f := &p.found[i]
		if f.text != 0 {
			continue
		}
		of := findingText{tree: schema.TreeText(f.Object), number: f.Object.Tree,
			id: schema.IDText(f.Object, part.Names)}
		if p.shown == nil {
			p.shown, p.shownOf = map[findingShown][]string{}, map[int32]int{}
		}
		if p.shownOf[f.rule]++; p.shownOf[f.rule] < maxWitnessed {
			var texts []string
			records := w.beside(f)
			for _, at := range records.at[:records.n] {
				texts = append(texts, schema.RecordText(part.Records[at], part.Names))
			}
			p.shown[findingShown{f.rule, of}] = texts
		}
		f.Trigger = -1
		if p.vocabulary.Shape(f.Object.Kind) == change.ShapeNamed {
			p.texts = append(p.texts, of)
			f.text, f.Object = int32(len(p.texts)), change.Object{}
			renamed = true
		}
	}
	if renamed {
		p.unite()
	}
	p.settled = len(p.found)
}

// Show attaches the witnesses that EndPart kept to the violations.
func (p *Report) Show(v Verdict) {
	for i, at := range v.order {
		f := &p.found[at]
		of := p.textOf(f)
		if f.text == 0 {
			of.id = v.Violations[i].ID
		}
		v.Violations[i].Witness = p.shown[findingShown{f.rule, of}]
	}
}

// A findingShown identifies a finding by its text.
type findingShown struct {
	rule int32
	text findingText
}

// unite removes findings of named objects that an earlier part found already, and rebuilds the hash
// table.
func (p *Report) unite() {
	seen := map[findingShown]bool{}
	p.found = slices.DeleteFunc(p.found, func(f Finding) bool {
		if f.text == 0 {
			return false
		}
		key := findingShown{f.rule, p.texts[f.text-1]}
		again := seen[key]
		if seen[key] = true; again {
			p.perRule[f.rule]--
		}
		return again
	})
	p.rebuild(max(64, len(p.slots)))
}
