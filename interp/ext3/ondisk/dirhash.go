package ondisk

import "math/bits"

// The hashes of names in the index of a directory (fs/ext4/hash.c; lib/ext2fs/dirhash.c).
// Characters beyond 127 count differently if the superblock says that they are unsigned.
const (
	hashLegacy = iota
	hashHalfMD4
	hashTEA
	HashVersions = 3

	flagSignedHash   = 0x1 // in s_flags
	flagUnsignedHash = 0x2
)

// A DirHash is a hash of names: its version, and the seed in the superblock.
type DirHash struct {
	version  int // hashLegacy to hashTEA
	unsigned bool
	seed     [4]uint32
}

// NewDirHash returns the hash of a directory. version is below HashVersions.
func NewDirHash(sb []byte, version uint8) DirHash {
	h := DirHash{version: int(version), unsigned: SuperOf(sb).Flags()&flagUnsignedHash != 0}
	for i := range h.seed {
		h.seed[i] = LE32(SuperOf(sb).HashSeed(), 4*i)
	}
	if h.seed == [4]uint32{} {
		h.seed = [4]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}
	}
	return h
}

// char returns a byte of a name as the kernel's C code adds it.
func (h DirHash) char(c byte) uint32 {
	if h.unsigned {
		return uint32(c)
	}
	return uint32(int32(int8(c)))
}

// Of returns the hash of a name. Its lowest bit is 0: in the index, that bit marks a hash that
// continues from the block before.
func (h DirHash) Of(name []byte) uint32 {
	buf := h.seed
	switch h.version {
	case hashLegacy:
		return h.legacy(name) &^ 1
	case hashHalfMD4:
		for len(name) > 0 {
			var in [8]uint32
			name = h.chunk(name, in[:])
			halfMD4(&buf, &in)
		}
		return buf[1] &^ 1
	default:
		for len(name) > 0 {
			var in [4]uint32
			name = h.chunk(name, in[:])
			tea(&buf, &in)
		}
		return buf[0] &^ 1
	}
}

// legacy is dx_hack_hash.
func (h DirHash) legacy(name []byte) uint32 {
	hash0, hash1 := uint32(0x12a3fe2d), uint32(0x37abe8f9)
	for _, c := range name {
		hash := hash1 + (hash0 ^ h.char(c)*7152373)
		if hash&0x80000000 != 0 {
			hash -= 0x7fffffff
		}
		hash1, hash0 = hash0, hash
	}
	return hash0 << 1
}

// chunk fills in with the beginning of a name, padded with its length, and returns the rest
// (str2hashbuf).
func (h DirHash) chunk(name []byte, in []uint32) (rest []byte) {
	pad := uint32(len(name)) | uint32(len(name))<<8
	pad |= pad << 16
	n := min(len(name), 4*len(in))
	for k := range in {
		val := pad
		for i := 4 * k; i < min(4*k+4, n); i++ {
			val = h.char(name[i]) + val<<8
		}
		in[k] = val
	}
	return name[n:]
}

// tea is TEA_transform.
func tea(buf, in *[4]uint32) {
	b0, b1, sum := buf[0], buf[1], uint32(0)
	for range 16 {
		sum += 0x9e3779b9
		b0 += (b1<<4 + in[0]) ^ (b1 + sum) ^ (b1>>5 + in[1])
		b1 += (b0<<4 + in[2]) ^ (b0 + sum) ^ (b0>>5 + in[3])
	}
	buf[0] += b0
	buf[1] += b1
}

// halfMD4 is half_md4_transform: three rounds of eight steps, each with the words of in in another
// order.
func halfMD4(buf *[4]uint32, in *[8]uint32) {
	a, b, c, d := buf[0], buf[1], buf[2], buf[3]
	for _, round := range []struct {
		f      func(x, y, z uint32) uint32
		add    uint32
		order  [8]int
		shifts [4]int
	}{
		{func(x, y, z uint32) uint32 { return z ^ x&(y^z) }, 0, [8]int{0, 1, 2, 3, 4, 5, 6, 7}, [4]int{3,
			7, 11, 19}},
		{func(x, y, z uint32) uint32 { return x&y + (x^y)&z }, 0x5a827999, [8]int{1, 3, 5, 7, 0, 2, 4, 6},
			[4]int{3, 5, 9, 13}},
		{func(x, y, z uint32) uint32 { return x ^ y ^ z }, 0x6ed9eba1, [8]int{3, 7, 2, 6, 1, 5, 0, 4},
			[4]int{3, 9, 11, 15}},
	} {
		for k, i := range round.order {
			a = bits.RotateLeft32(a+round.f(b, c, d)+in[i]+round.add, round.shifts[k%4])
			a, b, c, d = d, a, b, c
		}
	}
	buf[0] += a
	buf[1] += b
	buf[2] += c
	buf[3] += d
}
