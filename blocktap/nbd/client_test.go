package nbd

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
)

// client sends and receives single messages of the protocol, valid or not.
type client struct {
	t  testing.TB
	nc net.Conn
}

func dial(t testing.TB, s running) *client {
	t.Helper()
	nc, err := net.Dial("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &client{t, nc}
}

func (c *client) send(b []byte) {
	c.t.Helper()
	if _, err := c.nc.Write(b); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

func (c *client) recv(n int) []byte {
	c.t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(c.nc, b); err != nil {
		c.t.Fatalf("receive %d bytes: %v", n, err)
	}
	return b
}

// ended waits for the server to close the connection.
func (c *client) ended() {
	c.t.Helper()
	if _, err := io.Copy(io.Discard, c.nc); err != nil && !strings.Contains(err.Error(), "reset") {
		c.t.Fatalf("the server did not close the connection: %v", err)
	}
}

func optionBytes(opt option, data []byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, magicOption)
	b = binary.BigEndian.AppendUint32(b, uint32(opt))
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

// str encodes a string with its length before it.
func str(s string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
}

// hello receives the greeting and sends the client flags.
func (c *client) hello(flags uint32) {
	c.t.Helper()
	greeting := c.recv(greetingLen)
	if string(greeting[:16]) != "NBDMAGICIHAVEOPT" || binary.BigEndian.Uint16(greeting[16:]) != 3 {
		c.t.Fatalf("greeting %q", greeting)
	}
	c.send(binary.BigEndian.AppendUint32(nil, flags))
}

// option sends an option and returns the type and data of the last reply to it.
func (c *client) option(opt option, data []byte) (typ uint32, last []byte) {
	c.t.Helper()
	c.send(optionBytes(opt, data))
	for {
		head := c.recv(optionReplyLen)
		if binary.BigEndian.Uint64(head) != magicOptionReply ||
			binary.BigEndian.Uint32(head[8:]) != uint32(opt) {
			c.t.Fatalf("reply to option %d: % x", opt, head)
		}
		typ = binary.BigEndian.Uint32(head[12:])
		last = c.recv(int(binary.BigEndian.Uint32(head[16:])))
		if typ == repAck || typ >= 1<<31 {
			return typ, last
		}
	}
}

// connect enters the transmission phase with NBD_OPT_EXPORT_NAME, so that replies are simple.
func (c *client) connect(export string) {
	c.t.Helper()
	c.hello(handshakeFixedNewstyle)
	c.send(optionBytes(optExportName, []byte(export)))
	b := c.recv(8 + 2 + exportZeroes)
	if binary.BigEndian.Uint64(b) != diskSize || !bytes.Equal(b[10:], make([]byte, exportZeroes)) {
		c.t.Fatalf("export: % x", b)
	}
}

func requestBytes(
	cmd command, flags commandFlags, cookie, off uint64, length uint32, data []byte,
) []byte {
	b := binary.BigEndian.AppendUint32(nil, magicRequest)
	b = binary.BigEndian.AppendUint16(b, uint16(flags))
	b = binary.BigEndian.AppendUint16(b, uint16(cmd))
	b = binary.BigEndian.AppendUint64(b, cookie)
	b = binary.BigEndian.AppendUint64(b, off)
	b = binary.BigEndian.AppendUint32(b, length)
	return append(b, data...)
}

func (c *client) request(
	cmd command, flags commandFlags, cookie, off uint64, length uint32, data []byte,
) {
	c.t.Helper()
	c.send(requestBytes(cmd, flags, cookie, off, length, data))
}

// simpleReply receives a reply, and n bytes of data if the request succeeded.
func (c *client) simpleReply(n int) (cookie uint64, e errno) {
	c.t.Helper()
	b := c.recv(simpleReplyLen)
	if binary.BigEndian.Uint32(b) != magicSimpleReply {
		c.t.Fatalf("reply % x", b)
	}
	if e = errno(binary.BigEndian.Uint32(b[4:])); e == errnoOK {
		c.recv(n)
	}
	return binary.BigEndian.Uint64(b[8:]), e
}

// TestBadRequests checks that the server answers an invalid request with an error and keeps the
// connection.
func TestBadRequests(t *testing.T) {
	dev := blocktap.NewDevice(openDisk(t, newImage(t)), nil)
	s := serve(t,
		Export{Name: "disk", Device: dev}, Export{Name: "ro", Device: dev, ReadOnly: true})
	for _, c := range []struct {
		name   string
		export string
		cmd    command
		flags  commandFlags
		off    uint64
		length uint32
		want   errno
	}{
		{"write after the end", "disk", cmdWrite, 0, diskSize, 512, errnoInvalid},
		{"read across the end", "disk", cmdRead, 0, diskSize - 512, 1024, errnoInvalid},
		{"offset overflows", "disk", cmdTrim, 0, 1<<64 - 512, 1024, errnoInvalid},
		{"unaligned write", "disk", cmdWrite, 0, 1, 512, errnoInvalid},
		{"unaligned zero", "disk", cmdWriteZeroes, 0, 0, 100, errnoInvalid},
		{"no length", "disk", cmdRead, 0, 0, 0, errnoInvalid},
		{"read too long", "disk", cmdRead, 0, 0, maxPayload + 512, errnoInvalid},
		{"fast zero", "disk", cmdWriteZeroes, 1 << 4, 0, 512, errnoInvalid},
		{"unknown flag", "disk", cmdWrite, 1 << 9, 0, 512, errnoInvalid},
		{"DF without structured replies", "disk", cmdRead, cmdFlagDF, 0, 512, errnoInvalid},
		{"unknown command", "disk", 99, 0, 0, 0, errnoInvalid},
		{"cache", "disk", 5, 0, 0, 512, errnoInvalid},
		{"block status without context", "disk", cmdBlockStatus, 0, 0, 512, errnoInvalid},
		{"flush with a range", "disk", cmdFlush, 0, 512, 512, errnoInvalid},
		{"write to read-only", "ro", cmdWrite, 0, 0, 512, errnoPerm},
		{"trim of read-only", "ro", cmdTrim, 0, 0, 512, errnoPerm},
		{"zero of read-only", "ro", cmdWriteZeroes, 0, 0, 512, errnoPerm},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := dial(t, s)
			cl.connect(c.export)
			var data []byte
			if c.cmd == cmdWrite {
				data = make([]byte, c.length)
			}
			cl.request(c.cmd, c.flags, 42, c.off, c.length, data)
			if cookie, e := cl.simpleReply(0); cookie != 42 || e != c.want {
				t.Errorf("reply to %d: errno %d, want %d", cookie, e, c.want)
			}
			cl.request(cmdRead, 0, 43, 0, 512, nil)
			if cookie, e := cl.simpleReply(512); cookie != 43 || e != errnoOK {
				t.Errorf("the next request failed: reply to %d, errno %d", cookie, e)
			}
			cl.request(cmdDisc, 0, 0, 0, 0, nil)
			cl.ended()
		})
	}
	if w := s.warnings(); w != "" {
		t.Errorf("invalid requests caused warnings:\n%s", w)
	}
}

