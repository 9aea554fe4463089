package corrupt

import (
	"encoding/binary"

	"fsward/interp/btrfs/ondisk"
)

// An action is a change of a whole object.
type action uint8

const (
	actDelete    action = iota + 1 // remove the object
	actDuplicate                   // add a copy under the same key
	actAdd                         // add a copy under the next key
	actSwap                        // exchange its contents with the next object of its kind
	actSwapKeys                    // exchange its key with the next one
	actShrink                      // remove its last byte
	actGrow                        // append a byte
)

var actionNames = [...]string{actDelete: "delete", actDuplicate: "duplicate", actAdd: "add",
	actSwap: "swap", actSwapKeys: "swapkeys", actShrink: "shrink", actGrow: "grow"}

// actions lists the actions on a kind of object.
func (a *alterable) actions() []action {
	switch a.form {
	case formItem:
		return []action{actDelete, actDuplicate, actAdd, actSwap, actSwapKeys, actShrink, actGrow}
	case formPointer:
		return []action{actDelete, actDuplicate, actSwap, actSwapKeys}
	default:
		return nil
	}
}

func (a *alterable) actionNames() []string {
	var names []string
	for _, act := range a.actions() {
		names = append(names, actionNames[act])
	}
	return names
}

// act does the action on the object in a slot of a block. text describes the change.
func (s *alterSpec) act(n *ondisk.Node, slot int) (text string, ok bool) {
	step := ondisk.ItemSize
	if s.object.form == formPointer {
		step = ondisk.KeyPtrSize
	}
	switch s.action {
	case actSwapKeys:
		return "its key exchanged with the next", exchange(n, slot, slot+1, step, 0, ondisk.DiskKeySize)
	case actSwap:
		if s.object.form == formPointer {
			const rest = ondisk.KeyPtrSize - ondisk.DiskKeySize
			return "its block exchanged with the next",
				exchange(n, slot, slot+1, step, ondisk.DiskKeySize, rest)
		}
		return "its contents exchanged with the next", swapData(n, slot)
	}
	if s.object.form == formPointer {
		return s.actPointer(n, slot)
	}
	if s.action == actDelete && (slot == 0 || n.NrItems() < 2) {
		return "", false // the first key would no longer match the parent, and show another fault
	}
	switch s.action {
	case actDelete:
		removeItem(n, slot)
		return "deleted", true
	case actDuplicate:
		return "duplicated", copyItem(n, slot, n.Key(slot))
	case actAdd:
		k := n.Key(slot)
		k.Offset++
		if k.Offset == 0 || slot+1 < n.NrItems() && k.Compare(n.Key(slot+1)) >= 0 {
			return "", false
		}
		return "a copy added as " + k.String(), copyItem(n, slot, k)
	case actShrink:
		if n.Item(slot).Len() == 0 {
			return "", false
		}
		return "its last byte cut off", resizeItem(n, slot, -1)
	default:
		return "a byte added", resizeItem(n, slot, 1)
	}
}

// actPointer deletes or duplicates a pointer of a node.
func (s *alterSpec) actPointer(n *ondisk.Node, slot int) (text string, ok bool) {
	b, count := n.Bytes(), n.NrItems()
	at := ondisk.HeaderSize + slot*ondisk.KeyPtrSize
	end := ondisk.HeaderSize + count*ondisk.KeyPtrSize
	if s.action == actDelete {
		if count < 2 {
			return "", false
		}
		copy(b[at:end-ondisk.KeyPtrSize], b[at+ondisk.KeyPtrSize:end])
		clear(b[end-ondisk.KeyPtrSize : end])
		count--
		text = "deleted"
	} else {
		if end+ondisk.KeyPtrSize > len(b) {
			return "", false
		}
		copy(b[at+ondisk.KeyPtrSize:end+ondisk.KeyPtrSize], b[at:end])
		count++
		text = "duplicated"
	}
	binary.LittleEndian.PutUint32(b[ondisk.HeaderNrItemsAt:], uint32(count))
	return text, true
}

