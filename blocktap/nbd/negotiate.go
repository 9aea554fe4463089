package nbd

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

const (
	// maxOptions is the largest number of options that a client may send, and maxOptionLen the largest
	// length of one in bytes. Queries of metadata contexts are the longest.
	maxOptions   = 256
	maxOptionLen = 64 << 10
	// maxString is the protocol's limit on names in bytes.
	maxString = 4096

	minBlock       = 512
	preferredBlock = 4096
)

// negotiate runs the handshake and returns the export that the client chooses.
func (c *conn) negotiate() (*Export, error) {
	greeting := make([]byte, 0, greetingLen)
	greeting = binary.BigEndian.AppendUint64(greeting, magicServer)
	greeting = binary.BigEndian.AppendUint64(greeting, magicOption)
	greeting = binary.BigEndian.AppendUint16(greeting, handshakeFixedNewstyle|handshakeNoZeroes)
	if err := c.send(greeting); err != nil {
		return nil, err
	}
	var flags [4]byte
	if err := c.read(flags[:]); err != nil {
		return nil, err
	}
	f := binary.BigEndian.Uint32(flags[:])
	if f&^(handshakeFixedNewstyle|handshakeNoZeroes) != 0 {
		return nil, malformed("unknown client flags %#x", f)
	}
	if f&handshakeFixedNewstyle == 0 {
		return nil, malformed("the client does not speak the fixed newstyle handshake")
	}
	c.noZeroes = f&handshakeNoZeroes != 0
	for range maxOptions {
		if e, err := c.option(); e != nil || err != nil {
			return e, err
		}
	}
	return nil, malformed("more than %d options", maxOptions)
}

// option reads an option and answers it. If the option chooses an export, it returns the export.
func (c *conn) option() (*Export, error) {
	var head [optionHeaderLen]byte
	if err := c.read(head[:]); err != nil {
		return nil, err
	}
	if m := binary.BigEndian.Uint64(head[0:8]); m != magicOption {
		return nil, malformed("option with magic %#x", m)
	}
	opt, length := option(binary.BigEndian.Uint32(head[8:12])), binary.BigEndian.Uint32(head[12:16])
	if length > maxOptionLen {
		return nil, malformed("option %d with %d bytes of data", opt, length)
	}
	data := make([]byte, length)
	if err := c.read(data); err != nil {
		return nil, err
	}
	switch opt {
	case optExportName:
		return c.chooseByName(data)
	case optAbort:
		_ = c.reply(opt, repAck, nil) // the client may not wait for it
		return nil, errDone
	case optInfo, optGo:
		return c.info(opt, data)
	case optList:
		return nil, c.list(data)
	case optStructuredReply:
		if len(data) != 0 {
			return nil, c.reply(opt, repErrInvalid, []byte("this option has no data"))
		}
		c.structured = true
		return nil, c.reply(opt, repAck, nil)
	case optListMetaContext, optSetMetaContext:
		return nil, c.metaContexts(opt, data)
	default:
		return nil, c.reply(opt, repErrUnsup, nil)
	}
}

func (c *conn) reply(opt option, typ uint32, data []byte) error {
	b := make([]byte, 0, optionReplyLen+len(data))
	b = binary.BigEndian.AppendUint64(b, magicOptionReply)
	b = binary.BigEndian.AppendUint32(b, uint32(opt))
	b = binary.BigEndian.AppendUint32(b, typ)
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	return c.send(append(b, data...))
}

// export finds an export by its name. The empty name means the first export, unless an export has
// it.
func (c *conn) export(name []byte) *Export {
	for i := range c.exports {
		if c.exports[i].Name == string(name) {
			return &c.exports[i]
		}
	}
	if len(name) == 0 && len(c.exports) > 0 {
		return &c.exports[0]
	}
	return nil
}

// flags returns the transmission flags of an export. It allows several connections to it
// (NBD_FLAG_CAN_MULTI_CONN): all use the same Device and open file, so that a flush on one
// connection covers the completed writes of all.
func (c *conn) flags(e *Export) uint16 {
	f := uint16(flagHasFlags | flagSendFlush | flagSendFUA | flagCanMultiConn)
	if e.ReadOnly {
		f |= flagReadOnly
	} else {
		f |= flagSendTrim | flagSendWriteZeroes
	}
	if c.structured {
		f |= flagSendDF // the answer to a read is always one chunk
	}
	return f
}

// chooseByName handles NBD_OPT_EXPORT_NAME. The protocol has no error reply to it, so that the
// server has to disconnect if the export is unknown.
func (c *conn) chooseByName(name []byte) (*Export, error) {
	e := c.export(name)
	if e == nil {
		return nil, malformed("unknown export %q", truncate(name))
	}
	b := binary.BigEndian.AppendUint64(nil, e.Device.Size())
	b = binary.BigEndian.AppendUint16(b, c.flags(e))
	if !c.noZeroes {
		b = append(b, make([]byte, exportZeroes)...)
	}
	return e, c.send(b)
}

