package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
)

const contentBytes = 100

// As long as the load of the driver may have on its way: by default 32 wait, and what is more is dropped.
const queueSize = 4096

type options struct {
	Nodes   int `json:"nodes"`
	Variant struct {
		Degree int  `json:"degree"`
		Signed bool `json:"signed"`
	} `json:"variant"`
}

type node struct {
	host  host.Host
	topic *pubsub.Topic
	mesh  *meshTracer
}

// Nodes that are connected to one another, each over TCP, Noise and Yamux; each picks its mesh among them.
type network struct {
	options    options
	nodes      []*node
	duplicates atomic.Int64
	context    context.Context
	cancel     context.CancelFunc
}

func startNetwork(given options, onDelivery func(number uint32)) (*network, error) {
	ctx, cancel := context.WithCancel(context.Background())
	net := &network{options: given, context: ctx, cancel: cancel}
	for len(net.nodes) < given.Nodes {
		isSubscriber := len(net.nodes) > 0
		one, err := net.startNode(func(number uint32) {
			if isSubscriber {
				onDelivery(number)
			}
		})
		if err != nil {
			return nil, err
		}
		net.nodes = append(net.nodes, one)
	}
	least := int64(min(given.Variant.Degree-1, given.Nodes-1))
	for waited := 0; waited < 1500; waited++ {
		settled := true
		for _, one := range net.nodes {
			settled = settled && one.mesh.peers.Load() >= least
		}
		if settled {
			return net, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, fmt.Errorf("the mesh took more than 30 s")
}

// Starts a node that is connected to all before it.
func (net *network) startNode(onMessage func(number uint32)) (*node, error) {
	own, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Security(noise.ID, noise.New), libp2p.DisableRelay())
	if err != nil {
		return nil, err
	}
	mesh := &meshTracer{duplicates: &net.duplicates}
	router, err := pubsub.NewGossipSub(net.context, own, net.settings(mesh)...)
	if err != nil {
		return nil, err
	}
	topic, err := router.Join("bench")
	if err != nil {
		return nil, err
	}
	subscription, err := topic.Subscribe(pubsub.WithBufferSize(queueSize))
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			message, err := subscription.Next(net.context)
			if err != nil {
				return
			}
			onMessage(binary.BigEndian.Uint32(message.Data))
		}
	}()
	for _, other := range net.nodes {
		info := peer.AddrInfo{ID: other.host.ID(), Addrs: other.host.Addrs()}
		if err := own.Connect(net.context, info); err != nil {
			return nil, err
		}
	}
	return &node{host: own, topic: topic, mesh: mesh}, nil
}

func (net *network) settings(mesh *meshTracer) []pubsub.Option {
	parameters := pubsub.DefaultGossipSubParams()
	if net.options.Variant.Degree == 4 {
		parameters.D, parameters.Dlo, parameters.Dhi, parameters.Dscore, parameters.Dout = 4, 3, 8, 3, 1
	}
	settings := []pubsub.Option{
		pubsub.WithGossipSubParams(parameters),
		pubsub.WithRawTracer(mesh),
		pubsub.WithPeerOutboundQueueSize(queueSize),
		pubsub.WithValidateQueueSize(queueSize),
		pubsub.WithMessageSignaturePolicy(pubsub.StrictSign),
	}
	if net.options.Variant.Signed {
		return settings
	}
	digest := func(message *pb.Message) string {
		sum := sha256.Sum256(message.Data)
		return string(sum[:])
	}
	return append(settings, pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign), pubsub.WithNoAuthor(), pubsub.WithMessageIdFn(digest))
}

func (net *network) publish(number uint32) error {
	content := make([]byte, contentBytes)
	binary.BigEndian.PutUint32(content, number)
	return net.nodes[0].topic.Publish(net.context, content)
}

func (net *network) stop() {
	net.cancel()
	for _, one := range net.nodes {
		one.host.Close()
	}
}

// Counts the peers in the mesh of a node, and the copies that came again.
type meshTracer struct {
	nothing
	peers      atomic.Int64
	duplicates *atomic.Int64
}

func (mesh *meshTracer) Graft(peer.ID, string)            { mesh.peers.Add(1) }
func (mesh *meshTracer) Prune(peer.ID, string)            { mesh.peers.Add(-1) }
func (mesh *meshTracer) DuplicateMessage(*pubsub.Message) { mesh.duplicates.Add(1) }

// What a tracer must have, and this one does not use.
type nothing struct{}

func (nothing) OnNewOutboundStream(peer.ID, protocol.ID)             {}
func (nothing) OnClosedOutboundStream(peer.ID)                       {}
func (nothing) Join(string)                                          {}
func (nothing) Leave(string)                                         {}
func (nothing) ValidateMessage(*pubsub.Message)                      {}
func (nothing) DeliverMessage(*pubsub.Message)                       {}
func (nothing) RejectMessage(*pubsub.Message, string)                {}
func (nothing) ThrottlePeer(peer.ID)                                 {}
func (nothing) RecvRPC(*pubsub.RPC)                                  {}
func (nothing) SendRPC(*pubsub.RPC, peer.ID)                         {}
func (nothing) SendRPCCompleted(*pubsub.RPC, peer.ID, time.Duration) {}
func (nothing) DropRPC(*pubsub.RPC, peer.ID)                         {}
func (nothing) UndeliverableMessage(*pubsub.Message)                 {}
