/** Pods for the tests in this folder: decoded and defaulted, as validation gets them. */
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import { defaultPod } from './pod.default.ts';
import { type Pod, pod as podKind } from './pod.ts';

export type Json = { readonly [key: string]: unknown };

/** Returns a valid Pod with one container, with the given changes. */
export function somePod(spec: Json = {}, rest: { readonly metadata?: Json; readonly status?: Json } = {}): Pod {
  const metadata = { name: 'one', namespace: 'default', resourceVersion: '1', generation: 1, ...rest.metadata };
  const draft = codecOf(podKind.root).fromJson({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers: [{ name: 'main', image: 'nginx:1' }], ...spec },
    ...(rest.status ? { status: rest.status } : {}),
  }) as Draft<Pod>;
  defaultPod(draft);
  return codecOf(podKind.root).canonical(draft);
}

/** Returns a valid Pod whose only container has additional fields. */
export function withContainer(container: Json, spec: Json = {}): Pod {
  return somePod({ ...spec, containers: [{ name: 'main', image: 'nginx:1', ...container }] });
}

/** Returns a valid Pod with one volume, which its container mounts. */
export function withVolume(source: Json): Pod {
  const volumes = [{ name: 'data', ...source }];
  return withContainer({ volumeMounts: [{ name: 'data', mountPath: '/data' }] }, { volumes });
}

/** Formats errors as clients see them. */
export function formatErrors(causes: Iterable<Cause>): readonly string[] {
  return [...causes].map(({ field, message }) => `${field}: ${message}`);
}
