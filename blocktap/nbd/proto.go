package nbd

import "encoding/binary"

// This file contains the constants and structures of the NBD protocol. They follow doc/proto.md of
// NetworkBlockDevice/nbd. All numbers are big-endian.

// Constants of the handshake.
const (
	magicServer      = 0x4e42444d41474943 // "NBDMAGIC"
	magicOption      = 0x49484156454f5054 // "IHAVEOPT"
	magicOptionReply = 0x0003e889045565a9

	// Flags of the server and of the client: NBD_FLAG_FIXED_NEWSTYLE and NBD_FLAG_C_FIXED_NEWSTYLE,
	// NBD_FLAG_NO_ZEROES and NBD_FLAG_C_NO_ZEROES.
	handshakeFixedNewstyle = 1 << 0
	handshakeNoZeroes      = 1 << 1

	greetingLen     = 18  // magicServer, magicOption, flags u16
	optionHeaderLen = 16  // magicOption, option u32, length u32
	optionReplyLen  = 20  // magicOptionReply, option u32, type u32, length u32
	exportZeroes    = 124 // zeros after the answer to NBD_OPT_EXPORT_NAME without NO_ZEROES
)

// option is the type of an option in the handshake (NBD_OPT_*).
type option uint32

const (
	optExportName      option = 1
	optAbort           option = 2
	optList            option = 3
	optInfo            option = 6
	optGo              option = 7
	optStructuredReply option = 8
	optListMetaContext option = 9
	optSetMetaContext  option = 10
)

// Types of replies to options (NBD_REP_*).
const (
	repAck         = 1
	repServer      = 2
	repInfo        = 3
	repMetaContext = 4

	repErrUnsup   = 1<<31 + 1
	repErrInvalid = 1<<31 + 3
	repErrUnknown = 1<<31 + 6
)

// Kinds of information in NBD_REP_INFO (NBD_INFO_*).
const (
	infoExport      = 0
	infoName        = 1
	infoDescription = 2
	infoBlockSize   = 3
)

// Transmission flags (NBD_FLAG_*).
const (
	flagHasFlags        = 1 << 0
	flagReadOnly        = 1 << 1
	flagSendFlush       = 1 << 2
	flagSendFUA         = 1 << 3
	flagSendTrim        = 1 << 5
	flagSendWriteZeroes = 1 << 6
	flagSendDF          = 1 << 7
	flagCanMultiConn    = 1 << 8
)

// Constants of the transmission phase.
const (
	magicRequest         = 0x25609513
	magicSimpleReply     = 0x67446698
	magicStructuredReply = 0x668e33ef

	requestLen         = 28
	simpleReplyLen     = 16 // magic u32, error u32, cookie u64
	structuredReplyLen = 20 // magic u32, flags u16, type u16, cookie u64, length u32
)

// command is the type of a request (NBD_CMD_*).
type command uint16

const (
	cmdRead        command = 0
	cmdWrite       command = 1
	cmdDisc        command = 2
	cmdFlush       command = 3
	cmdTrim        command = 4
	cmdWriteZeroes command = 6
	cmdBlockStatus command = 7
)

// commandFlags are the flags of a request (NBD_CMD_FLAG_*).
type commandFlags uint16

const (
	cmdFlagFUA    commandFlags = 1 << 0
	cmdFlagNoHole commandFlags = 1 << 1
	cmdFlagDF     commandFlags = 1 << 2
	cmdFlagReqOne commandFlags = 1 << 3
)

// Flags and types of structured reply chunks (NBD_REPLY_FLAG_*, NBD_REPLY_TYPE_*).
const (
	chunkFlagDone = 1 << 0

	chunkNone        = 0
	chunkOffsetData  = 1
	chunkBlockStatus = 5
	chunkError       = 1<<15 + 1
)

// The metadata context base:allocation (NBD_STATE_*).
const (
	contextAllocation = "base:allocation"
	allocationID      = 1 // chosen by the server

	stateHole = 1 << 0
	stateZero = 1 << 1
)

// errno is the error number of a reply. The protocol fixes the numbers for all hosts.
type errno uint32

const (
	errnoOK      errno = 0
	errnoPerm    errno = 1
	errnoIO      errno = 5
	errnoInvalid errno = 22
	errnoNoSpace errno = 28
)

// request is the header of a request.
type request struct {
	flags  commandFlags
	cmd    command
	cookie uint64
	off    uint64
	length uint32
}

// parseRequest parses the header of a request. ok is false if the magic is wrong.
func parseRequest(b *[requestLen]byte) (r request, ok bool) {
	return request{
		flags:  commandFlags(binary.BigEndian.Uint16(b[4:6])),
		cmd:    command(binary.BigEndian.Uint16(b[6:8])),
		cookie: binary.BigEndian.Uint64(b[8:16]),
		off:    binary.BigEndian.Uint64(b[16:24]),
		length: binary.BigEndian.Uint32(b[24:28]),
	}, binary.BigEndian.Uint32(b[0:4]) == magicRequest
}

// simpleReply returns a simple reply without its data.
func simpleReply(cookie uint64, e errno) []byte {
	b := make([]byte, 0, simpleReplyLen)
	b = binary.BigEndian.AppendUint32(b, magicSimpleReply)
	b = binary.BigEndian.AppendUint32(b, uint32(e))
	return binary.BigEndian.AppendUint64(b, cookie)
}

// structuredReply returns the header of a reply with one chunk. length is the number of bytes that
// follow the header.
func structuredReply(cookie uint64, typ uint16, length int) []byte {
	b := make([]byte, 0, structuredReplyLen+16)
	b = binary.BigEndian.AppendUint32(b, magicStructuredReply)
	b = binary.BigEndian.AppendUint16(b, chunkFlagDone)
	b = binary.BigEndian.AppendUint16(b, typ)
	b = binary.BigEndian.AppendUint64(b, cookie)
	return binary.BigEndian.AppendUint32(b, uint32(length))
}
