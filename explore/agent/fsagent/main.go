// Command fsagent runs in a guest of the explorer and does what the host asks over a virtio-serial port: see explore/agent.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/agent/virtioport"
)

// portName is that of the virtio-serial port.
const portName = "org.fsward.agent"

func main() {
	if len(os.Args) > 1 && os.Args[1] == agent.PrefixArg {
		status, err := agent.RunPrefix(os.Args[2:], os.NewFile(3, "told"))
		if err != nil {
			fmt.Fprintln(os.Stderr, "fsagent:", err)
			status = 1
		}
		os.Exit(status)
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "fsagent:", err)
		os.Exit(1)
	}
}

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

// port is the open port.
type port struct{ fd int }

// Read waits for bytes. While the host is not connected there are none to come: that is the end.
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