// TestMalformedClients checks that the server disconnects a client that breaks the protocol, logs
// the reason, and goes on serving other clients.
func TestMalformedClients(t *testing.T) {
	s, _ := serveDisk(t, nil)
	good := dial(t, s)
	good.connect("disk")
	for _, c := range []struct {
		name, reason string
		run          func(c *client)
	}{
		{"flags", "unknown client flags", func(c *client) { c.hello(0xff) }},
		{"oldstyle", "fixed newstyle", func(c *client) { c.hello(0) }},
		{"option magic", "option with magic", func(c *client) { c.hello(3); c.send(make([]byte, 16)) }},
		{"long option", "4294967295 bytes of data", func(c *client) {
			c.hello(3)
			b := optionBytes(optGo, nil)
			binary.BigEndian.PutUint32(b[12:], 1<<32-1)
			c.send(b)
		}},
		{"unknown export", "unknown export", func(c *client) {
			c.hello(3)
			c.send(optionBytes(optExportName, []byte("x\ny")))
		}},
		{"too many options", "more than 256 options", func(c *client) {
			c.hello(3)
			for range maxOptions {
				c.option(99, nil)
			}
		}},
		{"request magic", "request with magic", func(c *client) {
			c.connect("disk")
			c.send(make([]byte, requestLen))
		}},
		{"long write", "write of 4294967295 bytes", func(c *client) {
			c.connect("disk")
			c.request(cmdWrite, 0, 1, 0, 1<<32-1, nil)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(s.warnings())
			cl := dial(t, s)
			c.run(cl)
			cl.ended()
			deadline := time.Now().Add(5 * time.Second)
			for len(s.warnings()) == before && time.Now().Before(deadline) {
				time.Sleep(time.Millisecond)
			}
			if w := s.warnings()[before:]; !strings.Contains(w, c.reason) {
				t.Errorf("logged %q, want %q", w, c.reason)
			}
		})
	}
	disconnectInWrite(dial(t, s))
	good.request(cmdRead, 0, 1, 0, 512, nil)
	if _, e := good.simpleReply(512); e != errnoOK {
		t.Errorf("the request of another client failed: errno %d", e)
	}
}

// disconnectInWrite ends a connection in the middle of the data of a write.
func disconnectInWrite(c *client) {
	c.connect("disk")
	c.request(cmdWrite, 0, 1, 0, 4096, make([]byte, 100))
	c.nc.Close()
}

