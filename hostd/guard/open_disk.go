package guard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/qemudisk"
)

// open opens the disk, unless the caller of Open gives one.
func (s DiskSpec) open(log *zap.Logger) (blocktap.Disk, error) {
	if s.Disk != nil {
		return s.Disk, nil
	}
	return qemudisk.Open(context.Background(), s.Path,
		qemudisk.Options{Format: s.Format, Log: log})
}

// SetFormat reads [NAME=]FORMAT and gives the format to the disk with that name, or to all disks.
func (c *Config) SetFormat(s string) error {
	name, text := "", s
	at := strings.LastIndexByte(s, '=') // a name may have a "=", a format has none
	named := at >= 0
	if named {
		name, text = s[:at], s[at+1:]
	}
	format, err := qemudisk.ParseFormat(text)
	if err != nil {
		return err
	}
	if named && !slices.ContainsFunc(c.Disks, func(d DiskSpec) bool { return d.Name == name }) {
		return fmt.Errorf("disk format %q: there is no disk %q", s, name)
	}
	for i := range c.Disks {
		if !named || c.Disks[i].Name == name {
			c.Disks[i].Format = format
		}
	}
	return nil
}
