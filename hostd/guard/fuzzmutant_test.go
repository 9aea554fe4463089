package guard_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"testing"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/interp"
)

// Kinds of instructions of a fuzzer's program. An instruction has eight bytes: one of these, the
// numbers AT and TO of requests, an offset OFF, and a value VAL.
const (
	mutDrop      = iota // drops request AT
	mutRepeat           // repeats AT before TO
	mutMove             // moves AT before TO
	mutSwap             // swaps the addresses of AT and TO
	mutMisdirect        // sends AT to the address of TO, VAL sectors further
	mutKind             // makes AT FUA or not, a trim, zeros or a flush, as TO says
	mutCut              // cuts AT to OFF sectors
	// changes the number at OFF in block AT of all written blocks; VAL gives its width and its new
	// value
	mutWord
	mutSeal // the same in all copies, with right checksums
	// replaces bytes at OFF in block AT by the beginning of block TO, in all copies, with right
	// checksums
	mutSplice
	mutField  // alters a named field after AT requests, as a bug of the guest would
	mutHeader // flips bits VAL of byte OFF of the log's entry AT
	mutSuper  // the same in the log's superblock
	mutEnd    // ends the log within entry AT
	mutations
)

const (
	instructionLen  = 8
	maxInstructions = 64
	mutBlock        = 1024
)

type instruction struct {
	op, val     byte
	at, to, off int
}

// A mutant is a recording that a program changes.
type mutant struct {
	requests []blocktap.Request
	owned    []bool   // the request's data is a copy of the recording's
	fsid     [16]byte // of metadata with checksums; zero: it has none
	edits    []instruction
	spec     string // of a field to be altered; "": none
	armAfter int
}

func newMutant(recording []blocktap.Request) *mutant {
	m := &mutant{requests: slices.Clone(recording), owned: make([]bool, len(recording))}
	for _, r := range recording {
		if _, off := interp.Locate(r.Off); off == 64<<10 && r.Len >= 4096 &&
			string(r.Data[64:72]) == "_BHRfS_M" {
			m.fsid = [16]byte(r.Data[32:48])
			break
		}
	}
	return m
}

// run runs a program. It ignores an incomplete instruction at the end.
func (m *mutant) run(program []byte, fields []interp.Alterable) {
	for n := 0; len(program) >= instructionLen && n < maxInstructions && len(m.requests) > 1; n++ {
		word := func(i int) int { return int(binary.LittleEndian.Uint16(program[i:])) }
		in := instruction{op: program[0] % mutations, at: word(1), to: word(3), off: word(5),
			val: program[7]}
		program = program[instructionLen:]
		switch in.op {
		case mutField:
			m.armAfter, m.spec = in.at, specOf(in, fields)
		case mutHeader, mutSuper, mutEnd:
			m.edits = append(m.edits, in)
		case mutWord, mutSeal, mutSplice:
			m.alter(in)
		default:
			in.at %= len(m.requests)
			m.change(in)
		}
	}
}

// specOf makes an alteration from numbers.
func specOf(in instruction, fields []interp.Alterable) string {
	if len(fields) == 0 {
		return ""
	}
	a := fields[in.to%len(fields)]
	which := in.off & 0xff
	if n := which - len(a.Fields); n >= 0 && len(a.Actions) > 0 {
		return a.Object + "!" + a.Actions[n%len(a.Actions)]
	}
	values := [...]string{"0", "1", "2", "8", "256", "4096", "-1", "0x8000000000000000"}
	return fmt.Sprintf("%s.%s%c%s", a.Object, a.Fields[which%len(a.Fields)].Name, "=+-^"[in.off>>8&3],
		values[int(in.val)%len(values)])
}

func (m *mutant) change(in instruction) {
	r := &m.requests[in.at]
	to := in.to % len(m.requests)
	switch in.op {
	case mutDrop:
		m.remove(in.at)
	case mutRepeat:
		m.insert(to, *r, m.owned[in.at])
	case mutMove:
		moved, owned := *r, m.owned[in.at]
		m.remove(in.at)
		m.insert(min(to, len(m.requests)), moved, owned)
	case mutSwap:
		r.Off, m.requests[to].Off = m.requests[to].Off, r.Off
	case mutMisdirect:
		r.Off = m.requests[to].Off + uint64(in.val)*blocktap.SectorSize
	case mutKind:
		switch in.to % 4 {
		case 0:
			r.FUA = !r.FUA
		case 1:
			*r = blocktap.Request{Op: blocktap.OpTrim, Off: r.Off, Len: r.Len}
		case 2:
			*r = blocktap.Request{Op: blocktap.OpZero, Off: r.Off, Len: r.Len}
		default:
			*r = blocktap.Request{Op: blocktap.OpFlush, Off: r.Off}
		}
	case mutCut:
		r.Len = min(r.Len, uint64(in.off)*blocktap.SectorSize)
		r.Data = r.Data[:min(uint64(len(r.Data)), r.Len)]
	}
}

