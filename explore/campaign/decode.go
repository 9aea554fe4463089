package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"unicode"
)

// Bounds of what comes from the server.
const (
	maxMessage = 64 << 10 // bytes of a definition, a unit, a result or a finding
	maxText    = 4 << 10  // bytes of a text in one
)

// A checked value says what is wrong with it after it was decoded.
type checked interface{ check() error }

// decode reads JSON strictly: of at most maxMessage bytes, one value, no unknown keys, and v must
// find nothing wrong with itself.
func decode(data []byte, v checked) error { return decodeWithin(maxMessage, data, v) }

// decodeWithin is decode for another bound.
func decodeWithin(bound int, data []byte, v checked) error {
	if len(data) > bound {
		return fmt.Errorf("%d bytes: more than %d", len(data), bound)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON object")
	}
	return v.check()
}

// encode returns the JSON text of a value that decode will accept.
func encode(v checked) ([]byte, error) { return encodeWithin(maxMessage, v) }

// encodeWithin is encode for another bound.
func encodeWithin(bound int, v checked) ([]byte, error) {
	if err := v.check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err == nil && len(text) > bound {
		err = fmt.Errorf("%d bytes: more than %d", len(text), bound)
	}
	return text, err
}

// checkText returns an error for a text that is too long, or that would move the cursor of a
// terminal.
func checkText(what, text string) error {
	if len(text) > maxText {
		return fmt.Errorf("%s has %d bytes: more than %d", what, len(text), maxText)
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return fmt.Errorf("%s has the character %U", what, r)
		}
	}
	return nil
}

// cleanText returns a text that checkText accepts: other characters become "?", and what is too
// long is cut.
func cleanText(text string) string {
	var b bytes.Buffer
	for _, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			r = '?'
		}
		if b.Len()+4 > maxText {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Forms of names.
var (
	namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	hashPattern = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

// CheckName returns an error for a text that is not the name of a campaign.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%q is not a name of a campaign: want 1 to 32 small letters, digits and "+
			"hyphens", name)
	}
	return nil
}
