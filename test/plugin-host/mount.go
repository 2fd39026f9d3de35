package main

import (
	"context"
	"sync"

	"github.com/hashicorp/go-uuid"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
	sdk "github.com/hashicorp/vault/sdk/plugin"
)

const pluginName = "steward"

// mount is a mounted backend that is started again when its process has died, as a server does it.
type mount struct {
	catalog *catalog
	storage *storage
	path    string
	uuid    string

	mu      sync.RWMutex
	backend logical.Backend
}

func newMount(c *catalog, path string) (*mount, error) {
	id, err := uuid.GenerateUUID()
	if err != nil {
		return nil, err
	}
	m := &mount{catalog: c, path: path, uuid: id, storage: newStorage()}
	return m, m.open(context.Background())
}

func (m *mount) open(ctx context.Context) error {
	config := &logical.BackendConfig{
		StorageView: m.storage,
		Logger:      m.catalog.logger,
		System:      m.catalog,
		BackendUUID: m.uuid,
		Config:      map[string]string{"plugin_name": pluginName, "plugin_type": "secret", "plugin_version": ""},
	}
	backend, err := sdk.NewBackendV5(ctx, pluginName, consts.PluginTypeSecrets, "", m.catalog, config)
	if err != nil {
		return err
	}
	if err := backend.Setup(ctx, config); err != nil {
		backend.Cleanup(ctx)
		return err
	}
	if err := backend.Initialize(ctx, &logical.InitializationRequest{Storage: m.storage}); err != nil {
		backend.Cleanup(ctx)
		return err
	}
	m.backend = backend
	return nil
}

// gone tells an error of a process that has died from others.
func gone(err error) bool {
	return err != nil && err.Error() == sdk.ErrPluginShutdown.Error()
}

// with runs a call, and once more with a new process when the present one has died.
func (m *mount) with(ctx context.Context, call func(logical.Backend) error) error {
	m.mu.RLock()
	used := m.backend
	err := call(used)
	m.mu.RUnlock()
	if !gone(err) {
		return err
	}
	m.mu.Lock()
	if m.backend == used {
		used.Cleanup(ctx)
		if err := m.open(ctx); err != nil {
			m.mu.Unlock()
			return err
		}
	}
	m.mu.Unlock()
	m.mu.RLock()
	defer m.mu.RUnlock()
	return call(m.backend)
}

// handle does what a server does with a request; the operation is the one that policies would have seen.
func (m *mount) handle(ctx context.Context, request *logical.Request) (response *logical.Response, err error) {
	request.MountPoint = m.path
	request.Storage = m.storage
	if request.Operation == logical.CreateOperation || request.Operation == logical.UpdateOperation {
		var found, exists bool
		if err = m.with(ctx, func(b logical.Backend) (err error) { found, exists, err = b.HandleExistenceCheck(ctx, request); return }); err != nil {
			return nil, err
		}
		request.Operation = logical.UpdateOperation
		if found && !exists {
			request.Operation = logical.CreateOperation
		}
	}
	err = m.with(ctx, func(b logical.Backend) (err error) { response, err = b.HandleRequest(ctx, request); return })
	return response, err
}

func (m *mount) reload(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.backend.Cleanup(context.WithValue(ctx, sdk.ContextKeyPluginReload, "reload"))
	return m.open(ctx)
}

func (m *mount) close(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.backend.Cleanup(ctx)
}