// info handles NBD_OPT_INFO and NBD_OPT_GO. It sends the block sizes to all clients, also if they
// did not ask for them.
func (c *conn) info(opt option, data []byte) (*Export, error) {
	name, rest, ok := cutString(data)
	if !ok || len(rest) < 2 || len(rest)-2 != 2*int(binary.BigEndian.Uint16(rest)) {
		return nil, c.reply(opt, repErrInvalid, []byte("the lengths in the data do not match"))
	}
	e := c.export(name)
	if e == nil {
		return nil, c.reply(opt, repErrUnknown, fmt.Appendf(nil, "no export %q", truncate(name)))
	}
	for _, info := range c.infos(e, rest[2:]) {
		if err := c.reply(opt, repInfo, info); err != nil {
			return nil, err
		}
	}
	if err := c.reply(opt, repAck, nil); err != nil || opt == optInfo {
		return nil, err
	}
	if c.metaContext != e {
		c.metaContext = nil // the client selected it for another export
	}
	return e, nil
}

// infos returns the data of the NBD_REP_INFO replies about an export. asked contains the kinds of
// information that the client asks for, two bytes each. The client gets each kind once.
func (c *conn) infos(e *Export, requested []byte) [][]byte {
	export := binary.BigEndian.AppendUint16(nil, infoExport)
	export = binary.BigEndian.AppendUint64(export, e.Device.Size())
	export = binary.BigEndian.AppendUint16(export, c.flags(e))
	blocks := binary.BigEndian.AppendUint16(nil, infoBlockSize)
	for _, n := range [3]uint32{minBlock, preferredBlock, maxPayload} {
		blocks = binary.BigEndian.AppendUint32(blocks, n)
	}
	infos := [][]byte{export, blocks}
	var named, described bool
	for ; len(requested) >= 2; requested = requested[2:] {
		switch binary.BigEndian.Uint16(requested) {
		case infoName:
			if !named {
				info := binary.BigEndian.AppendUint16(nil, infoName)
				infos = append(infos, append(info, e.Name...))
			}
			named = true
		case infoDescription:
			if !described && e.Description != "" {
				info := binary.BigEndian.AppendUint16(nil, infoDescription)
				infos = append(infos, append(info, e.Description...))
			}
			described = true
		}
	}
	return infos
}

// list handles NBD_OPT_LIST.
func (c *conn) list(data []byte) error {
	if len(data) != 0 {
		return c.reply(optList, repErrInvalid, []byte("this option has no data"))
	}
	for i := range c.exports {
		e := &c.exports[i]
		b := binary.BigEndian.AppendUint32(nil, uint32(len(e.Name)))
		b = append(append(b, e.Name...), e.Description...)
		if err := c.reply(optList, repServer, b); err != nil {
			return err
		}
	}
	return c.reply(optList, repAck, nil)
}

// metaContexts handles NBD_OPT_LIST_META_CONTEXT and NBD_OPT_SET_META_CONTEXT.
func (c *conn) metaContexts(opt option, data []byte) error {
	if opt == optSetMetaContext {
		c.metaContext = nil // also if this option fails
		if !c.structured {
			return c.reply(opt, repErrInvalid, []byte("negotiate structured replies first"))
		}
	}
	name, rest, ok := cutString(data)
	if !ok || len(rest) < 4 {
		return c.reply(opt, repErrInvalid, []byte("the lengths in the data do not match"))
	}
	queries := binary.BigEndian.Uint32(rest)
	rest = rest[4:]
	selected := opt == optListMetaContext && queries == 0 // no query lists all contexts
	for ; queries > 0 && ok; queries-- {
		var query []byte
		if query, rest, ok = cutString(rest); !ok {
			break
		}
		selected = selected || string(query) == contextAllocation ||
			opt == optListMetaContext && bytes.Equal(query, []byte("base:"))
	}
	if !ok || len(rest) != 0 {
		return c.reply(opt, repErrInvalid, []byte("the lengths in the data do not match"))
	}
	e := c.export(name)
	if e == nil {
		return c.reply(opt, repErrUnknown, fmt.Appendf(nil, "no export %q", truncate(name)))
	}
	if selected {
		if opt == optSetMetaContext {
			c.metaContext = e
		}
		reply := append(binary.BigEndian.AppendUint32(nil, allocationID), contextAllocation...)
		if err := c.reply(opt, repMetaContext, reply); err != nil {
			return err
		}
	}
	return c.reply(opt, repAck, nil)
}

// cutString cuts a string from the beginning of b. A 32-bit length precedes the string.
func cutString(b []byte) (s, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(b)
	if n > maxString || uint64(n) > uint64(len(b)-4) {
		return nil, nil, false
	}
	return b[4 : 4+n], b[4+n:], true
}

// truncate shortens a client's name for messages.
func truncate(name []byte) []byte { return name[:min(len(name), 80)] }
