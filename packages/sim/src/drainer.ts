import { type Pod, pod } from '@kruise/api/core/pod';
import { lifecycleStateLabel } from '@kruise/api/kruise/well-known';
import { createClient } from '@kruise/client/client';
import { startInformer } from '@kruise/client/informer';
import { after } from '@kruise/values/clock';
import { busy, hold } from './workloads.ts';
import type { Program } from './world.ts';

/** Time between the start of a lifecycle hook and its completion. */
const drainMs = 1000;

const off = (labels: object) => Object.fromEntries(Object.keys(labels).map((label) => [label, null]));

/** Label changes that complete the lifecycle hook of a Pod in a state. */
const labelPatches: { readonly [state: string]: object } = {
  PreparingDelete: off(hold),
  PreparingUpdate: off(busy),
  Updated: busy,
};

/** Completes the lifecycle hooks of Pods that are held back before their deletion or update. */
export const drainer: Program = {
  name: 'drainer',
  async run({ life, random, transportOf }) {
    const client = createClient(transportOf({ username: 'drainer', groups: ['system:masters'] }));
    const waiting = { labelSelector: `${lifecycleStateLabel} in (${Object.keys(labelPatches).join()})` };
    const pods = startInformer(client, life.clock, random, pod, waiting, life.stopping);
    const stateOf = ({ metadata }: Pod) => metadata.labels?.[lifecycleStateLabel] ?? '';
    pods.handle(async ({ type, object }) => {
      if (type === 'deleted') return;
      const { name = '', namespace = '', uid } = object.metadata;
      const state = stateOf(object);
      for (;;) {
        await after(life.clock, drainMs);
        const found = pods.get({ name, namespace });
        if (!found || found.metadata.uid !== uid || stateOf(found) !== state) return;
        // Optimistic concurrency: after another change, the Pod may wait for a different hook.
        const { resourceVersion } = found.metadata;
        const patch = { metadata: { uid, resourceVersion, labels: labelPatches[state] } };
        try {
          return void (await client.patch(pod, { name, namespace }, patch, { type: 'merge' }));
        } catch {
          // The patch is retried, whatever the error was.
        }
      }
    });
    // A program that returns is restarted, so this one never does.
    await new Promise<never>(() => {});
  },
};
