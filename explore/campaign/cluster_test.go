package campaign

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// freePort returns a port of the loopback device that nobody uses.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// startCluster runs three servers that keep copies for each other, on ports of the loopback device.
// Each has to know the others before it starts.
func startCluster(t *testing.T) (list []*server.Server) {
	t.Helper()
	var ports []int
	var routes []*url.URL
	for range 3 {
		ports = append(ports, freePort(t))
		routes = append(routes, &url.URL{Scheme: "nats",
			Host: fmt.Sprintf("127.0.0.1:%d", ports[len(ports)-1])})
	}
	for i, port := range ports {
		s, err := server.NewServer(&server.Options{ServerName: fmt.Sprintf("server-%d", i),
			Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
			Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: port}, Routes: routes})
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		list = append(list, s)
	}
	wait(t, func() bool {
		current, peers := 0, 0
		for _, s := range list {
			if s.ReadyForConnections(time.Second) && s.JetStreamIsCurrent() {
				current++
			}
			peers += len(s.JetStreamClusterPeers()) // only the leader knows them
		}
		return current == len(list) && peers == len(list)
	})
	return list
}

// A cluster of three servers loses one in the middle of a campaign, the one that leads the queue of
// units. Everything counts once.
func TestCluster(t *testing.T) {
	const size = 40
	list := startCluster(t)
	var urls []string
	for _, s := range list {
		urls = append(urls, s.ClientURL())
	}
	c, err := Connect(t.Context(), Address{URL: strings.Join(urls, ",")}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q, err := c.Create(t.Context(), testDefinition("a", size, 2),
		Option{Lease: testLease, Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Submit(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := q.units.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	run(t, newWorker(c, "w", func(context.Context, Task) (Done, error) {
		if tested++; tested == 5 {
			for _, s := range list {
				if s.Name() == info.Cluster.Leader {
					s.Shutdown()
				}
			}
		}
		return Done{Exit: 1, Findings: []Found{{Kind: "lost", Count: 1, Dir: t.TempDir()}}}, nil
	}))
	s := isDone(t, q, size)
	found, bad, err := q.Findings(t.Context())
	if err != nil || bad != 0 || len(found) != 1 || s.Found(found[0].Key) != size/2 {
		t.Errorf("%v, %d bad, %v", found, bad, err)
	}
}
