import { pod } from '@kruise/api/core/pod';
import { createClient } from '@kruise/client/client';
import { startInformer } from '@kruise/client/informer';
import { after } from '@kruise/values/clock';
import { hold } from './scenario.ts';
import type { Program } from './world.ts';

const never = new AbortController().signal;
const held = Object.keys(hold).join();
/** How long it takes to do what a Pod is held back for. */
const drainMs = 1000;

/** Someone who sees to Pods that are held back before they are deleted, and lets them go. */
export const drainer: Program = {
  name: 'drainer',
  async run({ life, random, transportOf }) {
    const client = createClient(transportOf({ username: 'drainer', groups: ['system:masters'] }));
    const waiting = { labelSelector: `lifecycle.apps.kruise.io/state=PreparingDelete,${held}` };
    const pods = startInformer(client, life.clock, random, pod, waiting, never);
    pods.handle(async ({ type, object }) => {
      if (type === 'deleted') return;
      const { name = '', namespace = '', uid } = object.metadata;
      await after(life.clock, drainMs);
      const letGo = { metadata: { uid, labels: Object.fromEntries(Object.keys(hold).map((label) => [label, null])) } };
      for (;;) {
        try {
          return void (await client.patch(pod, { name, namespace }, letGo, { type: 'merge' }));
        } catch {
          if (!pods.get({ name, namespace })) return;
          await after(life.clock, drainMs);
        }
      }
    });
    // Who ends is started again.
    await new Promise<never>(() => {});
  },
};
