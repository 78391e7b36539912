/** Greets every Namespace with a label. Run it with `node examples/hello-world.ts`. */
import { namespace } from '@kruise/api/core/namespace';
import { patch } from '@kruise/client/actions';
import { defineController } from '@kruise/client/controller';
import { run } from '@kruise/client/run';

export const greeter = defineController({
  name: 'greeter',
  for: namespace,
  observe: (caches, key) => caches.of(namespace).get(key),
  decide(found) {
    const isGreeted = found.metadata.labels?.['example.com/hello'] === 'world';
    return { actions: isGreeted ? [] : [patch(found, { metadata: { labels: { 'example.com/hello': 'world' } } })] };
  },
});

if (import.meta.main) await run([greeter]);
