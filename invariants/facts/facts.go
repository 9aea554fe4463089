package facts

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"fsward/change"
)

// Facts is a transaction with the state after it.
type Facts struct {
	Txn  *change.Txn
	View *View
	// Indexing is the time for sorting the state and building its tables.
	Indexing time.Duration
}

// zstdMagic begins every zstd frame (RFC 8878).
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// maxText bounds a file of facts after unpacking, in bytes.
const maxText = 4 << 30

// Load reads files of facts, plain or compressed with zstd, as one transaction.
func Load(paths ...string) (*Facts, error) {
	b := newBuilder()
	for _, p := range paths {
		text, err := readText(p)
		if err != nil {
			return nil, err
		}
		if err := b.read(text); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
	}
	return b.facts(), nil
}

// Parse reads facts from text.
func Parse(text string) (*Facts, error) {
	b := newBuilder()
	if err := b.read(text); err != nil {
		return nil, err
	}
	return b.facts(), nil
}

func readText(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return textOf(path, raw)
}

// textOf returns the content of a file, decompressed.
func textOf(path string, raw []byte) (string, error) {
	if !bytes.HasPrefix(raw, zstdMagic) {
		return string(raw), nil
	}
	d, err := zstd.NewReader(bytes.NewReader(raw))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	defer d.Close()
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(d, maxText+1))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if n > maxText {
		return "", fmt.Errorf("%s: more than %d bytes of facts", path, int64(maxText))
	}
	return text.String(), nil
}

// builder makes a schema, a transaction and a view from facts. The schema has what occurs in them.
type builder struct {
	schema   *change.Schema
	treeSeen bool // whether KindIsTree is decided
	kinds    map[string]change.Kind
	fields   map[string]change.Field
	words    map[string]change.WordID // nil unless the schema is fixed
	fixed    bool                     // the schema is that of a file system, and does not grow
	txn      *change.Txn
	view     *View
}

func newBuilder() *builder {
	names := change.NewNames()
	s := &change.Schema{FS: "btrfs", Kinds: make([]change.KindInfo, 1), Fields: []string{"object"},
		Words: []string{"present"}}
	return &builder{schema: s, kinds: map[string]change.Kind{},
		fields: map[string]change.Field{"object": change.FieldObject},
		txn:    &change.Txn{Schema: s, Names: names}, view: &View{}}
}

// fix sets the schema to that of a file system.
func (b *builder) fix(s *change.Schema) {
	b.schema, b.txn.Schema, b.fixed, b.treeSeen = s, s, true, true
	b.words = map[string]change.WordID{}
	for i := 1; i < len(s.Kinds); i++ {
		b.kinds[s.Kinds[i].Name] = change.Kind(i)
	}
	for i, f := range s.Fields {
		b.fields[f] = change.Field(i)
	}
	for i, w := range s.Words {
		b.words[w] = change.WordID(i)
	}
}

func (b *builder) facts() *Facts {
	start := time.Now()
	b.view.index()
	b.group()
	return &Facts{b.txn, b.view, time.Since(start)}
}

// group makes the records of one object adjacent, as interpreters do.
func (b *builder) group() {
	// index of the first record of each object
	first := make(map[change.Object]int, len(b.txn.Records)/4)
	for i, r := range b.txn.Records {
		if _, ok := first[r.Object]; !ok {
			first[r.Object] = i
		}
	}
	slices.SortStableFunc(b.txn.Records, func(x, y change.Record) int {
		if x.Object == y.Object {
			return 0
		}
		return first[x.Object] - first[y.Object]
	})
}

func (b *builder) read(text string) error {
	s := &scanner{src: text, line: 1}
	for {
		t, ok, err := s.next()
		if err != nil || !ok {
			return err
		}
		if err := b.fact(t); err != nil {
			return s.errorf("%s", err)
		}
	}
}

func (b *builder) fact(t term) error {
	if len(t.args) < 2 {
		return fmt.Errorf("%s/%d is not a fact about a transaction", t.functor, len(t.args))
	}
	o, err := b.object(t.args[0], t.args[1])
	if err != nil {
		return err
	}
	switch {
	case t.is("change", 5):
		f, err := b.field(t.args[2], o.Kind)
		if err != nil {
			return err
		}
		old, err := b.value(t.args[3])
		if err != nil {
			return err
		}
		new, err := b.value(t.args[4])
		if err != nil {
			return err
		}
		b.txn.Append(change.Record{Object: o, Field: f, Old: old, New: new})
	case t.is("object", 2):
		b.view.addObject(o)
	case t.is("state", 4):
		f, err := b.field(t.args[2], o.Kind)
		if err != nil {
			return err
		}
		v, err := b.value(t.args[3])
		if err != nil {
			return err
		}
		b.view.set(o, f, v)
	case t.is("adjacent", 3):
		n, err := b.object(t.args[0], t.args[2])
		if err != nil {
			return err
		}
		b.view.join(o, n)
	default:
		return fmt.Errorf("%s/%d is not a fact about a transaction", t.functor, len(t.args))
	}
	return nil
}

