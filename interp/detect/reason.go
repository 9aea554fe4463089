package detect

import (
	"errors"
	"fmt"
	"strings"

	"fsward/interp"
	"fsward/interp/volume"
)

// reasons say why volumes are not guarded, by number. A blank volume and a guarded one have none.
type reasons map[int]string

func (r reasons) set(i int, reason string) {
	if reason == "" {
		delete(r, i)
	} else {
		r[i] = reason
	}
}

// describe returns a description of the content of a volume that no interpreter can follow as a
// file system of the name fs; "" if the volume is blank. The error is that of a read.
func describe(d interp.Disk, fs string) (reason string, err error) {
	for _, f := range formats {
		if !f.detect(d) {
			continue
		}
		if fs != Auto && f.name != fs {
			return fmt.Sprintf("%s, and --fs is %s", f.name, fs), nil
		}
		_, openErr := f.open(d, 0, interp.Limits{})
		if unsupported, ok := errors.AsType[*interp.UnsupportedError](openErr); ok {
			return unsupported.Error(), nil
		}
	}
	if what := volume.Identify(d); what != "" {
		return what, nil
	}
	blank, err := Blank(d)
	if blank || err != nil {
		// A backup of a superblock shows that it is not blank, whatever the start of the volume has.
		return backupOf(d), err
	}
	if backup := backupOf(d); backup != "" {
		return backup, nil
	}
	return unknownContent, nil
}

// backupOf names the copy of a superblock on a volume that lacks the primary one; "" if there is
// none.
func backupOf(d interp.Disk) string {
	for _, f := range formats {
		if at, ok := f.backup(d); ok {
			return fmt.Sprintf("%s, but a backup of that of %s at byte %d", noPrimary, f.name, at)
		}
	}
	return ""
}

// describeNow is describe for the state of a volume. It returns the text of an error as the reason.
func describeNow(d interp.Disk, fs string) string {
	reason, err := describe(d, fs)
	if err != nil {
		return err.Error()
	}
	return reason
}

// Reasons of volumes whose content is not certain: a file system may be about to appear there.
const (
	unknownContent = "its content is of no known kind"
	noPrimary      = "no primary superblock"
)

// certain reports whether a reason names a content that will stay.
func certain(reason string) bool {
	return reason != "" && reason != unknownContent && !strings.HasPrefix(reason, noPrimary)
}
