/**
 * cloud-controller-manager: what joins a cluster to the cloud it is in. It is a program apart from kube-controller-manager
 * because clouds bring their own.
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
  /** The client of a ServiceAccount in `kube-system`. */
  readonly clientOf: (serviceAccount: string) => Client;
  /** The addresses Pods are given; routes are made where they are known. */
  readonly clusterRanges?: readonly string[];
  /** Which controllers run: `*` all, `name` this one, `-name` not this one. */
  readonly controllers?: readonly string[];
};

type Entry = {
  readonly name: string;
  readonly serviceAccount: string;
  /** The controller, if the provider has what it takes. */
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

/** Runs the controllers until the signal is aborted. */
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
  // What runs is what was just made.
  const clientFor = (controller: Controller | Runnable) => clientOf(accounts.get(controller)!);
  await runControllers([...accounts.keys()], { ...runOptions, clientFor }, signal);
}

/** The names of controllers that do not exist, of those asked for. */
export function unknownCloudControllers(wanted: readonly string[]): readonly string[] {
  const names = new Set(entries.map(({ name }) => name));
  return wanted.map((each) => each.replace(/^-/, '')).filter((name) => name !== '*' && !names.has(name));
}
