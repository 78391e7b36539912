import { type Pod, pod } from '@kruise/api/core/pod';
import { lifecycleStateLabel } from '@kruise/api/kruise/well-known';
import { createClient } from '@kruise/client/client';
import { startInformer } from '@kruise/client/informer';
import { after } from '@kruise/values/clock';
import { busy, hold } from './workloads.ts';
import type { Program } from './world.ts';

/** How long it takes to do what a Pod is held back for. */
const drainMs = 1000;

const off = (labels: object) => Object.fromEntries(Object.keys(labels).map((label) => [label, null]));

/** What is done to the labels of a Pod that waits in a state. */
const chores: { readonly [state: string]: object } = {
  PreparingDelete: off(hold),
  PreparingUpdate: off(busy),
  Updated: busy,
};

/** Someone who sees to Pods that are held back before they are deleted or updated, and lets them go. */
export const drainer: Program = {
  name: 'drainer',
  async run({ life, random, transportOf }) {
    const client = createClient(transportOf({ username: 'drainer', groups: ['system:masters'] }));
    const waiting = { labelSelector: `${lifecycleStateLabel} in (${Object.keys(chores).join()})` };
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
        // Whoever has changed the Pod meanwhile may have it wait for something else.
        const { resourceVersion } = found.metadata;
        const patch = { metadata: { uid, resourceVersion, labels: chores[state] } };
        try {
          return void (await client.patch(pod, { name, namespace }, patch, { type: 'merge' }));
        } catch {
          // Whatever kept it from being done, it is to be done.
        }
      }
    });
    // Who ends is started again.
    await new Promise<never>(() => {});
  },
};