// object reads a TREE and an ID. An atom as the tree is the kind, as for ext3.
func (b *builder) object(tree, id term) (o change.Object, err error) {
	if !b.treeSeen {
		b.treeSeen = true
		if b.schema.KindIsTree = tree.isAtom(); b.schema.KindIsTree {
			b.schema.FS = "ext3"
		}
	}
	if tree.isAtom() != b.schema.KindIsTree || !tree.isNum && !tree.isAtom() {
		return o, fmt.Errorf(
			"the first argument must be a number everywhere or the kind of object everywhere")
	}
	kind := ""
	if tree.isNum {
		o.Tree = tree.num
	} else {
		kind = tree.functor
	}
	shape, written, err := b.identifier(id, &o)
	switch {
	case err != nil:
		return o, err
	case kind != "" && written != "" && kind != written:
		return o, fmt.Errorf("the kinds %s and %s of one object differ", kind, written)
	}
	kind = cmp.Or(kind, written)
	if kind == "" {
		return o, fmt.Errorf("the kind of the object is missing")
	}
	if o.Kind, err = b.kind(kind); err != nil {
		return o, err
	}
	info := &b.schema.Kinds[o.Kind]
	if info.Doc == "" && !b.fixed {
		info.Shape, info.Doc, info.Unique = shape, "occurs in the facts", shape == change.ShapeKey
	}
	switch {
	case info.Shape == shape:
	case b.fixed:
		return o, fmt.Errorf("the identifier of %s has another form", kind)
	default:
		return o, fmt.Errorf("the identifiers of %s are written in two ways", kind)
	}
	return o, nil
}

// identifier reads an ID into an object and returns its shape, and the name of its kind if the ID
// has one.
func (b *builder) identifier(id term, o *change.Object) (shape change.Shape, kind string,
	err error) {
	switch {
	case id.is("k", 3) && id.args[0].isNum && id.args[1].isAtom():
		kind, o.ID = id.args[1].functor, id.args[0].num
		switch sub := id.args[2]; {
		case sub.isNum:
			shape, o.Sub = change.ShapeKey, sub.num
		case sub.is("a", 2) && sub.args[0].isNum && sub.args[1].isNum:
			shape, o.Sub, o.Aux = change.ShapePair, sub.args[0].num, sub.args[1].num
		default:
			err = fmt.Errorf("the third part of k(ID,KIND,SUB) must be a number or a(N,M)")
		}
	case id.isNum:
		shape, o.ID = change.ShapeNum, id.num
	case id.is("a", 2) && id.args[0].isNum && id.args[1].isNum:
		shape, o.ID, o.Sub = change.ShapeNums, id.args[0].num, id.args[1].num
	case id.is("a", 2) && id.args[0].isNum && id.args[1].isAtom():
		shape, o.ID = change.ShapeNamed, id.args[0].num
		o.Sub = b.txn.Names.Handle([]byte(id.args[1].functor))
	default:
		err = fmt.Errorf("the second argument is not an identifier: k(ID,KIND,SUB), " +
			"k(ID,KIND,a(N,M)), N, a(N,M) or a(N,'name')")
	}
	return shape, kind, err
}

func (b *builder) kind(name string) (change.Kind, error) {
	k, ok := b.kinds[name]
	if !ok && b.fixed {
		return 0, fmt.Errorf("unknown kind of object %s", name)
	}
	if !ok {
		if len(b.schema.Kinds) > 255 {
			return 0, fmt.Errorf("more than 255 kinds of objects")
		}
		k = change.Kind(len(b.schema.Kinds))
		b.schema.Kinds = append(b.schema.Kinds, change.KindInfo{Name: name})
		b.kinds[name] = k
	}
	return k, nil
}

// field reads a field: an atom, or f(a,b) of atoms.
func (b *builder) field(t term, k change.Kind) (change.Field, error) {
	text := t.functor
	if len(t.args) > 0 {
		var args []string
		for _, a := range t.args {
			if !a.isAtom() {
				return 0, fmt.Errorf("a field is an atom or f(A,B) of atoms")
			}
			args = append(args, a.functor)
		}
		text += "(" + strings.Join(args, ",") + ")"
	}
	if t.isNum || text == "" {
		return 0, fmt.Errorf("a field is an atom or f(A,B) of atoms")
	}
	f, ok := b.fields[text]
	if b.fixed {
		info := b.schema.Kinds[k]
		if !ok || f != change.FieldObject && !slices.Contains(info.Fields, f) {
			return 0, fmt.Errorf("%s has no field %s", info.Name, text)
		}
		return f, nil
	}
	if !ok {
		if len(b.schema.Fields) > 255 {
			return 0, fmt.Errorf("more than 255 fields")
		}
		f = change.Field(len(b.schema.Fields))
		b.schema.Fields = append(b.schema.Fields, text)
		b.fields[text] = f
	}
	if info := &b.schema.Kinds[k]; f != change.FieldObject && !slices.Contains(info.Fields, f) {
		info.Fields = append(info.Fields, f)
	}
	return f, nil
}

// value reads a value. null and present mean what they mean in rules. Every other atom is a name,
// because facts do not distinguish the words of a schema from names, and rules need not.
func (b *builder) value(t term) (change.Value, error) {
	switch {
	case t.isNum:
		return change.Num(t.num), nil
	case t.is("null", 0) && (!t.quoted || !b.fixed):
		return change.Value{}, nil
	case t.is("present", 0) && (!t.quoted || !b.fixed):
		return change.Present, nil
	case t.isAtom():
		if w, ok := b.words[t.functor]; ok && !t.quoted {
			return change.WordValue(w), nil
		}
		if b.fixed && !t.quoted {
			return change.Value{}, fmt.Errorf("%s is not a word of %s; write a name in quotes", t.functor,
				b.schema.FS)
		}
		return b.txn.Names.Intern([]byte(t.functor)), nil
	case t.is("k", 3) && t.args[0].isNum && t.args[1].isAtom() && t.args[2].isNum:
		k, err := b.kind(t.args[1].functor)
		if err != nil {
			return change.Value{}, err
		}
		return b.txn.Names.Key(t.args[0].num, k, t.args[2].num), nil
	default:
		return change.Value{}, fmt.Errorf("a value is a number, an atom or a key k(ID,KIND,SUB)")
	}
}
