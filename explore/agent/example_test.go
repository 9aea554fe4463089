package agent_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// A client sends a list of operations to a server, and receives the error number of each one. The
// server runs in the guest. Here it runs in this process, at the other end of a pipe.
func ExampleClient() {
	dir, err := os.MkdirTemp("", "fsward-agent-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- agent.NewServer(there).Serve() }()
	client := agent.NewClient(here)

	file := filepath.Join(dir, "file")
	done, err := client.Do(context.Background(), agent.Batch{
		Timeout: time.Minute,
		Ops: []agent.Op{
			agent.Open(0, file, unix.O_CREAT|unix.O_WRONLY, 0o644),
			agent.Write(0, 0, []byte("text")),
			agent.Fsync(0),
			agent.Close(0),
			agent.Mkdir(file, 0o755),
			agent.Readdir(dir),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("bytes written:", done.Results[1].Value)
	fmt.Println("mkdir:", done.Results[4].Err())
	fmt.Printf("names: %q\n", done.Results[5].Data)
	fmt.Println(client.Close(), <-served)
	// Output:
	// bytes written: 4
	// mkdir: file exists
	// names: "file\x00"
	// <nil> <nil>
}
