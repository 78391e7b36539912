/** CSI drivers of a node: those that have registered, and the volumes that they serve. */
import type { Log } from '@kruise/client/log';
import { type CsiClient, createCsiClient } from './csi-client.ts';
import { publishDriver, withdrawDriver } from './csi-node.ts';
import { type CsiVolumes, type CsiVolumesContext, createCsiVolumes } from './csi-volumes.ts';
import { type PluginRegistryContext, startPluginRegistry } from './plugin-registry.ts';

/** Dependencies of the drivers. */
export type CsiDriversContext = Omit<CsiVolumesContext, 'driver'> &
  Pick<PluginRegistryContext, 'clock'> & {
    readonly log: Log;
    /** Resolves once the Node exists: drivers are registered at it. */
    readonly registered: () => Promise<void>;
    /** Called when a driver has registered. */
    readonly onRegister: () => void;
  };

/** Serves the CSI drivers of this machine until the signal is aborted. */
export function startCsiDrivers(context: CsiDriversContext, signal: AbortSignal): CsiVolumes {
  const { client, clock, files, log, nodeName, rootDirectory, registered, onRegister } = context;
  type Driver = { readonly endpoint: string; readonly client: CsiClient };
  const drivers = new Map<string, Driver>();

  async function start(): Promise<void> {
    await volumes.load();
    await registered();
    if (signal.aborted) return;
    await startPluginRegistry(
      {
        clock,
        files,
        log,
        directory: `${rootDirectory}/plugins_registry`,
        async onRegister({ name, endpoint }) {
          const driver = createCsiClient(clock, endpoint);
          try {
            const { nodeId, maxVolumesPerNode, accessibleTopology } = await driver.info();
            const maxVolumes = Number(maxVolumesPerNode);
            const topology = accessibleTopology?.segments ?? {};
            await publishDriver(client, nodeName, { name, nodeId, maxVolumes, topology });
          } catch (error) {
            driver.close();
            throw error;
          }
          drivers.get(name)?.client.close();
          drivers.set(name, { endpoint, client: driver });
          log.info({ driver: name, endpoint }, 'registered CSI driver');
          onRegister();
        },
        async onDeregister({ name, endpoint }) {
          const known = drivers.get(name);
          // An updated driver has another socket, which was registered before the old one was removed.
          if (known?.endpoint !== endpoint) return;
          known.client.close();
          drivers.delete(name);
          await withdrawDriver(client, nodeName, name);
        },
      },
      signal,
    );
  }

  const volumes = createCsiVolumes({ ...context, driver: (name) => drivers.get(name)?.client });
  void start().catch((error: unknown) => log.warn({ error }, 'failed to start plugin registry'));
  signal.addEventListener('abort', () => {
    for (const { client: driver } of drivers.values()) driver.close();
  });
  return volumes;
}
