package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// schema is the version of the form of all messages.
const schema = 1

// Bounds of a definition.
const (
	maxFlags  = 64
	maxAxes   = 16
	maxValues = 4096    // of one axis
	maxSize   = 1 << 40 // indexes of a campaign
	// maxUnits bounds the messages that a submitter makes.
	maxUnits = 4 << 20
	// maxSpread bounds the units of a campaign that is spread: each is a span of its own in the tally
	// until its neighbors are done.
	maxSpread = 64 << 10
)

// A Flag is a flag of a command, and its value. The name "" stands for an argument.
type Flag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (f Flag) String() string {
	if f.Name == "" {
		return f.Value
	}
	return "--" + f.Name + "=" + f.Value
}

// An Axis is a flag with several values: a campaign has a unit for each combination.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// A Definition says what a campaign does. It does not change.
type Definition struct {
	Schema int    `json:"schema"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Flags  []Flag `json:"flags"`
	// Axes are the flags that differ from unit to unit; the last one changes first. A kind with
	// ranges has none.
	Axes []Axis `json:"axes,omitempty"`
	// First and Last are the indexes of the campaign, such as ranks.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	// Unit is the number of indexes of a unit; the last unit may have fewer.
	Unit uint64 `json:"unit"`
	// Spread says that the units come in an order in which the first ones, however many they are, lie
	// evenly among all: a campaign that is stopped early has tested a sample.
	Spread bool `json:"spread,omitempty"`
	// Build, Set and Guest identify the program, the set of workloads and the guest. A worker with
	// others takes no units. "": there is none.
	Build string `json:"build"`
	Set   string `json:"set,omitempty"`
	Guest string `json:"guest,omitempty"`
	Files []File `json:"files,omitempty"` // which flags name
}

// Size returns the number of indexes.
func (d *Definition) Size() uint64 { return d.Last - d.First + 1 }

// Check returns an error for a definition that no worker may run.
func (d *Definition) Check() error { return d.check() }

// check is Check, for decode.
func (d *Definition) check() error {
	if d.Schema != schema {
		return fmt.Errorf("the campaign has the form %d, and this fsward knows %d", d.Schema, schema)
	}
	if err := CheckName(d.Name); err != nil {
		return err
	}
	k, err := KindOf(d.Kind)
	if err != nil {
		return err
	}
	if err := d.checkIndexes(k); err != nil {
		return err
	}
	var names []string
	for _, f := range d.Flags {
		if err := k.checkFlag(f.Name, f.Value); err != nil {
			return err
		}
		names = append(names, f.Name)
	}
	for _, a := range d.Axes {
		names = append(names, a.Name)
	}
	if err := k.checkRequired(names); err != nil {
		return err
	}
	if err := d.checkFiles(k); err != nil {
		return err
	}
	for _, text := range []string{d.Build, d.Set, d.Guest} {
		if err := checkText("a version", text); err != nil {
			return err
		}
	}
	return nil
}

// checkIndexes checks the range of a campaign and its axes.
func (d *Definition) checkIndexes(k *Kind) error {
	switch {
	case len(d.Flags) > maxFlags || len(d.Axes) > maxAxes:
		return fmt.Errorf("%d flags and %d axes: more than %d and %d", len(d.Flags), len(d.Axes),
			maxFlags, maxAxes)
	case d.Last < d.First || d.Last >= maxSize:
		return fmt.Errorf("the indexes %d to %d", d.First, d.Last)
	case d.Unit < 1 || d.Unit > maxSize:
		return fmt.Errorf("units of %d", d.Unit)
	case d.units() > maxUnits:
		return fmt.Errorf("%d units: more than %d; make them larger", d.units(), maxUnits)
	case d.Spread && d.units() > maxSpread:
		return fmt.Errorf("%d units that are spread: more than %d; make them larger", d.units(),
			maxSpread)
	case k.Range != "" && len(d.Axes) > 0:
		return errors.New("a campaign of ranges has no axes")
	case k.Range != "":
		return nil
	}
	combinations := uint64(1)
	for _, a := range d.Axes {
		if len(a.Values) < 1 || len(a.Values) > maxValues {
			return fmt.Errorf("%d values of --%s: want 1 to %d", len(a.Values), a.Name, maxValues)
		}
		for _, v := range a.Values {
			if err := k.checkFlag(a.Name, v); err != nil {
				return err
			}
		}
		if combinations *= uint64(len(a.Values)); combinations > maxUnits {
			return fmt.Errorf("more than %d combinations", maxUnits)
		}
	}
	if d.Unit != 1 || d.Last >= combinations {
		return fmt.Errorf("the indexes %d to %d of %d combinations, in units of %d", d.First, d.Last,
			combinations, d.Unit)
	}
	return nil
}

// Combinations returns the number of combinations of the axes' values.
func Combinations(axes []Axis) (n uint64) {
	n = 1
	for _, a := range axes {
		n = min(n*uint64(max(1, len(a.Values))), maxSize)
	}
	return n
}

// NewDefinition returns a definition of the present form.
func NewDefinition(name, kind string) Definition {
	return Definition{Schema: schema, Name: name, Kind: kind, Flags: []Flag{}, Unit: 1}
}

// Digest returns a hash of the definition. Units and results have it.
func (d *Definition) Digest() string {
	text, err := json.Marshal(d)
	if err != nil {
		return "" // a struct of strings and numbers always has a text
	}
	return shortHash(string(text))
}

// shortHash returns 64 bits of the hash of texts, in hexadecimal.
func shortHash(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// flags returns the flags of a unit: those of the campaign, and the values that the unit's index
// selects. A unit of a range has no others.
func (d *Definition) flags(index uint64) []Flag {
	var chosen []Flag
	for _, a := range slices.Backward(d.Axes) {
		n := uint64(len(a.Values))
		chosen = append(chosen, Flag{a.Name, a.Values[index%n]})
		index /= n
	}
	slices.Reverse(chosen)
	return append(slices.Clone(d.Flags), chosen...)
}

// Args returns the command line of a unit: the subcommand, its flags, and the worker's own, such as
// the folder for what is found. WriteFiles has written the campaign's files to dir.
func (d *Definition) Args(u Unit, dir string, own ...string) ([]string, error) {
	k, err := KindOf(d.Kind)
	if err != nil {
		return nil, err
	}
	args := slices.Clone(k.Command)
	var arguments []string
	for _, f := range d.flags(u.From) {
		f = d.onDisk(f, dir)
		if f.Name == "" {
			arguments = append(arguments, f.Value)
			continue
		}
		args = append(args, f.String())
	}
	if k.Range != "" {
		args = append(args, "--"+k.Range+"="+u.ID())
	}
	return slices.Concat(args, own, arguments), nil
}

// Scope returns what a unit tests, as a part of the identity of its findings: the file system and
// its options, and not the seed.
func (d *Definition) Scope(u Unit) (string, error) {
	k, err := KindOf(d.Kind)
	if err != nil {
		return "", err
	}
	var scope []string
	for _, f := range d.flags(u.From) {
		if slices.Contains(k.subject, f.Name) {
			scope = append(scope, f.String())
		}
	}
	return strings.Join(scope, " "), nil
}

// A Unit is a part of a campaign: the indexes From to To.
type Unit struct {
	Digest string `json:"campaign"` // of the definition
	From   uint64 `json:"from"`
	To     uint64 `json:"to"`
}

// ID returns the name of the unit in its campaign.
func (u Unit) ID() string {
	return strconv.FormatUint(u.From, 10) + "-" + strconv.FormatUint(u.To, 10)
}

// Size returns the number of indexes.
func (u Unit) Size() uint64 { return u.To - u.From + 1 }

func (u *Unit) check() error {
	if !hashPattern.MatchString(u.Digest) || u.To < u.From || u.To >= maxSize {
		return fmt.Errorf("a unit of the campaign %q with the indexes %d to %d", u.Digest, u.From, u.To)
	}
	return nil
}

// overlaps reports whether two units are of one campaign and have an index in common.
func (u Unit) overlaps(v Unit) bool {
	return u.Digest == v.Digest && u.From <= v.To && v.From <= u.To
}

// halves returns the two halves of a unit with more than one index.
func (u Unit) halves() [2]Unit {
	middle := u.From + (u.To-u.From)/2
	return [2]Unit{{u.Digest, u.From, middle}, {u.Digest, middle + 1, u.To}}
}

// within returns an error for a unit whose indexes are not those of a unit of the campaign.
func (d *Definition) within(u Unit) error {
	if u.From < d.First || u.To > d.Last || u.To < u.From || u.Size() > d.Unit {
		return fmt.Errorf("unit %s is not one of the indexes %d to %d, at most %d in a unit", u.ID(),
			d.First, d.Last, d.Unit)
	}
	return nil
}

// Units calls f with each unit of the campaign, until it returns an error.
func (d *Definition) Units(f func(Unit) error) error {
	digest := d.Digest()
	for n := range d.places() {
		from := d.First + n*d.Unit
		if err := f(Unit{digest, from, min(from+d.Unit-1, d.Last)}); err != nil {
			return err
		}
	}
	return nil
}

// units returns the number of units.
func (d *Definition) units() uint64 { return (d.Size()-1)/d.Unit + 1 }

// places returns the numbers of the units in their order. If the campaign is spread, that is the
// order of their reversed bits (van der Corput's sequence): each number halves a gap.
func (d *Definition) places() iter.Seq[uint64] {
	units := d.units()
	width := bits.Len64(units - 1)
	return func(yield func(uint64) bool) {
		for i := range uint64(1) << width {
			n := i
			if d.Spread {
				n = bits.Reverse64(i) >> (64 - width)
			}
			if n < units && !yield(n) {
				return
			}
		}
	}
}
