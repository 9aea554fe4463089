package crash

// Bytes returns the memory of the pages that the log has changed and of the units in flight, bytes.
func (e *Enumerator) Bytes() uint64 { return e.bytes }

// Latest calls write with what is on the disk if no crash happens, in an order in which later calls
// replace earlier ones. A nil data stands for n zeros. It returns the first error of write.
func (e *Enumerator) Latest(write func(off, n uint64, data []byte) error) error {
	for number, p := range e.layer.pages {
		if err := write(number*PageSize, uint64(len(p.contents)), p.contents); err != nil {
			return err
		}
	}
	for _, u := range e.flight {
		for _, s := range u.spans {
			if err := write(s.off, s.len, s.data); err != nil {
				return err
			}
		}
	}
	return nil
}
