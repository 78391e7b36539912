import { setTimeout as sleep } from 'node:timers/promises';
import { type ComponentName, componentNames } from '@kruise/cluster/component-names';
import { clusterGates } from '@kruise/cluster/feature-gates';
import { kruiseConverterOf } from '@kruise/cluster/kruise-kinds';
import { type ClusterOptions, runCluster } from '../cluster-command.ts';
import type { Plan } from '../cluster-components.ts';
import { parseRuntime } from '../machine/runtime-choice.ts';
import type { Prepared } from '../prepare.ts';

export type UpOptions = ClusterOptions & {
  /** Components that other processes provide. */
  readonly without?: readonly string[];
  readonly featureGates?: string;
  readonly nodes?: string;
  readonly sandboxImage: string;
  readonly registryMirror?: string;
};

/** Approximate time until a client that waited for the server sends its first request. */
const firstRequestMs = 20;

export function up(options: UpOptions, prepared: Prepared): Promise<number> {
  const runtime = parseRuntime(options.runtime ?? 'simulated');
  const plan: Plan = {
    without: componentsOf(options.without),
    gates: clusterGates(options.featureGates ?? ''),
    nodes: nodeCount(options.nodes ?? (runtime.kind === 'simulated' ? '3' : '0')),
    ...(runtime.kind === 'simulated'
      ? {}
      : {
          machine: {
            choice: runtime,
            sandboxImage: options.sandboxImage,
            ...(options.registryMirror === undefined ? {} : { registryMirror: options.registryMirror }),
          },
        }),
    bind: options.bind,
    isInMemory: options.memory ?? false,
    isShared: options.etcd !== undefined,
  };
  return runCluster(
    {
      name: 'up',
      // A kruise-manager in another process converts with its webhook, as its CRDs declare.
      ...(plan.without.includes('manager') ? {} : { converterOf: kruiseConverterOf }),
      async startClusterComponents(parts) {
        // Loading this code blocks the thread for as long as the start of the server took: clients that waited for the
        // server are answered first.
        await sleep(firstRequestMs);
        const { startClusterComponents } = await import('../cluster-components.ts');
        return startClusterComponents(plan, parts);
      },
      hint: 'Try: kubectl get nodes; kubectl create deployment web --image=nginx',
    },
    options,
    prepared,
  );
}

function nodeCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--nodes must be a number, not ${text}`);
  return Number(text);
}

function componentsOf(names: readonly string[] = []): readonly ComponentName[] {
  return names.map((name) => {
    const found = componentNames.find((each) => each === name);
    if (!found) throw new Error(`unknown component ${name}: use one of ${componentNames.join(', ')}`);
    return found;
  });
}
