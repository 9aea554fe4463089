package overlay

// Keep copies what a range of the base holds, as far as the overlay does not have its own contents there. Called
// before each write to the base, it makes the overlay stay what the base was when the overlay was made, while the
// base goes on; ranges whose contents no longer matter can be left out.
func (d *Disk) Keep(off, n uint64) error {
	if err := d.bounds(off, n); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	// Whoever reads holds the lock until it is done, so that what it finds unchanged is read before the write.
	d.mu.Lock()
	defer d.mu.Unlock()
	for block := off / blockSize; block*blockSize < off+n; block++ {
		if d.has(block) {
			continue
		}
		if err := d.copyUp(block); err != nil {
			return err
		}
	}
	return nil
}
