package main

import (
	"context"
	"sync/atomic"

	"github.com/hashicorp/vault/sdk/logical"
)

// storage is in memory, and refuses writes as a standby does when told to.
type storage struct {
	logical.InmemStorage
	readOnly atomic.Bool
	calls    atomic.Int64
	// Keys that came with the wish for seal wrap.
	wrapped atomic.Int64
}

func newStorage() *storage { return &storage{} }

func (s *storage) Get(ctx context.Context, key string) (*logical.StorageEntry, error) {
	s.calls.Add(1)
	return s.InmemStorage.Get(ctx, key)
}

func (s *storage) List(ctx context.Context, prefix string) ([]string, error) {
	s.calls.Add(1)
	return s.InmemStorage.List(ctx, prefix)
}

func (s *storage) Put(ctx context.Context, entry *logical.StorageEntry) error {
	s.calls.Add(1)
	if s.readOnly.Load() {
		return logical.ErrReadOnly
	}
	if entry.SealWrap {
		s.wrapped.Add(1)
	}
	return s.InmemStorage.Put(ctx, entry)
}

func (s *storage) Delete(ctx context.Context, key string) error {
	s.calls.Add(1)
	if s.readOnly.Load() {
		return logical.ErrReadOnly
	}
	return s.InmemStorage.Delete(ctx, key)
}
