package campaign

import (
	"fmt"
	"testing"
)

// TestManyCampaigns makes campaigns in the folder of one server, for longer than it takes to look
// after the server's health, and looks at each queue at once: all of its units are in the count.
func TestManyCampaigns(t *testing.T) {
	c := connect(t, t.TempDir())
	for i := range 100 {
		q := submitted(t, c, testDefinition(fmt.Sprintf("c%d", i), 6, 1))
		if s := status(t, q); s.Waiting != 6 || s.Leased != 0 {
			t.Errorf("campaign %d: %d units wait, and workers have %d; want 6 and 0", i, s.Waiting,
				s.Leased)
		}
	}
}