// exchange swaps length bytes at off in the item headers or pointers i and j, which have step
// bytes. It reports whether the bytes differed.
func exchange(n *ondisk.Node, i, j, step, off, length int) bool {
	if j >= n.NrItems() {
		return false
	}
	b := n.Bytes()
	p := b[ondisk.HeaderSize+i*step+off:][:length]
	q := b[ondisk.HeaderSize+j*step+off:][:length]
	same := true
	for k := range p {
		same = same && p[k] == q[k]
		p[k], q[k] = q[k], p[k]
	}
	return !same
}

// swapData exchanges the data of item i and of the next item of its type and length with other
// data. It reports whether there is such an item.
func swapData(n *ondisk.Node, i int) bool {
	p := n.Item(i).Bytes()
	for j := i + 1; j < n.NrItems(); j++ {
		q := n.Item(j).Bytes()
		if n.Key(j).Type != n.Key(i).Type || len(q) != len(p) || string(p) == string(q) {
			continue
		}
		for k := range p {
			p[k], q[k] = q[k], p[k]
		}
		return true
	}
	return false
}

// removeItem removes item i from a leaf as btrfs_del_items does: it moves the data and the headers
// of the items behind it to close the gaps.
func removeItem(n *ondisk.Node, i int) {
	b, count := n.Bytes(), n.NrItems()
	if size := n.Item(i).Len(); size > 0 {
		resizeItem(n, i, -size)
	}
	at, end := ondisk.HeaderSize+i*ondisk.ItemSize, ondisk.HeaderSize+count*ondisk.ItemSize
	copy(b[at:end-ondisk.ItemSize], b[at+ondisk.ItemSize:end])
	clear(b[end-ondisk.ItemSize : end])
	binary.LittleEndian.PutUint32(b[ondisk.HeaderNrItemsAt:], uint32(count-1))
}

// copyItem inserts a copy of item i behind it, under a key. It returns false if there is no room.
func copyItem(n *ondisk.Node, i int, k ondisk.Key) bool {
	b, count := n.Bytes(), n.NrItems()
	data := append([]byte(nil), n.Item(i).Bytes()...)
	at := ondisk.HeaderSize + i*ondisk.ItemSize
	end := ondisk.HeaderSize + count*ondisk.ItemSize
	if lowest(n)-end < ondisk.ItemSize+len(data) {
		return false
	}
	copy(b[at+ondisk.ItemSize:end+ondisk.ItemSize], b[at:end])
	binary.LittleEndian.PutUint32(b[ondisk.HeaderNrItemsAt:], uint32(count+1))
	head := b[at+ondisk.ItemSize:][:ondisk.ItemSize]
	k.Put(head[ondisk.ItemKeyAt:])
	// The copy is empty at first, and then grows.
	binary.LittleEndian.PutUint32(head[ondisk.ItemSizeAt:], 0)
	if len(data) > 0 {
		resizeItem(n, i+1, len(data))
	}
	copy(n.Item(i+1).Bytes(), data)
	return true
}

// resizeItem changes the length of item i at its end. It moves all data at lower offsets. It
// returns false if there is no room.
func resizeItem(n *ondisk.Node, i, by int) bool {
	b, count := n.Bytes(), n.NrItems()
	low := lowest(n)
	if by > low-ondisk.HeaderSize-count*ondisk.ItemSize {
		return false
	}
	end := int(n.Item(i).Addr()-n.Addr()) + n.Item(i).Len()
	if by < 0 {
		end += by
		copy(b[low-by:end-by], b[low:end])
		clear(b[low : low-by])
	} else {
		copy(b[low-by:end-by], b[low:end])
		clear(b[end-by : end])
	}
	for j := i; j < count; j++ {
		at := ondisk.HeaderSize + j*ondisk.ItemSize + ondisk.ItemOffsetAt
		binary.LittleEndian.PutUint32(b[at:], uint32(int(binary.LittleEndian.Uint32(b[at:]))-by))
	}
	at := ondisk.HeaderSize + i*ondisk.ItemSize + ondisk.ItemSizeAt
	binary.LittleEndian.PutUint32(b[at:], uint32(int(binary.LittleEndian.Uint32(b[at:]))+by))
	return true
}

// lowest returns the offset in a leaf at which the data of its items begins.
func lowest(n *ondisk.Node) int {
	if n.NrItems() == 0 {
		return n.Region().Len()
	}
	return int(n.Item(n.NrItems()-1).Addr() - n.Addr())
}
