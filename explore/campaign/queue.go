package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A State says whether workers take units of a campaign.
type State string

// The states of campaigns.
const (
	Running  State = "running"
	Paused   State = "paused"
	Canceled State = "canceled"
)

// A Record is a campaign as the server keeps it.
type Record struct {
	Definition Definition `json:"definition"`
	State      State      `json:"state"`
	// Submitted says that all units were put into the queue.
	Submitted bool   `json:"submitted"`
	Made      string `json:"made"` // when it began, RFC 3339
}

func (r *Record) check() error {
	if r.State != Running && r.State != Paused && r.State != Canceled {
		return fmt.Errorf("the state %.20q", r.State)
	}
	if _, err := time.Parse(time.RFC3339, r.Made); err != nil {
		return err
	}
	return r.Definition.check()
}

// bucketName is the bucket with the records of all campaigns of a server.
const bucketName = "fsward-campaigns"

// maxPulls is the number of workers that may wait for a unit of one campaign.
const maxPulls = 1 << 16

// An Option describes the streams of a new campaign. The zero value selects the defaults.
type Option struct {
	Replicas int // copies that a cluster keeps; 0: one
	// Lease is how long a unit is kept for a worker that is silent; 0: 30 s.
	Lease time.Duration
	// Files bounds the space of findings' files, in bytes; 0: 1 GiB.
	Files int64
}

func (o Option) withDefaults() Option {
	if o.Replicas == 0 {
		o.Replicas = 1
	}
	if o.Lease == 0 {
		o.Lease = 30 * time.Second
	}
	if o.Files == 0 {
		o.Files = 1 << 30
	}
	return o
}

// A Queue is a campaign on a server.
type Queue struct {
	Definition Definition
	digest     string
	lease      time.Duration

	client   *Client
	records  jetstream.KeyValue
	units    jetstream.Stream
	consumer jetstream.Consumer
	results  jetstream.Stream
	findings jetstream.KeyValue
	attempts jetstream.KeyValue
	kept     jetstream.KeyValue // the tally
	files    jetstream.ObjectStore
}

// Names of what a campaign has on the server.
func unitsStream(name string) string   { return "fsward-units-" + name }
func resultsStream(name string) string { return "fsward-results-" + name }
func findingsName(name string) string  { return "fsward-findings-" + name }
func attemptsName(name string) string  { return "fsward-attempts-" + name }
func tallyName(name string) string     { return "fsward-tally-" + name }
func filesName(name string) string     { return "fsward-files-" + name }

// Subjects of a campaign's messages.
func unitSubject(name, id string) string       { return "fsward.units." + name + "." + id }
func resultSubject(name, id string) string     { return "fsward.results." + name + "." + id }
func differenceSubject(name, id string) string { return "fsward.differences." + name + "." + id }

// consumerName is the consumer that all workers of a campaign share.
const consumerName = "workers"

// ErrNone means that a server has no campaign, or none of a name.
var ErrNone = errors.New("there is no such campaign")

// bucket returns the bucket with the records.
func (c *Client) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	kv, err := c.js.KeyValue(ctx, bucketName)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		err = ErrNone
	}
	return kv, err
}

// List returns the records of the campaigns of a server, in the order of their names. Those that
// cannot be read are left out; the error says which.
func (c *Client) List(ctx context.Context) (list []Record, bad error, err error) {
	kv, err := c.bucket(ctx)
	if errors.Is(err, ErrNone) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	keys, err := kv.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(keys)
	for _, name := range keys {
		entry, err := kv.Get(ctx, name)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		r, err := decodeRecord(entry)
		if err != nil {
			bad = errors.Join(bad, fmt.Errorf("the campaign %.40q: %w", name, err))
			continue
		}
		list = append(list, r)
	}
	return list, bad, nil
}

// decodeRecord reads a record. Its key is the name of the campaign.
func decodeRecord(entry jetstream.KeyValueEntry) (r Record, err error) {
	if err = decode(entry.Value(), &r); err == nil && r.Definition.Name != entry.Key() {
		err = fmt.Errorf("it has the name %.40q", r.Definition.Name)
	}
	return r, err
}

// Create makes a campaign, and nothing of its units: Submit does. If the server has the same
// campaign already, Create returns it; another one of the same name is an error.
func (c *Client) Create(ctx context.Context, d Definition, o Option) (*Queue, error) {
	o = o.withDefaults()
	records, err := c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucketName,
		MaxValueSize: maxMessage, Replicas: o.Replicas, Description: "campaigns of fsward"})
	if err != nil {
		return nil, fmt.Errorf("the campaigns of the server: %w", err)
	}
	text, err := encode(&Record{Definition: d, State: Running,
		Made: time.Now().UTC().Format(time.RFC3339)})
	if err != nil {
		return nil, err
	}
	if err := c.makeStreams(ctx, d.Name, o); err != nil {
		return nil, fmt.Errorf("the streams of the campaign %s: %w", d.Name, err)
	}
	if _, err := records.Create(ctx, d.Name, text); err != nil {
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return nil, err
		}
		r, err := c.record(ctx, d.Name)
		if err != nil {
			return nil, err
		}
		if r.Definition.Digest() != d.Digest() {
			return nil, fmt.Errorf("there is another campaign %s; choose another --name", d.Name)
		}
	}
	return c.Open(ctx, d.Name)
}

