/** The static types of kinds. */
import type { Kind, KubernetesObject, Metadata, ObjectOf } from '@kruise/schema/kind';
import type { Equal, Expect, Flatten } from '@kruise/values/testing/types';
import { deployment } from '../apps/deployment.ts';
import { type ConfigMap, configMap } from '../core/configmap.ts';
import { type Pod, pod } from '../core/pod.ts';
import type { ObjectMeta } from './object-meta.ts';

export type Tests = [
  // The metadata of all kinds has the fields that the schema defines.
  Expect<Equal<Flatten<ObjectMeta>, Flatten<Metadata>>>,
  Expect<Equal<ObjectOf<typeof pod>, Pod>>,
  Expect<Equal<ObjectOf<typeof configMap>['data'], ConfigMap['data']>>,
  Expect<Equal<ConfigMap['data'], { readonly [key: string]: string } | undefined>>,
  Expect<Equal<NonNullable<ObjectOf<typeof deployment>['spec']>['replicas'], number | undefined>>,
  Expect<ObjectOf<typeof deployment> extends KubernetesObject ? true : false>,
];

/** Every kind is a `Kind`, so lists of kinds need no casts. */
export const kinds: readonly Kind[] = [pod, deployment, configMap];

/** A Pod is no Deployment. */
export function mistakes(object: Pod): void {
  // @ts-expect-error: the spec of a Pod is not that of a Deployment.
  const wrong: ObjectOf<typeof deployment> = object;
  void wrong;
}
