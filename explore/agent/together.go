package agent

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Together performs two operations at the same time, each in a thread of its own. Neither is Open,
// Close or Together: the slots belong to both. Both reads the operation, and BothResults its Data.
func Together(first, second Op) Op {
	return Op{Code: opTogether, data: second.append(first.append(nil))}
}

// Both returns the operations of Together. ok is false for any other operation, and for one that
// Together does not accept.
func (o Op) Both() (first, second Op, ok bool) {
	if o.Code != opTogether {
		return first, second, false
	}
	d := decoder{b: o.data}
	first, second = d.op(), d.op()
	if d.finish("operations") != nil {
		return Op{}, Op{}, false
	}
	for _, o := range []*Op{&first, &second} {
		if o.Code == opOpen || o.Code == opClose || o.Code == opTogether || o.Code >= opDiskMake {
			return Op{}, Op{}, false
		}
	}
	return first, second, true
}

// EncodeBoth returns the Data that BothResults decodes.
func EncodeBoth(first, second Result) []byte {
	d := Done{Results: []Result{first, second}}
	return d.encode()
}

// BothResults decodes the Data of Together: the results of both operations.
func BothResults(data []byte) (first, second Result, err error) {
	d, err := decodeDone(data)
	if err == nil && len(d.Results) != 2 {
		err = errShort
	}
	if err != nil {
		return first, second, err
	}
	return d.Results[0], d.Results[1], nil
}

// together performs Together.
func (p *performer) together(o *Op) ([]byte, error) {
	first, second, ok := o.Both()
	if !ok {
		return nil, unix.EINVAL
	}
	var results [2]Result
	var begin, end sync.WaitGroup
	begin.Add(2)
	end.Add(2)
	for i, o := range []*Op{&first, &second} {
		go func() {
			defer end.Done()
			runtime.LockOSThread() // the goroutine's end ends the thread: no state is left
			begin.Done()
			begin.Wait()
			value, data, err := p.do(o)
			results[i] = Result{Errno: errnoOf(err), Value: value, Data: data}
		}()
	}
	end.Wait()
	return EncodeBoth(results[0], results[1]), nil
}
