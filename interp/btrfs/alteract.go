package btrfs

import (
	"encoding/binary"
)

// An action changes more of an object than one member.
type action uint8

const (
	actDelete    action = iota + 1 // it is gone
	actDuplicate                   // it is there twice, under the same key
	actAdd                         // a copy stands behind it, under the next key
	actSwap                        // its contents and those of the next of its kind change places
	actSwapKeys                    // its key and the next change places
	actShrink                      // its last byte is gone
	actGrow                        // it has one byte more
)

var actionNames = [...]string{actDelete: "delete", actDuplicate: "duplicate", actAdd: "add", actSwap: "swap",
	actSwapKeys: "swapkeys", actShrink: "shrink", actGrow: "grow"}

// actions lists those of an object.
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

// act does the action at a place in a block.
func (s *alterSpec) act(n *node, slot int) (text string, ok bool) {
	step := itemSize
	if s.object.form == formPointer {
		step = ptrSize
	}
	switch s.action {
	case actSwapKeys:
		return "its key exchanged with the next", exchange(n, slot, slot+1, step, 0, keySize)
	case actSwap:
		if s.object.form == formPointer {
			return "its block exchanged with the next", exchange(n, slot, slot+1, step, keySize, ptrSize-keySize)
		}
		return "its contents exchanged with the next", swapData(n, slot)
	}
	if s.object.form == formPointer {
		return s.actPointer(n, slot)
	}
	if first := slot == 0 && n.nritems() > 1; s.action == actDelete && (first || n.nritems() < 2) {
		return "", false // what would show is that the parent's key is another
	}
	switch s.action {
	case actDelete:
		removeItem(n, slot)
		return "deleted", true
	case actDuplicate:
		return "there twice", copyItem(n, slot, n.key(slot))
	case actAdd:
		k := n.key(slot)
		k.offset++
		if k.offset == 0 || slot+1 < n.nritems() && k.compare(n.key(slot+1)) >= 0 {
			return "", false
		}
		return "a copy added as " + keyText(k), copyItem(n, slot, k)
	case actShrink:
		if n.item(slot).Len() == 0 {
			return "", false
		}
		return "its last byte cut off", resizeItem(n, slot, -1)
	default:
		return "a byte added", resizeItem(n, slot, 1)
	}
}

// actPointer deletes or duplicates a pointer of a node.
func (s *alterSpec) actPointer(n *node, slot int) (text string, ok bool) {
	b, count := n.r.Bytes(), n.nritems()
	at, end := headerSize+slot*ptrSize, headerSize+count*ptrSize
	if s.action == actDelete {
		if count < 2 {
			return "", false
		}
		copy(b[at:end-ptrSize], b[at+ptrSize:end])
		clear(b[end-ptrSize : end])
		count--
		text = "deleted"
	} else {
		if end+ptrSize > len(b) {
			return "", false
		}
		copy(b[at+ptrSize:end+ptrSize], b[at:end])
		count++
		text = "there twice"
	}
	binary.LittleEndian.PutUint32(b[96:], uint32(count))
	return text, true
}

// exchange makes n bytes at off in the heads of two neighbours change places.
func exchange(n *node, i, j, step, off, length int) bool {
	if j >= n.nritems() {
		return false
	}
	b := n.r.Bytes()
	p, q := b[headerSize+i*step+off:][:length], b[headerSize+j*step+off:][:length]
	same := true
	for k := range p {
		same = same && p[k] == q[k]
		p[k], q[k] = q[k], p[k]
	}
	return !same
}

// swapData exchanges the data of an item and of the next one in the leaf of its type and length.
func swapData(n *node, i int) bool {
	p := n.item(i).Bytes()
	for j := i + 1; j < n.nritems(); j++ {
		q := n.item(j).Bytes()
		if n.key(j).typ != n.key(i).typ || len(q) != len(p) || string(p) == string(q) {
			continue
		}
		for k := range p {
			p[k], q[k] = q[k], p[k]
		}
		return true
	}
	return false
}

// removeItem takes item i out of a leaf as btrfs_del_items does: the data of the items behind it moves
// up, and their headers with it.
func removeItem(n *node, i int) {
	b, count := n.r.Bytes(), n.nritems()
	if size := n.item(i).Len(); size > 0 {
		resizeItem(n, i, -size)
	}
	at, end := headerSize+i*itemSize, headerSize+count*itemSize
	copy(b[at:end-itemSize], b[at+itemSize:end])
	clear(b[end-itemSize : end])
	binary.LittleEndian.PutUint32(b[96:], uint32(count-1))
}

// copyItem puts a copy of item i behind it under a key; false if there is no room.
func copyItem(n *node, i int, k key) bool {
	b, count := n.r.Bytes(), n.nritems()
	data := append([]byte(nil), n.item(i).Bytes()...)
	at, end := headerSize+i*itemSize, headerSize+count*itemSize
	if lowest(n)-end < itemSize+len(data) {
		return false
	}
	copy(b[at+itemSize:end+itemSize], b[at:end])
	binary.LittleEndian.PutUint32(b[96:], uint32(count+1))
	head := b[at+itemSize:][:itemSize]
	binary.LittleEndian.PutUint64(head, k.objectid)
	head[8] = k.typ
	binary.LittleEndian.PutUint64(head[9:], k.offset)
	// The copy begins empty, where the item begins, and grows.
	binary.LittleEndian.PutUint32(head[keySize+4:], 0)
	if len(data) > 0 {
		resizeItem(n, i+1, len(data))
	}
	copy(n.item(i+1).Bytes(), data)
	return true
}

// resizeItem makes item i longer or shorter at its end by moving all data below that; false if there is
// no room.
func resizeItem(n *node, i, by int) bool {
	b, count := n.r.Bytes(), n.nritems()
	low := lowest(n)
	if by > low-headerSize-count*itemSize {
		return false
	}
	end := int(n.item(i).Addr()-n.addr()) + n.item(i).Len()
	if by < 0 {
		end += by
		copy(b[low-by:end-by], b[low:end])
		clear(b[low : low-by])
	} else {
		copy(b[low-by:end-by], b[low:end])
		clear(b[end-by : end])
	}
	for j := i; j < count; j++ {
		at := headerSize + j*itemSize + keySize
		binary.LittleEndian.PutUint32(b[at:], uint32(int(binary.LittleEndian.Uint32(b[at:]))-by))
	}
	at := headerSize + i*itemSize + keySize + 4
	binary.LittleEndian.PutUint32(b[at:], uint32(int(binary.LittleEndian.Uint32(b[at:]))+by))
	return true
}

// lowest is where the data of a leaf's items begins in it.
func lowest(n *node) int {
	if n.nritems() == 0 {
		return n.r.Len()
	}
	return int(n.item(n.nritems()-1).Addr() - n.addr())
}
