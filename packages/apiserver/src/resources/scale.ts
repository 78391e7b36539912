import { type Scale, scale } from '@kruise/api/autoscaling/scale';
import type { LabelSelector } from '@kruise/api/meta/label-selector';
import { nonNegative } from '@kruise/api/meta/value.validate';
import { fieldPath } from '@kruise/machinery/field-set/field-path';
import { selectorOf, selectorOfLabels } from '@kruise/machinery/label-selector';
import { entriesAfterScale, scaleEntries } from '@kruise/machinery/server-side-apply/scale';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import type { KubeObject } from '../object.ts';
import type { Subresource } from '../resource.ts';
import { serializerOf } from './serializer.ts';

type Workload = {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: LabelSelector | { readonly [key: string]: string };
  };
  readonly status?: { readonly replicas?: number };
};

const serializer = serializerOf(scale, {});
const mergeType = mergeTypeOf(scale.root);
const tracked = {
  apiVersion: apiVersionOf(scale),
  kind: scale.kind,
  type: mergeType,
  empty: serializer.canonical({ apiVersion: apiVersionOf(scale), kind: scale.kind, metadata: {} }),
};

/** Creates the scale subresource of a built-in workload kind. */
export function scaleOf(kind: Kind): Subresource {
  // ReplicationController predates label selectors, and only has a map of labels.
  const selectorText = (selector: unknown) =>
    kind.kind === 'ReplicationController'
      ? selectorOfLabels((selector ?? {}) as { readonly [key: string]: string }).text
      : selectorOf(selector as LabelSelector | undefined).text;
  const apiVersion = apiVersionOf(kind);
  const paths = { [apiVersion]: fieldPath('spec', 'replicas') };
  return {
    type: 'view',
    kind: scale,
    verbs: ['get', 'patch', 'update'],
    serializer,
    mergeType,
    toView(object) {
      const { spec, status } = object as unknown as Workload;
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
      const shown = {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: { replicas: spec?.replicas ?? 0 },
        status: { replicas: status?.replicas ?? 0, selector: selectorText(spec?.selector) },
      };
      return serializer.canonical(shown as unknown as KubeObject);
    },
    write(view, object) {
      const replicas = (view as unknown as Scale).spec?.replicas ?? 0;
      return { ...object, spec: { ...(object.spec as object), replicas } };
    },
    *validate(view) {
      yield* nonNegative('spec.replicas', (view as unknown as Scale).spec?.replicas);
    },
    tracking: {
      tracked,
      toViewOwners: (entries) => scaleEntries(entries, paths) as typeof entries,
      toObjectOwners: ({ object, view }) =>
        entriesAfterScale({ parent: object, scale: view }, apiVersion, paths) as typeof object,
    },
  };
}
