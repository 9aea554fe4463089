package proxy

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestArgs checks the arguments for names that mean something to QEMU or JSON.
func TestArgs(t *testing.T) {
	c := Config{Guard: `/run/a,b "c".sock`, Disks: []string{"vda", `x,y="z"`}, Wait: time.Minute}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	got, err := c.args(7)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{program, "--nbd-server", "addr.type=fd,addr.str=7,max-connections=8",
		"--blockdev", `{"discard":"unmap","driver":"nbd","export":"vda","node-name":"disk0",` +
			`"open-timeout":60,"reconnect-delay":60,` +
			`"server":{"path":"/run/a,b \"c\".sock","type":"unix"}}`,
		"--export", `{"id":"disk0","name":"vda","node-name":"disk0","type":"nbd","writable":true}`,
		"--blockdev", `{"discard":"unmap","driver":"nbd","export":"x,y=\"z\"","node-name":"disk1",` +
			`"open-timeout":60,"reconnect-delay":60,` +
			`"server":{"path":"/run/a,b \"c\".sock","type":"unix"}}`,
		"--export", `{"id":"disk1","name":"x,y=\"z\"","node-name":"disk1","type":"nbd",` +
			`"writable":true}`}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestCheck checks that a configuration that no proxy can have is an error.
func TestCheck(t *testing.T) {
	for _, c := range []Config{
		{Wait: time.Minute},
		{Disks: []string{""}, Wait: time.Minute},
		{Disks: []string{"a", "a"}, Wait: time.Minute},
		{Disks: []string{"a"}, Wait: time.Millisecond},
	} {
		if err := c.Check(); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
