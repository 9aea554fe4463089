package btrfs

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/anchore/go-lzo"
	"github.com/klauspost/compress/zstd"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// maxWindow bounds the memory of zstd (ZSTD_BTRFS_MAX_WINDOWLOG), bytes.
const maxWindow = 128 << 10

// compressed visits the part of a compressed extent that a file has at an offset, and returns where
// it ends. The extent is inline, or has all its fields. Pieces without bytes say where the
// compressed data is on the disk.
func (f *files) compressed(v ondisk.FileExtent, off, size uint64, visit func(interp.Piece) error) (
	end uint64, err error) {
	ram, skip, num := v.RAMBytes(), uint64(0), v.RAMBytes()
	var packed []byte
	if v.Type() == ondisk.ExtentInline {
		packed = v.Bytes()[ondisk.InlineStart:]
	} else {
		skip, num = v.Offset(), v.NumBytes()
		if packed, err = f.packed(v, off, visit); err != nil {
			return 0, err
		}
	}
	if ram > maxCompressed || skip > ram || num > ram-skip || off+num < off {
		return 0, violated(pointerRule, "a compressed extent of %d bytes, of which the file has %d "+
			"from %d on", ram, num, skip)
	}
	plain := make([]byte, ram)
	if err := f.unpack(v.Compression(), packed, plain); err != nil {
		return 0, &interp.ContentsError{Damaged: true,
			Reason: fmt.Sprintf("its compressed extent at %d: %v", off, err)}
	}
	end = min(off+num, size)
	plain = plain[skip:][:end-off]
	return end, visit(interp.Piece{Off: off, Len: end - off, Data: plain})
}

// packed reads the compressed data of an extent, and visits its places.
func (f *files) packed(v ondisk.FileExtent, off uint64, visit func(interp.Piece) error) (
	data []byte, err error) {
	length := v.DiskNumBytes()
	if length > maxCompressed || length%uint64(f.state.rules.sectorSize) != 0 {
		return nil, violated(pointerRule, "a compressed extent of a file at %d has %d bytes", off,
			length)
	}
	err = f.sectors(v.DiskBytenr(), 0, length, func(p interp.Piece) error {
		data = append(data, p.Data...)
		return visit(interp.Piece{Off: off, Placed: true, Addr: p.Addr})
	})
	return data, err
}

// unpack fills plain with what a compressed extent holds. A stream that ends early leaves zeros, as
// it does in the kernel (zero_fill_bio).
func (f *files) unpack(compression uint8, packed, plain []byte) error {
	var stream io.Reader
	switch compression {
	case ondisk.CompressZlib:
		r, err := zlib.NewReader(bytes.NewReader(packed))
		if err != nil {
			return err
		}
		stream = r
	case ondisk.CompressLZO:
		return unpackLZO(packed, plain, f.state.rules.sectorSize)
	case ondisk.CompressZstd:
		r, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return err
		}
		defer r.Close()
		stream = r
	default:
		return fmt.Errorf("unknown compression %d", compression)
	}
	n, err := io.ReadFull(stream, plain)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil
	}
	if n > 0 && errors.Is(err, zstd.ErrMagicMismatch) {
		return nil // zeros up to the end of the sector follow the frame
	}
	return err
}

// lzoHead is the size of the length before all of the data, and before each segment (LZO_LEN).
const lzoHead = 4

// unpackLZO follows lzo_decompress_bio: a segment for each sector of plain data, and no length of a
// segment lies in two sectors.
func unpackLZO(packed, plain []byte, sector uint32) error {
	if len(packed) < lzoHead {
		return io.ErrUnexpectedEOF
	}
	total := int64(binary.LittleEndian.Uint32(packed))
	if total > int64(len(packed)) {
		return fmt.Errorf("%d bytes of LZO in %d", total, len(packed))
	}
	packed = packed[:total]
	for at := lzoHead; at+lzoHead <= len(packed) && len(plain) > 0; {
		length := int64(binary.LittleEndian.Uint32(packed[at:]))
		if at += lzoHead; length > int64(len(packed)-at) {
			return fmt.Errorf("a segment of %d bytes in %d", length, len(packed)-at)
		}
		n, err := lzo.Decompress(packed[at:at+int(length)], plain[:min(len(plain), int(sector))])
		if err != nil {
			return err
		}
		plain = plain[n:]
		at += int(length)
		if left := int(sector) - at%int(sector); left < lzoHead {
			at += left
		}
	}
	return nil
}
