/**
 * cloud-controller-manager: controllers that integrate a cluster with its cloud provider. It is a separate program from
 * kube-controller-manager because cloud providers ship their own.
 */
import type { Client } from '@kruise/client/client';
import type { Controller, Runnable } from '@kruise/client/controller';
import { type RunOptions, runControllers } from '@kruise/client/manager';
import { cloudNodeController } from './node/controller.ts';
import { cloudNodeLifecycleController } from './node-lifecycle/controller.ts';
import type { CloudProvider } from './provider.ts';
import { routeController } from './route/controller.ts';
import { cloudServiceController } from './service/controller.ts';

export type CloudControllerManagerOptions = Omit<RunOptions, 'clientFor'> & {
  readonly provider: CloudProvider;
  /** Returns the client of a ServiceAccount in `kube-system`. */
  readonly clientOf: (serviceAccount: string) => Client;
  /** Pod CIDRs of the cluster. The route controller runs only if they are set. */
  readonly clusterRanges?: readonly string[];
  /** Controllers to run: `*` enables all, `name` enables one, `-name` disables one. */
  readonly controllers?: readonly string[];
};

type Entry = {
  readonly name: string;
  readonly serviceAccount: string;
  /** Creates the controller; undefined if the provider does not implement the required interface. */
  readonly make: (options: CloudControllerManagerOptions) => Controller | Runnable | undefined;
};

const entries: readonly Entry[] = [
  {
    name: 'cloud-node-controller',
    serviceAccount: 'node-controller',
    make: ({ provider: { instances } }) => instances && cloudNodeController(instances),
  },
  {
    name: 'cloud-node-lifecycle-controller',
    serviceAccount: 'node-controller',
    make: ({ provider: { instances } }) => instances && cloudNodeLifecycleController(instances),
  },
  {
    name: 'node-route-controller',
    serviceAccount: 'route-controller',
    make: ({ provider: { routes }, clusterRanges }) =>
      routes && clusterRanges && routeController(routes, clusterRanges),
  },
  {
    name: 'service-lb-controller',
    serviceAccount: 'service-controller',
    make: ({ provider: { loadBalancers } }) => loadBalancers && cloudServiceController(loadBalancers),
  },
];

export async function runCloudControllerManager(
  options: CloudControllerManagerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { provider: _provider, clientOf, clusterRanges: _ranges, controllers: wanted = ['*'], ...runOptions } = options;
  const accounts = new Map<Controller | Runnable, string>();
  for (const { name, serviceAccount, make } of entries) {
    const isWanted = wanted.includes(name) || (wanted.includes('*') && !wanted.includes(`-${name}`));
    const made = isWanted ? make(options) : undefined;
    if (made)
      accounts.set('run' in made ? made : { ...made, fieldManager: 'cloud-controller-manager' }, serviceAccount);
  }
  // Only the controllers that were just created run.
  const clientFor = (controller: Controller | Runnable) => clientOf(accounts.get(controller)!);
  await runControllers([...accounts.keys()], { ...runOptions, clientFor }, signal);
}

/** Returns the requested controller names that do not exist. */
export function unknownCloudControllers(wanted: readonly string[]): readonly string[] {
  const names = new Set(entries.map(({ name }) => name));
  return wanted.map((each) => each.replace(/^-/, '')).filter((name) => name !== '*' && !names.has(name));
}
