package ondisk

import "fsward/interp/disk"

var DevExtentLayout = Structure{"btrfs_dev_extent", 48, []Member{
	{Name: "chunk_tree", Off: 0, Width: 8, Field: FieldChunkTree},
	{Name: "chunk_objectid", Off: 8, Width: 8, Field: FieldChunkObjectID},
	{Name: "chunk_offset", Off: 16, Width: 8, Field: FieldChunkOffset},
	{Name: "length", Off: 24, Width: 8, Field: FieldLength},
}, []Member{
	{Name: "chunk_tree_uuid", Off: 32, Width: UUIDSize},
}}

var DevItemLayout = Structure{"btrfs_dev_item", 98, []Member{
	{Name: "devid", Off: 0, Width: 8, Field: FieldDevID},
	{Name: "total_bytes", Off: 8, Width: 8, Field: FieldTotalBytes},
	{Name: "bytes_used", Off: 16, Width: 8, Field: FieldBytesUsed},
	{Name: "io_align", Off: 24, Width: 4, Field: FieldIOAlign, ViewOnly: true},
	{Name: "io_width", Off: 28, Width: 4, Field: FieldIOWidth, ViewOnly: true},
	{Name: "sector_size", Off: 32, Width: 4, Field: FieldSectorSize},
	{Name: "type", Off: 36, Width: 8, Field: FieldType},
	{Name: "generation", Off: 44, Width: 8, Field: FieldGeneration},
	{Name: "start_offset", Off: 52, Width: 8, Field: FieldStartOffset, ViewOnly: true},
}, []Member{
	{Name: "dev_group", Off: 60, Width: 4},
	{Name: "seek_speed", Off: 64, Width: 1},
	{Name: "bandwidth", Off: 65, Width: 1},
	{Name: "uuid", Off: 66, Width: UUIDSize},
	{Name: "fsid", Off: 82, Width: UUIDSize},
}}

// chunkStripe is the offset of the first stripe in struct btrfs_chunk.
const chunkStripe = 48

// ChunkLayout is the layout of a chunk with its first stripe. The other stripes follow it.
var ChunkLayout = Structure{"btrfs_chunk", chunkStripe + StripeSize, []Member{
	{Name: "length", Off: 0, Width: 8, Field: FieldLength},
	{Name: "owner", Off: 8, Width: 8, Field: FieldOwner},
	{Name: "stripe_len", Off: 16, Width: 8, Field: FieldStripeLen},
	{Name: "type", Off: 24, Width: 8, Field: FieldType},
	{Name: "io_align", Off: 32, Width: 4, Field: FieldIOAlign, ViewOnly: true},
	{Name: "io_width", Off: 36, Width: 4, Field: FieldIOWidth, ViewOnly: true},
	{Name: "sector_size", Off: 40, Width: 4, Field: FieldSectorSize},
	{Name: "num_stripes", Off: 44, Width: 2, Field: FieldNumStripes},
	{Name: "sub_stripes", Off: 46, Width: 2, Field: FieldSubStripes},
	{Name: "stripe.devid", Off: chunkStripe + StripeDevIDAt, Width: 8},
	{Name: "stripe.offset", Off: chunkStripe + StripeOffsetAt, Width: 8},
}, nil}

// StripeLayout is the layout of a stripe of a chunk.
var StripeLayout = Structure{"btrfs_stripe", 32, nil, []Member{
	{Name: "devid", Off: 0, Width: 8},
	{Name: "offset", Off: 8, Width: 8},
	{Name: "dev_uuid", Off: 16, Width: UUIDSize},
}}

// DevReplaceLayout is the layout of the state of a device replacement.
var DevReplaceLayout = Structure{"btrfs_dev_replace_item", 72, nil, []Member{
	{Name: "src_devid", Off: 0, Width: 8},
}}

// ChunkStripe returns the view on stripe i of a chunk item, counted from 0. The caller has checked
// that the item is long enough.
func ChunkStripe(c Chunk, i int) Stripe {
	at := chunkStripe + i*StripeSize
	return Stripe{disk.NewRegion(c.Bytes()[at:at+StripeSize], c.Addr()+uint64(at))}
}
