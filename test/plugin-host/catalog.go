package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/helper/pluginutil"
	"github.com/hashicorp/vault/sdk/logical"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// catalog starts plugins as the catalog of a server does: one process for all mounts of a plugin that supports it.
type catalog struct {
	logical.StaticSystemView
	runner *pluginutil.PluginRunner
	logger hclog.Logger
	// Several mounts share this one; nil before the first.
	mu      sync.Mutex
	process *process
}

type process struct {
	client   *plugin.Client
	protocol *plugin.GRPCClient
	mounts   map[string]bool
}

func newCatalog(runner *pluginutil.PluginRunner, logger hclog.Logger) *catalog {
	return &catalog{
		StaticSystemView: logical.StaticSystemView{DefaultLeaseTTLVal: 24 * time.Hour, MaxLeaseTTLVal: 48 * time.Hour, VersionString: "1.21.0"},
		runner:           runner,
		logger:           logger,
	}
}

func (c *catalog) LookupPluginVersion(context.Context, string, consts.PluginType, string) (*pluginutil.PluginRunner, error) {
	return c.runner, nil
}

func (c *catalog) VaultVersion(context.Context) (string, error) { return c.VersionString, nil }

// mountConn names the mount in the metadata of each call.
type mountConn struct {
	grpc.ClientConnInterface
	id string
}

func (m *mountConn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return m.ClientConnInterface.Invoke(metadata.AppendToOutgoingContext(ctx, pluginutil.MultiplexingCtxKey, m.id), method, args, reply, opts...)
}

type mountClient struct {
	plugin.ClientProtocol
	catalog *catalog
	process *process
	conn    *mountConn
}

func (m *mountClient) Conn() grpc.ClientConnInterface { return m.conn }

func (m *mountClient) Close() error {
	c := m.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(m.process.mounts, m.conn.id)
	if len(m.process.mounts) == 0 {
		m.process.client.Kill()
		if c.process == m.process {
			c.process = nil
		}
	}
	return nil
}

// Reload ends the process for all its mounts: each starts or shares another one at its next request.
func (m *mountClient) Reload() error {
	c := m.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == m.process {
		c.process = nil
	}
	m.process.client.Kill()
	return nil
}

func (c *catalog) NewPluginClient(ctx context.Context, config pluginutil.PluginClientConfig) (pluginutil.PluginClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil && c.process.client.Exited() {
		c.process = nil
	}
	running := c.process
	if running == nil {
		started, err := c.start(ctx, config)
		if err != nil {
			return nil, err
		}
		running = started
		if supported, err := pluginutil.MultiplexingSupported(ctx, started.protocol.Conn, config.Name); err != nil {
			started.client.Kill()
			return nil, err
		} else if supported {
			c.process = started
		}
	}
	id := rand.Text()[:10]
	running.mounts[id] = true
	return &mountClient{ClientProtocol: running.protocol, catalog: c, process: running, conn: &mountConn{running.protocol.Conn, id}}, nil
}

func (c *catalog) start(ctx context.Context, config pluginutil.PluginClientConfig) (*process, error) {
	client, err := c.runner.RunConfig(ctx,
		pluginutil.Runner(c),
		pluginutil.PluginSets(config.PluginSets),
		pluginutil.HandshakeConfig(config.HandshakeConfig),
		pluginutil.Logger(c.logger),
		pluginutil.MetadataMode(config.IsMetadataMode),
		pluginutil.AutoMTLS(config.AutoMTLS),
	)
	if err != nil {
		return nil, err
	}
	protocol, err := client.Client()
	if err != nil {
		client.Kill()
		return nil, err
	}
	over, ok := protocol.(*plugin.GRPCClient)
	if !ok {
		client.Kill()
		return nil, errors.New("the plugin does not speak gRPC")
	}
	if err := protocol.Ping(); err != nil {
		client.Kill()
		return nil, fmt.Errorf("ping: %w", err)
	}
	return &process{client: client, protocol: over, mounts: map[string]bool{}}, nil
}

// pid is 0 without a running process.
func (c *catalog) pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return 0
	}
	if config := c.process.client.ReattachConfig(); config != nil {
		return config.Pid
	}
	return 0
}
