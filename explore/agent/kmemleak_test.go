package agent

import "testing"

// TestLostObjects checks that the text of KMEMLEAK gives a finding for each different object.
func TestLostObjects(t *testing.T) {
	const object = `unreferenced object 0xffff888004ba1a00 (size 100):
  comm "ln", pid 211, jiffies 4294907712 (age 12.548s)
  hex dump (first 32 bytes):
    6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b  kkkkkkkkkkkkkkkk
  backtrace:
    [<00000000e9a1be1e>] kmalloc_trace+0x27/0xa0
    [<000000006b5b3b5c>] lose+0x1e/0x30 [fsw_bugtest]
    [<00000000c0a7b6a1>] do_linkat+0x2f1/0x3d0
`
	const want = "100 bytes are not referenced; allocated at kmalloc_trace+0x27 < lose+0x1e < " +
		"do_linkat+0x2f1"
	got := lostObjects(object + object)
	if len(got) != 1 || got[0] != (KernelFinding{"memory lost", want}) {
		t.Errorf("%q", got)
	}
	for _, none := range []string{"", "x", "unreferenced object ", "unreferenced object 0x1 (siz"} {
		if got := lostObjects(none); got != nil {
			t.Errorf("%q gives %q", none, got)
		}
	}
}
