package audit

import (
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/interp"
)

// An mbr is a disk with an MBR, whose partitions are disks.
type mbr struct {
	table [512]byte
	parts []interp.Disk
	at    []uint64
	size  uint64
}

// partition returns a disk with an MBR and these partitions.
func partition(parts ...interp.Disk) *mbr {
	m := &mbr{parts: parts, size: 1 << 20}
	binary.LittleEndian.PutUint32(m.table[440:], 0x12345678)
	for i, p := range parts {
		m.at = append(m.at, m.size)
		row := m.table[446+16*i:]
		row[4] = 0x83
		binary.LittleEndian.PutUint32(row[8:], uint32(m.size/512))
		binary.LittleEndian.PutUint32(row[12:], uint32(p.Size()/512))
		m.size += p.Size()
	}
	m.table[510], m.table[511] = 0x55, 0xaa
	return m
}

func (m *mbr) Size() uint64 { return m.size }

func (m *mbr) ReadAt(p []byte, off int64) (int, error) {
	for done := 0; done < len(p); {
		at, n := uint64(off)+uint64(done), len(p)-done
		if at < 1<<20 {
			n = min(n, 1<<20-int(at))
			clear(p[done : done+n])
			if at < 512 {
				copy(p[done:done+n], m.table[at:])
			}
			done += n
			continue
		}
		i := len(m.at) - 1
		for m.at[i] > at {
			i--
		}
		n = int(min(uint64(n), m.at[i]+m.parts[i].Size()-at))
		if got, err := m.parts[i].ReadAt(p[done:done+n], int64(at-m.at[i])); got < n {
			return done + got, err
		}
		done += n
	}
	return len(p), nil
}

// shifted writes the logs of recordings, each on its partition, as one log. keep drops entries.
func (m *mbr) shifted(t *testing.T, names []string, last []blocktap.Request,
	keep func(name string, r *blocktap.Request) bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	w, err := trace.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		err = errors.Join(err, trace.Each(recordings+name+".log.zst", func(e *trace.Entry) error {
			r, ok := e.Request()
			if !ok || !keep(name, &r) {
				return nil
			}
			if r.Op != blocktap.OpFlush {
				r.Off += m.at[i]
			}
			return w.Log(&r)
		}))
	}
	for i := range last {
		err = errors.Join(err, w.Log(&last[i]))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// partitioned returns the audit of a disk with an ext3 on p1 and a Btrfs on p2.
func partitioned(t *testing.T, last []blocktap.Request,
	keep func(name string, r *blocktap.Request) bool) Config {
	t.Helper()
	names := []string{"ext3", "btrfs"}
	disk := partition(config(t, names[0]).Base, config(t, names[1]).Base)
	cfg := config(t, "ext3", disk.shifted(t, names, last, keep))
	cfg.Base = disk
	return cfg
}

func all(string, *blocktap.Request) bool { return true }

// Each volume of a disk with a table is audited, and a finding names its volume.
func TestPartitions(t *testing.T) {
	sum := run(t, partitioned(t, nil, all))
	if sum.Outcome() != change.Holds || sum.FS != "ext3,btrfs" || len(sum.Volumes) != 2 ||
		sum.States < 100 {
		t.Errorf("%+v", sum)
	}
	cfg := partitioned(t, nil, func(name string, r *blocktap.Request) bool {
		if name == "btrfs" {
			r.FUA = false
		}
		return name == "ext3" || r.Op != blocktap.OpFlush
	})
	for only, found := range map[string]bool{"": true, "p1": false, "p2": true} {
		cfg.Volume = only
		sum := run(t, cfg)
		if (len(sum.Findings) > 0) != found {
			t.Fatalf("only %q: %+v", only, sum)
		}
		for _, f := range sum.Findings {
			if f.Volume != "p2" || f.FS != "btrfs" || !strings.HasPrefix(f.Kind, "btrfs/") {
				t.Errorf("only %q: %+v", only, f)
			}
			p, err := Again(context.Background(), cfg, f.State)
			if err != nil || p == nil || p.Kind != f.Kind || p.Volume != "p2" {
				t.Errorf("only %q: again %+v, %v", only, p, err)
			}
		}
	}
	cfg.Volume = "p3"
	if _, err := Run(context.Background(), cfg); err == nil {
		t.Error("the volume p3 is audited")
	}
}

// After a write to the table nothing is said about the volumes, and that is said.
func TestTableWritten(t *testing.T) {
	table := make([]byte, 512)
	sum := run(t, partitioned(t, []blocktap.Request{{Op: blocktap.OpWrite, Len: 512, Data: table}},
		all))
	if sum.Outcome() != change.Undecided || len(sum.Volumes) != 2 ||
		!strings.Contains(sum.Volumes[1].NotAudited, "writes to the table") {
		t.Errorf("%+v", sum)
	}
}

// A volume that cannot be audited is named with the reason, and the others are audited.
func TestUnauditedVolume(t *testing.T) {
	cfg := config(t, "ext3")
	disk := partition(zeros(8<<20), cfg.Base)
	cfg.Base = disk
	cfg.Logs = []string{disk.shifted(t, []string{"ext3"}, nil, func(string, *blocktap.Request) bool {
		return false
	})}
	sum := run(t, cfg)
	if sum.Volumes[0].NotAudited != "it is blank" || sum.Volumes[1].NotAudited != "" ||
		sum.FS != "ext3" {
		t.Errorf("%+v", sum)
	}
}
