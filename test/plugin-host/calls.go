package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/vault/sdk/logical"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// bytesCodec sends and receives messages as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string                       { return "proto" }
func (bytesCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = slices.Clone(data); return nil }

// call sends any bytes to any method of the plugin, with any mounts named in the metadata; the answer is gRPC's own.
func (h *host) call(ctx context.Context, o *order) (any, error) {
	h.catalog.mu.Lock()
	process := h.catalog.process
	h.catalog.mu.Unlock()
	if process == nil {
		return nil, errors.New("no process")
	}
	for _, id := range o.Mounts {
		ctx = metadata.AppendToOutgoingContext(ctx, "multiplex_id", id)
	}
	sent := slices.Repeat(o.Bytes, max(1, o.Repeats))
	var reply []byte
	err := process.protocol.Conn.Invoke(ctx, o.Method, &sent, &reply, grpc.ForceCodec(bytesCodec{}), grpc.MaxCallSendMsgSize(1<<31-1))
	state, _ := status.FromError(err)
	return map[string]any{"code": state.Code().String(), "message": state.Message(), "bytes": reply}, nil
}

// load repeats one request from several clients at once, as fast as answers come.
func (m *mount) load(o *order) (any, error) {
	var done, failed atomic.Int64
	var first atomic.Value
	latencies := make([][]time.Duration, o.Clients)
	begin := time.Now()
	end := begin.Add(time.Duration(o.Seconds * float64(time.Second)))
	var clients sync.WaitGroup
	for client := range o.Clients {
		clients.Go(func() {
			for time.Now().Before(end) {
				started := time.Now()
				response, err := m.handle(context.Background(), &logical.Request{ID: "7c1f3a52-0f6e-4d0c-9a3e-0a6f1d2b3c4d", Operation: logical.Operation(o.Operation), Path: o.Path, Data: o.Data})
				if err != nil || response == nil || response.IsError() || response.Secret == nil {
					failed.Add(1)
					first.CompareAndSwap(nil, fmt.Sprint(err, response))
					continue
				}
				done.Add(1)
				latencies[client] = append(latencies[client], time.Since(started))
			}
		})
	}
	clients.Wait()
	all := slices.Concat(latencies...)
	slices.Sort(all)
	quantile := func(q float64) float64 {
		if len(all) == 0 {
			return 0
		}
		return float64(all[int(q*float64(len(all)-1))].Microseconds()) / 1000
	}
	return map[string]any{"done": done.Load(), "failed": failed.Load(), "first_failure": first.Load(), "seconds": time.Since(begin).Seconds(), "p50_ms": quantile(0.5), "p99_ms": quantile(0.99)}, nil
}
