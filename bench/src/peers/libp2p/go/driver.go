package main

import (
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// These are the figures of bench/src/peers/driver.ts.
const (
	burst          = 64
	windowMessages = 128
	lostAfter      = 2 * time.Second
	quiet          = 200 * time.Millisecond
	joinEvery      = 5 * time.Millisecond
	lookEvery      = 5 * time.Millisecond
)

type figures struct {
	Published            int64   `json:"published"`
	Delivered            int64   `json:"delivered"`
	Lost                 int64   `json:"lost"`
	DeliveriesPerS       float64 `json:"deliveriesPerS"`
	CPUUsPerDelivery     float64 `json:"cpuUsPerDelivery"`
	DuplicatesPerMessage float64 `json:"duplicatesPerMessage"`
	P50Ms                float64 `json:"p50Ms,omitempty"`
	P99Ms                float64 `json:"p99Ms,omitempty"`
}

// Loads a network as the driver of the other systems loads theirs.
type driver struct {
	network   *network
	published int64
	delivered atomic.Int64
	// Where numbers of the running load begin: what is late from before is not counted.
	first  atomic.Int64
	room   chan struct{}
	lock   sync.Mutex
	sent   map[uint32]time.Time
	delays []float64
}

func startDriver(given options) (*driver, error) {
	own := &driver{room: make(chan struct{}, 1)}
	network, err := startNetwork(given, own.onDelivery)
	own.network = network
	return own, err
}

func (own *driver) subscribers() int64 { return int64(len(own.network.nodes) - 1) }

func (own *driver) onDelivery(number uint32) {
	now := time.Now()
	if int64(number) < own.first.Load() {
		return
	}
	own.delivered.Add(1)
	own.lock.Lock()
	if moment, isPaced := own.sent[number]; isPaced {
		own.delays = append(own.delays, now.Sub(moment).Seconds()*1000)
	}
	own.lock.Unlock()
	select {
	case own.room <- struct{}{}:
	default:
	}
}

func (own *driver) saturate(seconds float64) (figures, error) {
	return own.measure(func() error {
		length := time.Duration(seconds * float64(time.Second))
		end := time.Now().Add(length)
		over := time.After(length)
		for time.Now().Before(end) {
			if own.published+burst-own.delivered.Load()/own.subscribers() > windowMessages {
				select {
				case <-own.room:
				case <-over:
				}
				continue
			}
			for i := 0; i < burst; i++ {
				if err := own.publish(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (own *driver) paced(perS float64, seconds float64) (figures, error) {
	own.lock.Lock()
	own.sent, own.delays = map[uint32]time.Time{}, nil
	own.lock.Unlock()
	result, err := own.measure(func() error {
		start := time.Now()
		for i := 0; i < int(perS*seconds); i++ {
			time.Sleep(time.Until(start.Add(time.Duration(float64(i) / perS * float64(time.Second)))))
			own.lock.Lock()
			own.sent[uint32(own.first.Load()+own.published)] = time.Now()
			own.lock.Unlock()
			if err := own.publish(); err != nil {
				return err
			}
		}
		return nil
	})
	own.lock.Lock()
	defer own.lock.Unlock()
	sort.Float64s(own.delays)
	result.P50Ms, result.P99Ms = percentile(own.delays, 0.5), percentile(own.delays, 0.99)
	own.sent = nil
	return result, err
}

// Milliseconds from the start of one more subscriber to its first message.
func (own *driver) join() (float64, error) {
	start := time.Now()
	heard := make(chan time.Time, 1)
	failed := make(chan error, 1)
	go func() {
		_, err := own.network.startNode(func(uint32) {
			select {
			case heard <- time.Now():
			default:
			}
		})
		if err != nil {
			failed <- err
		}
	}()
	for {
		select {
		case moment := <-heard:
			return moment.Sub(start).Seconds() * 1000, nil
		case err := <-failed:
			return 0, err
		case <-time.After(joinEvery):
			if err := own.publish(); err != nil {
				return 0, err
			}
		}
	}
}

func (own *driver) publish() error {
	number := uint32(own.first.Load() + own.published)
	own.published++
	return own.network.publish(number)
}

func (own *driver) measure(load func() error) (figures, error) {
	own.first.Add(own.published)
	own.published = 0
	own.delivered.Store(0)
	cpu, start, duplicates := cpuUs(), time.Now(), own.network.duplicates.Load()
	if err := load(); err != nil {
		return figures{}, err
	}
	expected := own.published * own.subscribers()
	end := settle(func() bool { return own.delivered.Load() >= expected }, &own.delivered, lostAfter)
	settle(func() bool { return false }, &own.network.duplicates, quiet)
	delivered := own.delivered.Load()
	return figures{
		Published:            own.published,
		Delivered:            delivered,
		Lost:                 expected - delivered,
		DeliveriesPerS:       float64(delivered) / end.Sub(start).Seconds(),
		CPUUsPerDelivery:     (cpuUs() - cpu) / float64(delivered),
		DuplicatesPerMessage: float64(own.network.duplicates.Load()-duplicates) / float64(own.published),
	}, nil
}

// Waits until it is done, or nothing happens any more; returns the moment of the last progress.
func settle(isDone func() bool, progress *atomic.Int64, quietFor time.Duration) time.Time {
	last, moment := progress.Load(), time.Now()
	for !isDone() {
		time.Sleep(lookEvery)
		now := progress.Load()
		if now != last {
			last, moment = now, time.Now()
		} else if time.Since(moment) >= quietFor {
			return moment
		}
	}
	return time.Now()
}

func percentile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

func cpuUs() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1000
}
