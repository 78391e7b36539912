/** Greets every Namespace with a label. `npm start` runs it on the cluster that kubectl would use. */
import { type Namespace, namespace } from '@kruise/api/core/namespace';
import { patch } from '@kruise/client/actions';
import { type Decision, defineController } from '@kruise/client/controller';
import { run } from '@kruise/client/run';

/** Decides the actions for a Namespace. A pure function, so that tests need no cluster. */
export function decide(found: Namespace): Decision<Namespace['status']> {
  const isGreeted = found.metadata.labels?.['example.com/hello'] === 'world';
  return { actions: isGreeted ? [] : [patch(found, { metadata: { labels: { 'example.com/hello': 'world' } } })] };
}

export const greeter = defineController({
  name: 'greeter',
  for: namespace,
  observe: (caches, key) => caches.of(namespace).get(key),
  decide,
});

if (import.meta.main) await run([greeter]);