// TestOptions checks that the server answers an invalid option with an error and continues the
// handshake.
func TestOptions(t *testing.T) {
	s, _ := serveDisk(t, nil)
	u32 := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for _, c := range []struct {
		name       string
		structured bool
		opt        option
		data       []byte
		want       uint32
	}{
		{"starttls", false, 5, nil, repErrUnsup},
		{"extended headers", false, 11, nil, repErrUnsup},
		{"list with data", false, optList, []byte("x"), repErrInvalid},
		{"structured with data", false, optStructuredReply, []byte("x"), repErrInvalid},
		{"info too short", false, optInfo, u32(0), repErrInvalid},
		{"info with a long name", false, optInfo, join(u32(1<<31), []byte("disk")), repErrInvalid},
		{"info with too few infos", false, optInfo,
			join(str("disk"), []byte{0, 2, 0, 3}), repErrInvalid},
		{"info unknown export", false, optInfo, join(str("x"), []byte{0, 0}), repErrUnknown},
		{"info", false, optInfo, join(str("disk"), []byte{0, 2, 0, 3, 0, 77}), repAck},
		{"context before structured", false, optSetMetaContext, join(str("disk"), u32(0)), repErrInvalid},
		{"context cut off", true, optSetMetaContext,
			join(str("disk"), u32(2), str("base:allocation")), repErrInvalid},
		{"context too many", true, optSetMetaContext,
			join(str("disk"), u32(1<<32-1)), repErrInvalid},
		{"context with a tail", true, optSetMetaContext,
			join(str("disk"), u32(0), []byte("x")), repErrInvalid},
		{"context unknown export", true, optSetMetaContext, join(str("x"), u32(0)), repErrUnknown},
		{"context unknown", true, optSetMetaContext,
			join(str("disk"), u32(1), str("qemu:dirty")), repAck},
		{"context", true, optSetMetaContext,
			join(str("disk"), u32(1), str("base:allocation")), repAck},
		{"list contexts", true, optListMetaContext, join(str("disk"), u32(1), str("base:")), repAck},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := dial(t, s)
			cl.hello(3)
			if c.structured {
				cl.option(optStructuredReply, nil)
			}
			if typ, text := cl.option(c.opt, c.data); typ != c.want {
				t.Errorf("reply %#x %q, want %#x", typ, text, c.want)
			}
			if typ, _ := cl.option(optAbort, nil); typ != repAck {
				t.Errorf("abort: %#x", typ)
			}
			cl.ended()
		})
	}
}

// memoryDisk is a disk in memory.
type memoryDisk struct{ b []byte }

func (d memoryDisk) ReadAt(p []byte, off int64) (int, error)  { return copy(p, d.b[off:]), nil }
func (d memoryDisk) WriteAt(p []byte, off int64) (int, error) { return copy(d.b[off:], p), nil }
func (d memoryDisk) Flush() error                             { return nil }
func (d memoryDisk) Trim(off, n uint64) error                 { return d.Zero(off, n) }
func (d memoryDisk) Size() uint64                             { return uint64(len(d.b)) }
func (d memoryDisk) Close() error                             { return nil }

func (d memoryDisk) Zero(off, n uint64) error {
	clear(d.b[off : off+n])
	return nil
}

// FuzzServer checks that the server ends a connection after the client has disconnected, whatever
// bytes the client has sent.
func FuzzServer(f *testing.F) {
	hello := []byte{0, 0, 0, 3}
	u32 := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	session := bytes.Join([][]byte{
		hello,
		optionBytes(optList, nil),
		optionBytes(optStructuredReply, nil),
		optionBytes(optSetMetaContext,
			bytes.Join([][]byte{str("disk"), u32(1), str(contextAllocation)}, nil)),
		optionBytes(optGo, append(str("disk"), 0, 1, 0, 3)),
		requestBytes(cmdWrite, cmdFlagFUA, 1, 512, 512, make([]byte, 512)),
		requestBytes(cmdRead, 0, 2, 0, 4096, nil),
		requestBytes(cmdBlockStatus, cmdFlagReqOne, 3, 0, 65536, nil),
		requestBytes(cmdTrim, 0, 4, 0, 512, nil),
		requestBytes(cmdWriteZeroes, cmdFlagNoHole, 5, 0, 512, nil),
		requestBytes(cmdFlush, 0, 6, 0, 0, nil),
		requestBytes(cmdDisc, 0, 7, 0, 0, nil),
	}, nil)
	f.Add(session)
	f.Add(append(hello, optionBytes(optExportName, []byte("disk"))...))
	f.Fuzz(func(t *testing.T, b []byte) {
		dev := blocktap.NewDevice(memoryDisk{make([]byte, 64<<10)}, nil)
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, ours) }()
		go func() {
			_, _ = ours.Write(b) // the server may end before it has read all
			ours.Close()
		}()
		ended := make(chan struct{})
		go func() {
			exports := []Export{{Name: "disk", Device: dev}}
			newConn(t.Context(), func() {}, theirs, exports, zap.NewNop()).serve()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatal("the server did not end the connection")
		}
	})
}
