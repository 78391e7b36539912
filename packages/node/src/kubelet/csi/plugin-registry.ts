/**
 * Registration of plugins: a plugin puts a socket into the registry directory of the kubelet, which asks it for its
 * name and the endpoint of its service. The directory is polled: a missed notification must not hide a driver.
 */
import { createChannel } from '@kruise/client/grpc/channel';
import { methodOf } from '@kruise/client/grpc/method';
import type { Log } from '@kruise/client/log';
import { type Clock, every } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { HostFiles } from '../../cri/runtime.ts';
import { Registration } from './generated/registration_pb.ts';

/** A registered plugin. */
export type Plugin = { readonly name: string; readonly endpoint: string };

/** Dependencies of the registry. */
export type PluginRegistryContext = {
  readonly clock: Clock;
  readonly files: HostFiles;
  readonly log: Log;
  /** Directory of the registration sockets. */
  readonly directory: string;
  /** Called for a new plugin; a rejection is reported to the plugin, and retried. */
  readonly onRegister: (plugin: Plugin) => Promise<void>;
  /** Called when the socket of a plugin is gone. */
  readonly onDeregister: (plugin: Plugin) => Promise<void>;
};

type Entry = {
  /** Time of the socket: a restarted plugin has a new one. */
  readonly modifiedAt: Instant;
  plugin?: Plugin;
  failures: number;
  retryAt: Instant;
};

const pollMs = 1000;
const callTimeoutMs = 5000;
const firstRetryMs = 500;
const longestRetryMs = 122_000;
const maxDepth = 2;
const pluginType = 'CSIPlugin';

/** Watches the registry directory until the signal is aborted. */
export async function startPluginRegistry(context: PluginRegistryContext, signal: AbortSignal): Promise<void> {
  const { clock, files, log, directory, onRegister, onDeregister } = context;
  const entries = new Map<string, Entry>();
  let isPolling = false;

  async function socketsBelow(path: string, depth: number): Promise<readonly (readonly [string, Instant])[]> {
    const found: (readonly [string, Instant])[] = [];
    for (const name of await files.list(path)) {
      if (name.startsWith('.')) continue;
      const at = `${path}/${name}`;
      const stat = await files.stat(at);
      if (stat?.type === 'socket') found.push([at, stat.modifiedAt]);
      else if (stat?.type === 'directory' && depth > 1) found.push(...(await socketsBelow(at, depth - 1)));
    }
    return found;
  }

  async function register(socketPath: string, entry: Entry): Promise<void> {
    const channel = createChannel({ clock, targets: [{ socketPath }], connectTimeoutMs: callTimeoutMs });
    try {
      const { method } = Registration;
      const info = await channel.unary(methodOf(method.getInfo), {}, { timeoutMs: callTimeoutMs });
      // Other types of plugins have their own managers.
      if (info.type !== pluginType) return;
      const plugin = { name: info.name, endpoint: info.endpoint || socketPath };
      let error = '';
      try {
        checkPlugin(plugin, info.supportedVersions);
        await onRegister(plugin);
        entry.plugin = plugin;
      } catch (fault) {
        error = (fault as Error).message;
      }
      const status = { pluginRegistered: error === '', error };
      await channel.unary(methodOf(method.notifyRegistrationStatus), status, { timeoutMs: callTimeoutMs });
      if (error !== '') throw new Error(error);
    } finally {
      channel.close();
    }
  }

  async function deregister(socketPath: string, { plugin }: Entry): Promise<void> {
    if (plugin) await onDeregister(plugin);
    entries.delete(socketPath);
  }

  async function poll(): Promise<void> {
    const sockets = new Map(await socketsBelow(directory, maxDepth));
    for (const [path, entry] of entries) if (!sockets.has(path)) await deregister(path, entry);
    for (const [path, modifiedAt] of sockets) {
      if (signal.aborted) return;
      const known = entries.get(path);
      const entry = known?.modifiedAt === modifiedAt ? known : { modifiedAt, failures: 0, retryAt: 0 };
      entries.set(path, entry);
      if (entry.retryAt > clock.now()) continue;
      try {
        await register(path, entry);
        entry.retryAt = Number.POSITIVE_INFINITY;
      } catch (error) {
        entry.retryAt = clock.now() + Math.min(firstRetryMs * 2 ** entry.failures++, longestRetryMs);
        log.warn({ socket: path, error }, 'failed to register plugin');
      }
    }
  }

  async function pollOnce(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    try {
      await poll();
    } catch (error) {
      log.warn({ directory, error }, 'failed to read plugin registry');
    } finally {
      isPolling = false;
    }
  }

  await files.makeDirectory(directory, { mode: 0o750 });
  await pollOnce();
  every(clock, pollMs, () => void pollOnce(), signal);
}

const driverName = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$/;

/** Throws if a plugin is no CSI driver of version 1. Its name becomes a part of paths. */
export function checkPlugin({ name, endpoint }: Plugin, versions: readonly string[]): void {
  if (!driverName.test(name) || name.includes('..')) throw new Error(`invalid driver name ${JSON.stringify(name)}`);
  if (!endpoint.startsWith('/')) throw new Error(`endpoint ${JSON.stringify(endpoint)} is not an absolute path`);
  if (!versions.some((version) => /^v?1\./.test(version))) {
    throw new Error(`none of the CSI versions reported by this driver are supported: ${versions.join(', ')}`);
  }
}
