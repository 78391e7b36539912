/** The static types of a client: the kind determines the type of the objects. */
import { deployment } from '@kruise/api/apps/deployment';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { type Pod, pod } from '@kruise/api/core/pod';
import { eviction } from '@kruise/api/policy/eviction';
import type { Kind, KubernetesObject, ObjectOf } from '@kruise/schema/kind';
import type { Equal, Expect } from '@kruise/values/testing/types';
import type { Caches, Change, Informer } from '../cache/informer.ts';
import type { Client, List } from './client.ts';
import type { WatchEvent } from './transport.ts';

const reference = { namespace: 'default', name: 'a' };

/** Reads and writes return objects of the kind. */
export function results(client: Client) {
  return {
    get: client.get(pod, reference),
    list: client.list(pod),
    watch: client.watch(pod),
    created: client.create(configMap, { metadata: reference, data: { a: '1' } }),
    patched: client.patch(configMap, reference, {}, { type: 'merge' }),
    applied: client.apply(configMap, { metadata: reference }, { fieldManager: 'me' }),
  };
}
type Results = ReturnType<typeof results>;

/** Caches return objects of the kind. */
export function cached(caches: Caches) {
  return { one: caches.of(pod).get(reference), all: caches.of(pod).list(), informer: caches.informer(configMap) };
}
type Cached = ReturnType<typeof cached>;

export type Tests = [
  Expect<Equal<Results['get'], Promise<Pod>>>,
  Expect<Equal<Results['list'], Promise<List<Pod>>>>,
  Expect<Equal<Results['watch'], AsyncIterable<WatchEvent<Pod>>>>,
  Expect<Equal<Results['created'], Promise<ConfigMap>>>,
  Expect<Equal<Results['patched'], Promise<ConfigMap>>>,
  Expect<Equal<Results['applied'], Promise<ConfigMap>>>,
  Expect<Equal<Cached['one'], Pod | undefined>>,
  Expect<Equal<Cached['all'], readonly Pod[]>>,
  Expect<Equal<Cached['informer'], Informer<ConfigMap>>>,
  // A change of a Pod is a change of some object: mappers for all kinds accept it.
  Expect<Change<Pod> extends Change<KubernetesObject> ? true : false>,
];

/** Code for any kind reads metadata without a cast. */
export async function uidOf<K extends Kind>(client: Client, kind: K): Promise<string | undefined> {
  const found: ObjectOf<K> = await client.get(kind, reference);
  return found.metadata.uid;
}

/** Mistakes that the compiler finds. */
export function mistakes(client: Client, found: Pod): void {
  // @ts-expect-error: data is a map of strings.
  client.create(configMap, { metadata: reference, data: { a: 1 } });
  // @ts-expect-error: a Pod is no Deployment.
  client.update(deployment, found);
  // @ts-expect-error: a ConfigMap has no spec.
  client.create(configMap, { metadata: reference, spec: {} });
  // @ts-expect-error: a patch has a format.
  client.patch(pod, reference, {}, {});
  // @ts-expect-error: server-side apply needs a field manager.
  client.apply(pod, { metadata: reference }, {});
  // @ts-expect-error: an object has a name.
  client.get(pod, { namespace: 'default' });
  // @ts-expect-error: an Eviction has no spec.
  client.post(pod, reference, { name: 'eviction', kind: eviction }, { spec: {} });
}