// alter changes bytes.
func (m *mutant) alter(in instruction) {
	i, at := m.block(in.at)
	if i < 0 {
		return
	}
	j, from := m.block(in.to)
	source := bytes.Clone(m.requests[j].Data[from:])
	written := bytes.Clone(m.requests[i].Data)
	for k := range m.requests {
		if k != i && (in.op == mutWord || !bytes.Equal(m.requests[k].Data, written)) {
			continue
		}
		all := m.own(k)
		block := all[at:min(len(all), at+mutBlock)]
		off := in.off % len(block)
		if in.op == mutSplice {
			copy(block[off:], source[:min(len(source), 8*(int(in.val)+1))])
		} else {
			setWord(block, off, in.val)
		}
		if in.op != mutWord {
			m.seal(all)
		}
	}
}

// block returns the request that writes the n-th block, and where the block begins in it; -1 if
// nothing is written.
func (m *mutant) block(n int) (request, at int) {
	blocks := func(r blocktap.Request) int { return (len(r.Data) + mutBlock - 1) / mutBlock }
	total := 0
	for _, r := range m.requests {
		total += blocks(r)
	}
	if total == 0 {
		return -1, 0
	}
	n %= total
	for n >= blocks(m.requests[request]) {
		n -= blocks(m.requests[request])
		request++
	}
	return request, n * mutBlock
}

// own returns the data of a request, for changes.
func (m *mutant) own(i int) []byte {
	if !m.owned[i] {
		m.requests[i].Data, m.owned[i] = bytes.Clone(m.requests[i].Data), true
	}
	return m.requests[i].Data
}

// setWord changes the number of some bytes at an offset.
func setWord(b []byte, off int, val byte) {
	width := 1 << (val & 3)
	off %= len(b)
	if off+width > len(b) {
		off = len(b) - width
	}
	var word [8]byte
	copy(word[:], b[off:off+width])
	n := binary.LittleEndian.Uint64(word[:])
	shift := uint(val>>2&1) * 8 // numbers that count sectors or blocks
	switch val >> 3 {
	case 0, 1, 2, 3:
		n = uint64(val >> 3)
	case 4:
		n = ^uint64(0)
	case 5:
		n = 1 << (8*width - 1)
	case 6:
		n++
	case 7:
		n--
	case 8:
		n += 1 << (shift + 4)
	case 9:
		n -= 1 << (shift + 4)
	case 10:
		n *= 2
	default:
		n ^= 1 << (val >> 3)
	}
	binary.LittleEndian.PutUint64(word[:], n)
	copy(b[off:off+width], word[:])
}

// seal corrects the checksums of Btrfs's blocks. Here nodes and superblocks have 4096 bytes, with
// the CRC-32C of the bytes after the first 32.
func (m *mutant) seal(b []byte) {
	for ; m.fsid != [16]byte{} && len(b) >= 4096; b = b[4096:] {
		if [16]byte(b[32:48]) == m.fsid {
			binary.LittleEndian.PutUint32(b, crc32.Checksum(b[32:4096], crc32.MakeTable(crc32.Castagnoli)))
		}
	}
}

func (m *mutant) remove(i int) {
	m.requests = slices.Delete(m.requests, i, i+1)
	m.owned = slices.Delete(m.owned, i, i+1)
}

// insert inserts a request. Its data may belong to another request.
func (m *mutant) insert(i int, r blocktap.Request, owned bool) {
	if owned {
		r.Data = bytes.Clone(r.Data)
	}
	m.requests = slices.Insert(m.requests, i, r)
	m.owned = slices.Insert(m.owned, i, owned)
}

// logs returns the requests as the logs of the disks, with the program's changes to the logs' form.
func (m *mutant) logs(t *testing.T, disks int) [][]byte {
	mems, writers := make([]memoryLog, disks), make([]*trace.Writer, disks)
	for i := range writers {
		var err error
		if writers[i], err = trace.NewWriter(&mems[i]); err != nil {
			t.Fatal(err)
		}
	}
	trace.Together(writers...)
	for _, r := range m.requests {
		disk, off := interp.Locate(r.Off)
		r.Off = off
		if err := writers[disk%disks].Log(&r); err != nil {
			t.Fatal(err)
		}
	}
	out := make([][]byte, disks)
	for i := range mems {
		out[i] = mems[i].b
	}
	for _, in := range m.edits {
		disk := int(in.val) % disks
		b, at := out[disk], in.off%32
		if heads := headsOf(t, mems[disk].b); in.op != mutSuper && len(heads) > 0 {
			at += int(heads[in.at%len(heads)])
		}
		switch {
		case at >= len(b):
		case in.op == mutEnd:
			out[disk] = b[:at]
		default:
			out[disk] = bytes.Clone(b)
			out[disk][at] ^= in.val
		}
	}
	return out
}

// headsOf returns the offsets of the entries of a sound log.
func headsOf(t *testing.T, log []byte) (heads []int64) {
	r, err := trace.NewReader(bytes.NewReader(log))
	for err == nil {
		var e *trace.Entry
		if e, err = r.Next(); err == nil {
			heads = append(heads, e.Pos)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return heads
}

// memoryLog is a log in memory.
type memoryLog struct{ b []byte }

func (l *memoryLog) WriteAt(p []byte, off int64) (int, error) {
	if need := int(off) + len(p) - len(l.b); need > 0 {
		l.b = append(l.b, make([]byte, need)...)
	}
	return copy(l.b[off:], p), nil
}
