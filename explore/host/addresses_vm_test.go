//go:build vmtest

package host

import (
	"context"
	"testing"
	"time"

	"fsward/explore/agent"
	"fsward/explore/machine"
)

// TestGuestAddresses: the processes of a program have the same addresses, so that an emulator can
// use its translation of the code again.
func TestGuestAddresses(t *testing.T) {
	inGuest(t, 2*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		var maps [2]string
		for i := range maps {
			// dash reads the file itself; cat would be busybox, which has no libraries.
			show := "while read -r line; do echo \"$line\"; done < /proc/self/maps"
			e, err := m.Run(ctx, agent.Command{Args: []string{"sh", "-c", show}, Timeout: time.Minute})
			if err != nil {
				return err
			}
			maps[i] = string(e.Stdout)
		}
		if maps[0] == "" || maps[0] != maps[1] {
			t.Errorf("the memory of two processes differs:\n%s\n%s", maps[0], maps[1])
		}
		return nil
	})
}
