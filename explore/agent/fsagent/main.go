// Command fsagent is the agent of the explorer in a guest. It performs the requests that the host
// sends over a virtio-serial port, or in user-mode Linux through a mailbox; explore/agent has the
// protocol. Start reading at serve.
//
//	fsagent
//	fsagent mailbox DEVICE TERMINAL
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/agent/mailbox"
	"fsward/explore/agent/virtioport"
)

// portName is the name of the virtio-serial port.
const portName = "org.fsward.agent"

func main() {
	if len(os.Args) > 1 && os.Args[1] == agent.PrefixArg {
		status, err := agent.RunPrefix(os.Args[2:], os.NewFile(3, "report"))
		if err != nil {
			fmt.Fprintln(os.Stderr, "fsagent:", err)
			status = 1
		}
		os.Exit(status)
	}
	var err error
	if len(os.Args) == 4 && os.Args[1] == "mailbox" {
		err = serveMailbox(os.Args[2], os.Args[3])
	} else {
		err = serve()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fsagent:", err)
		os.Exit(1)
	}
}

// serve performs requests until the host disconnects.
func serve() error {
	path, err := virtioport.Find(portName)
	if err != nil {
		return err
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return agent.NewServer(port{fd}).Serve()
}

// serveMailbox performs requests that come through a mailbox: see mailbox.Open.
func serveMailbox(device, terminal string) error {
	m, err := mailbox.Open(device, terminal)
	if err != nil {
		return err
	}
	return agent.NewServer(m).ServeInTurn(m.Shared())
}

// A port is an open virtio-serial port.
type port struct{ fd int }

// Read waits for bytes. It returns io.EOF while the host is not connected.
func (p port) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(p.fd, b)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n == 0 && err == nil {
			err = io.EOF
		}
		return max(n, 0), err
	}
}

// Write writes all of b.
func (p port) Write(b []byte) (done int, err error) {
	for done < len(b) {
		n, err := unix.Write(p.fd, b[done:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}