// makeStreams makes the streams of a campaign that are missing. A stream that exists with other
// settings is an error.
func (c *Client) makeStreams(ctx context.Context, name string, o Option) error {
	units, err := c.js.CreateStream(ctx, jetstream.StreamConfig{Name: unitsStream(name),
		Subjects: []string{unitSubject(name, "*")}, Retention: jetstream.WorkQueuePolicy,
		// A unit that is queued is not queued again.
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		MaxMsgSize: maxMessage, Replicas: o.Replicas})
	if err == nil {
		_, err = units.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: consumerName,
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: o.Lease, MaxAckPending: -1,
			MaxWaiting: maxPulls})
	}
	if err == nil {
		_, err = c.js.CreateStream(ctx, jetstream.StreamConfig{Name: resultsStream(name),
			Subjects:    []string{resultSubject(name, "*"), differenceSubject(name, "*")},
			Compression: jetstream.S2Compression, MaxMsgSize: maxMessage, Replicas: o.Replicas,
			DenyDelete: true})
	}
	for bucket, bound := range map[string]int32{findingsName(name): maxMessage,
		attemptsName(name): maxMessage, tallyName(name): maxKept} {
		if err == nil {
			_, err = c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket,
				MaxValueSize: bound, Compression: true, Replicas: o.Replicas})
		}
	}
	if err == nil {
		_, err = c.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: filesName(name), MaxBytes: o.Files, Replicas: o.Replicas})
	}
	return err
}

// record returns the record of a campaign.
func (c *Client) record(ctx context.Context, name string) (r Record, err error) {
	r, _, err = c.recordAt(ctx, name)
	return r, err
}

// recordAt returns the record of a campaign and the revision of it.
func (c *Client) recordAt(ctx context.Context, name string) (r Record, at uint64, err error) {
	kv, err := c.bucket(ctx)
	if err != nil {
		return r, 0, err
	}
	entry, err := kv.Get(ctx, name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		err = ErrNone
	}
	if err == nil {
		r, err = decodeRecord(entry)
	}
	if err != nil {
		return r, 0, fmt.Errorf("the campaign %s: %w", name, err)
	}
	return r, entry.Revision(), nil
}

// Find returns the campaign with a name. "" means the only campaign of the server.
func (c *Client) Find(ctx context.Context, name string) (*Queue, error) {
	if name != "" {
		if err := CheckName(name); err != nil {
			return nil, err
		}
		return c.Open(ctx, name)
	}
	list, bad, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range list {
		names = append(names, r.Definition.Name)
	}
	switch {
	case len(list) == 0 && bad != nil:
		return nil, bad
	case len(list) == 0:
		return nil, ErrNone
	case len(list) > 1:
		return nil, fmt.Errorf("there are several campaigns: give --name, one of %s",
			strings.Join(names, ", "))
	}
	return c.Open(ctx, names[0])
}

// Open returns a campaign that exists.
func (c *Client) Open(ctx context.Context, name string) (*Queue, error) {
	r, err := c.record(ctx, name)
	if err != nil {
		return nil, err
	}
	q := &Queue{Definition: r.Definition, digest: r.Definition.Digest(), client: c}
	if q.records, err = c.bucket(ctx); err == nil {
		q.units, err = c.js.Stream(ctx, unitsStream(name))
	}
	if err == nil {
		q.consumer, err = q.units.Consumer(ctx, consumerName)
	}
	if err == nil {
		q.lease = q.consumer.CachedInfo().Config.AckWait
		q.results, err = c.js.Stream(ctx, resultsStream(name))
	}
	if err == nil {
		q.findings, err = c.js.KeyValue(ctx, findingsName(name))
	}
	if err == nil {
		q.attempts, err = c.js.KeyValue(ctx, attemptsName(name))
	}
	if err == nil {
		q.kept, err = c.js.KeyValue(ctx, tallyName(name))
	}
	if err == nil {
		q.files, err = c.js.ObjectStore(ctx, filesName(name))
	}
	if err != nil {
		return nil, fmt.Errorf("the campaign %s: %w", name, err)
	}
	return q, nil
}

// Record returns the present record of the campaign.
func (q *Queue) Record(ctx context.Context) (Record, error) {
	return q.client.record(ctx, q.Definition.Name)
}

// change changes the record of the campaign, unless another process has changed it: then again.
func (q *Queue) change(ctx context.Context, f func(*Record) error) error {
	for {
		r, at, err := q.client.recordAt(ctx, q.Definition.Name)
		if err != nil {
			return err
		}
		if err := f(&r); err != nil {
			return err
		}
		text, err := encode(&r)
		if err != nil {
			return err
		}
		_, err = q.records.Update(ctx, q.Definition.Name, text, at)
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return err
		}
	}
}

// SetState pauses, resumes or cancels the campaign. Workers finish the units that they have when it
// is paused, and end them when it is canceled. A canceled campaign stays so.
func (q *Queue) SetState(ctx context.Context, s State) error {
	err := q.change(ctx, func(r *Record) error {
		if r.State == Canceled && s != Canceled {
			return fmt.Errorf("the campaign %s is canceled", q.Definition.Name)
		}
		r.State = s
		return nil
	})
	if err != nil || s != Canceled {
		return err
	}
	return q.units.Purge(ctx)
}
