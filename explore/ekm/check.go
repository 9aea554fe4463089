package ekm

import (
	"fmt"
	"slices"
	"strings"
)

// Checks is a set of checks of what threads of the kernel do.
type Checks uint32

// The checks.
const (
	Locks   Checks = 1 << iota // FSW_EK_CHECK_LOCKS: the graph of locks, and locks that are kept
	Pairs                      // FSW_EK_CHECK_PAIRS: calls that come in pairs
	Buffers                    // FSW_EK_CHECK_BUFFERS: buffers that change and stay clean
	// Memory is unreferenced memory. It needs KMEMLEAK in the kernel, and not the module.
	Memory
)

// OfModule has the checks that the module does.
const OfModule = Locks | Pairs | Buffers

var checkNames = []string{"locks", "pairs", "buffers", "memory"}

// ParseChecks returns the checks that a text names, separated by commas. "" names none, and "all"
// names all that need no special kernel: OfModule.
func ParseChecks(text string) (out Checks, err error) {
	if text == "all" {
		return OfModule, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		i := slices.Index(checkNames, name)
		if i < 0 && text != "" {
			return 0, fmt.Errorf("the kernel has no check %q; there are %s, and all", name,
				strings.Join(checkNames, ", "))
		}
		if i >= 0 {
			out |= 1 << i
		}
	}
	return out, nil
}

// A FindingKind is the kind of a Finding. The zero value is invalid.
type FindingKind uint32

// The kinds. The module reports the first three. CircularWait comes from the graph of locks.
const (
	LockLeft     FindingKind = 1 + iota // FSW_EK_LOCK_LEFT
	Unpaired                            // FSW_EK_UNPAIRED
	Undirtied                           // FSW_EK_UNDIRTIED
	CircularWait                        // a cycle of LockEdge
	findingKinds
)

func (k FindingKind) String() string {
	if k >= findingKinds {
		k = 0
	}
	return [...]string{"invalid", "lock kept", "unpaired call", "buffer not dirtied",
		"circular wait"}[k]
}

// A Finding is a bug of the kernel that a check found: struct fsw_ek_finding.
type Finding struct {
	Kind FindingKind
	Hits uint32
	Comm string // name of the thread
	Text string
}

func decodeFinding(b []byte) (Finding, error) {
	f := Finding{
		Kind: FindingKind(le.Uint32(b[0:])),
		Hits: le.Uint32(b[4:]),
		Comm: text(b[8:24]),
		Text: text(b[24:]),
	}
	if f.Kind == 0 || f.Kind >= CircularWait {
		return f, fmt.Errorf("invalid finding: kind %d", uint32(f.Kind))
	}
	return f, nil
}

// A LockEdge says that a thread held one lock and wanted another: struct fsw_ek_edge.
type LockEdge struct {
	From, To         uint64 // addresses
	Hits             uint64
	Gates            []uint64 // locks that were held each time
	FromName, ToName string   // "": not known
	FromSite, ToSite string   // where they were taken the first time
	Comm             string   // name of the thread
}

func decodeEdge(b []byte) (LockEdge, error) {
	e := LockEdge{
		From:     le.Uint64(b[0:]),
		To:       le.Uint64(b[8:]),
		Hits:     le.Uint64(b[16:]),
		FromName: text(b[64:96]),
		ToName:   text(b[96:128]),
		FromSite: text(b[128:208]),
		ToSite:   text(b[208:288]),
		Comm:     text(b[288:304]),
	}
	n := le.Uint32(b[56:])
	if n > maxGates {
		return e, fmt.Errorf("invalid edge: %d gates", n)
	}
	for i := range n {
		e.Gates = append(e.Gates, le.Uint64(b[24+8*i:]))
	}
	return e, nil
}

// Check switches exactly these checks on, and forgets what was found and the graph of locks. It
// fails with ENOENT if the kernel has none of the functions of a check.
func (c *Control) Check(what Checks) error {
	var b [checkSize]byte
	le.PutUint32(b[0:], uint32(what))
	return c.Call("check", cmdCheck, b[:])
}

// Findings takes the findings of the module, and those of the graph of locks. The latter stay in
// the graph.
func (c *Control) Findings() ([]Finding, error) {
	b := make([]byte, findingsSize)
	if err := c.Call("findings", cmdFindings, b); err != nil {
		return nil, err
	}
	out, err := list(b, findingSize, decodeFinding)
	if err != nil {
		return nil, fmt.Errorf("findings: %w", err)
	}
	edges, err := c.lockEdges()
	return append(out, circularWaits(edges)...), err
}

// lockEdges returns the graph of locks.
func (c *Control) lockEdges() (out []LockEdge, err error) {
	for from := uint32(0); ; {
		b := make([]byte, edgesSize)
		le.PutUint32(b, from)
		if err := c.Call("edges", cmdEdges, b); err != nil {
			return nil, err
		}
		some, err := list(b, edgeSize, decodeEdge)
		if err != nil {
			return nil, fmt.Errorf("edges: %w", err)
		}
		next := le.Uint32(b)
		if len(some) == 0 || next <= from {
			return out, nil
		}
		out, from = append(out, some...), next
	}
}
