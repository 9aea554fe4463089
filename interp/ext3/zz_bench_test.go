package ext3
import ("testing";"time")
func TestZZ(t *testing.T) {
	fs, d, w := replay(t, commits)
	m := fs.m
	tr, _ := m.Log.Read(PendingDevice{d, w}, m.Log.head, m.Log.nextSeq)
	s := time.Now()
	old := map[uint32]bool{}
	for n := range uint32(5_800_000) { old[n]=true }
	t.Log("map", time.Since(s))
	s = time.Now()
	for n := range uint32(5_800_000) { tr.revoked.add(n) }
	t.Log("add", time.Since(s)); s = time.Now()
	m.Geo.Blocks = 6_000_000
	n := 0
	for b := range tr.revoked.all() { if _, c := m.State.Copies[b]; c { n++ } ; if _, k := m.Roles[b]; k {n++} }
	t.Log("lookup", time.Since(s)); s = time.Now()
	removeFrom(m.State.Copies, &tr.revoked)
	t.Log("remove", time.Since(s))
}
