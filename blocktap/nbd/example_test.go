package nbd_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/nbd"
)

// A server offers a disk on a Unix socket, a client reads its greeting, and the server ends.
func ExampleServer() {
	dir, err := os.MkdirTemp("", "nbd")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	image, socket := filepath.Join(dir, "disk.img"), filepath.Join(dir, "socket")
	if err := os.WriteFile(image, make([]byte, 1<<20), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer disk.Close()
	listener, err := nbd.Listen(socket)
	if err != nil {
		fmt.Println(err)
		return
	}
	export := nbd.Export{Name: "disk", Device: blocktap.NewDevice(disk, nil)}
	server := nbd.NewServer([]nbd.Export{export}, zap.NewNop())
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.Background(), listener) }()

	fmt.Println(greeting(socket))
	fmt.Println(server.Shutdown(context.Background()), <-served)
	// Output:
	// NBDMAGICIHAVEOPT <nil>
	// <nil> <nil>
}

// greeting connects to a server as a client does and returns the server's first 16 bytes.
func greeting(socket string) (string, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	b := make([]byte, 16)
	_, err = io.ReadFull(conn, b)
	return string(b), err
}
