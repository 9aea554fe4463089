package nbd

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// scripted serves one client with bytes that may be invalid: greeting for the handshake, and answer
// once the first request has arrived.
func scripted(t testing.TB, greeting, answer []byte) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		_, _ = nc.Write(greeting)
		var said []byte
		for b := make([]byte, 4096); !bytes.Contains(said, u(uint32(magicRequest))); {
			if answer == nil {
				_ = nc.(*net.UnixConn).CloseWrite()
			}
			n, err := nc.Read(b)
			if err != nil {
				return
			}
			said = append(said, b[:n]...)
		}
		_, _ = nc.Write(answer)
		_ = nc.(*net.UnixConn).CloseWrite()
		_, _ = io.Copy(io.Discard, nc)
	}()
	return socket
}

// u builds messages of big-endian numbers and texts.
func u(parts ...any) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		if s, ok := p.(string); ok {
			b.WriteString(s)
		} else if err := binary.Write(&b, binary.BigEndian, p); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func optReply(opt option, typ uint32, data []byte) []byte {
	return u(uint64(magicOptionReply), uint32(opt), typ, uint32(len(data)), data)
}

// welcome is the handshake of a server with structured replies, in which an export has these flags.
func welcome(flags uint16) []byte {
	return bytes.Join([][]byte{
		u(uint64(magicServer), uint64(magicOption), uint16(3)),
		optReply(optStructuredReply, repAck, nil),
		optReply(optSetMetaContext, repMetaContext, u(uint32(7), contextAllocation)),
		optReply(optSetMetaContext, repAck, nil),
		optReply(optGo, repInfo, u(uint16(infoExport), uint64(1<<20), flags)),
		optReply(optGo, repAck, nil),
	}, nil)
}

const useful = flagHasFlags | flagSendFlush | flagSendTrim | flagSendWriteZeroes

// script returns everything that such a server sends.
func script(after ...[]byte) []byte {
	return append(welcome(useful), bytes.Join(after, nil)...)
}

func chunk(flags, typ uint16, cookie uint64, data []byte) []byte {
	return u(uint32(magicStructuredReply), flags, typ, cookie, uint32(len(data)), data)
}

// TestRemoteBadServers checks that a request succeeds only if the server has answered it in full.
func TestRemoteBadServers(t *testing.T) {
	page := make([]byte, 4096)
	data := func(off uint64, n int) []byte { return u(off, page[:n]) }
	for _, c := range []struct {
		name, want string
		script     []byte
	}{
		{"silent", "greeting", nil},
		{"oldstyle", "fixed newstyle", u(uint64(magicServer), uint64(0x00420281861253), uint16(0))},
		{"no flush", "no flush", welcome(flagHasFlags)},
		{"tls", "TLS", u(uint64(magicServer), uint64(magicOption), uint16(3),
			optReply(optStructuredReply, repErrTLSRequired, nil))},
		{"long reply", "malformed", u(uint64(magicServer), uint64(magicOption), uint16(3),
			uint64(magicOptionReply), uint32(optStructuredReply), uint32(repAck), uint32(1<<31))},
		{"magic", "magic", script(u(uint32(1)))},
		{"cookie", "not sent", script(chunk(1, chunkNone, 99, nil))},
		{"nothing", "has 0", script(chunk(1, chunkNone, 1, nil))},
		{"half", "has 2048", script(chunk(1, chunkOffsetData, 1, data(0, 2048)))},
		{"gap", "gap", script(chunk(0, chunkOffsetData, 1, data(0, 1024)),
			chunk(1, chunkOffsetData, 1, data(2048, 2048)))},
		{"overlap", "overlap", script(chunk(0, chunkOffsetData, 1, data(0, 3072)),
			chunk(1, chunkOffsetData, 1, data(2048, 2048)))},
		{"beyond", "as answer to a read", script(chunk(1, chunkOffsetData, 1, data(1024, 4096)))},
		{"before", "as answer to a read", script(chunk(1, chunkOffsetData, 1, data(1<<63, 4096)))},
		{"simple", "structured", script(u(uint32(magicSimpleReply), uint32(0), uint64(1), page))},
		{"error", "disk on fire", script(chunk(1, chunkError, 1, u(uint32(5), uint16(12),
			"disk on fire")))},
		{"late error", "input/output", script(chunk(0, chunkOffsetData, 1, data(0, 4096)),
			chunk(1, chunkErrorOffset, 1, u(uint32(5), uint16(0), uint64(0))))},
		{"cut", "lost", script(chunk(1, chunkOffsetData, 1, data(0, 4096))[:2000])},
	} {
		t.Run(c.name, func(t *testing.T) {
			greeting, answer := c.script, []byte(nil)
			if bytes.HasPrefix(c.script, script()) {
				greeting, answer = script(), c.script[len(script()):]
			}
			d, err := Dial(context.Background(), "unix", scripted(t, greeting, answer), RemoteOptions{})
			if err == nil {
				_, err = d.ReadAt(make([]byte, 4096), 0)
				d.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	d := dialRemote(t, scripted(t, script(), append(
		chunk(0, chunkOffsetHole, 1, u(uint64(2048), uint32(2048))),
		chunk(1, chunkOffsetData, 1, data(0, 2048))...)), RemoteOptions{})
	if _, err := d.ReadAt(make([]byte, 4096), 0); err != nil {
		t.Errorf("a right answer in two chunks: %v", err)
	}
}

// FuzzRemote gives a client any bytes as those of its server. The client must end, and must not
// allocate more than the size of a request for them.
func FuzzRemote(f *testing.F) {
	f.Add(script(chunk(1, chunkOffsetData, 1, u(uint64(0), make([]byte, 512)))))
	f.Add(script(chunk(1, chunkError, 1, u(uint32(5), uint16(2), "no"))))
	f.Add(script(chunk(0, chunkNone, 1, nil),
		chunk(1, chunkBlockStatus, 2, u(uint32(7), uint32(512), uint32(3)))))
	f.Fuzz(func(t *testing.T, b []byte) {
		ours, theirs := net.Pipe()
		go func() {
			go func() {
				_, _ = theirs.Write(b)
				theirs.Close()
			}()
			rest := make([]byte, 4096)
			for {
				if _, err := theirs.Read(rest); err != nil {
					return
				}
			}
		}()
		defer ours.Close()
		p, err := (&handshake{nc: ours}).run("disk")
		if err != nil {
			return
		}
		d := &Remote{nc: ours, props: p, calls: make(map[uint64]*call), received: make(chan struct{})}
		if d.usable(RemoteOptions{}) != nil {
			return
		}
		go d.receive()
		_, _ = d.ReadAt(make([]byte, 512), 0)
		if runs, err := d.Extents(0, d.Size()); err == nil && len(runs) == 0 {
			t.Error("no extents")
		}
		_ = d.Close()
	})
}
