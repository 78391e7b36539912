import type { CustomResourceSubresourceScale as ScalePaths } from '@kruise/api/apiextensions/customresourcedefinition';
import { type Scale, scale } from '@kruise/api/autoscaling/scale';
import { fieldPath } from '@kruise/machinery/field-set/field-path';
import { entriesAfterScale, type ReplicasPaths } from '@kruise/machinery/server-side-apply/scale';
import { badRequest, internalError } from '@kruise/machinery/status';
import { type Cause, invalid } from '@kruise/schema/field-error';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import type { KubeObject } from '../object.ts';
import type { Subresource } from '../resource.ts';
import { serializerOf } from '../resources/serializer.ts';
import type { CustomVersion } from './version.ts';

const serializer = serializerOf(scale, {});
const mergeType = mergeTypeOf(scale.root);
const maxInt32 = 2147483647;
/** Marks missing replicas: a patch that does not set them is rejected. */
const absentReplicas = -2147483648;

/** Creates the scale subresource of a custom resource from the paths in its definition. */
export function customScale(
  paths: ScalePaths,
  apiVersion: string,
  replicasPaths: ReplicasPaths,
): Extract<Subresource, { type: 'view' }> {
  const replicasPath = fieldsOf(paths.specReplicasPath);
  const show = (object: KubeObject, absent: number): KubeObject => {
    const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
    const selector = paths.labelSelectorPath ? valueAt(object, fieldsOf(paths.labelSelectorPath)) : undefined;
    return serializer.canonical({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
      spec: { replicas: integerAt(object, replicasPath) ?? absent },
      status: {
        replicas: integerAt(object, fieldsOf(paths.statusReplicasPath)) ?? 0,
        selector: typeof selector === 'string' ? selector : undefined,
      },
    } as unknown as KubeObject);
  };
  return {
    type: 'view',
    kind: scale,
    verbs: ['get', 'patch', 'update'],
    serializer,
    mergeType,
    read(object) {
      if (integerAt(object, replicasPath) === undefined) {
        throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`);
      }
      return show(object, 0);
    },
    toView: (object) => show(object, absentReplicas),
    write(view, object) {
      const replicas = (view as unknown as Scale).spec?.replicas ?? 0;
      if (replicas === absentReplicas) {
        throw badRequest(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} cannot be empty`);
      }
      return withValueAt(object, replicasPath, replicas) as KubeObject;
    },
    validate: () => [],
    // Kubernetes does not track managers of the scale subresource of custom resources; the previous owner loses the
    // replicas field.
    owners: (entries) =>
      entriesAfterScale({ parent: entries, scale: undefined }, apiVersion, replicasPaths) as typeof entries,
  };
}

/** Returns the replicas path of each version, for field ownership. */
export function replicasPathsOf(versions: Iterable<CustomVersion>): ReplicasPaths {
  return Object.fromEntries(
    Array.from(versions, ({ apiVersion, facts }) => {
      const path = facts.subresources?.scale?.specReplicasPath;
      return [apiVersion, path === undefined ? null : fieldPath(...fieldsOf(path))];
    }),
  );
}

/** Validates the desired replicas. */
export function* validateScaleSpec(object: KubeObject, { specReplicasPath }: ScalePaths): Generator<Cause> {
  yield* validateReplicas(object, specReplicasPath);
}

/** Validates the replicas and the selector in the status. */
export function* validateScaleStatus(object: KubeObject, paths: ScalePaths): Generator<Cause> {
  yield* validateReplicas(object, paths.statusReplicasPath);
  const { labelSelectorPath } = paths;
  if (!labelSelectorPath) return;
  const selector = valueAt(object, fieldsOf(labelSelectorPath));
  if (selector === undefined || typeof selector === 'string') return;
  yield invalid(labelSelectorPath, '', accessorError(labelSelectorPath, selector, 'string'));
}

function* validateReplicas(object: KubeObject, path: string): Generator<Cause> {
  const value = valueAt(object, fieldsOf(path));
  if (value === undefined) return;
  if (!isInteger(value)) yield invalid(path, 0, accessorError(path, value, 'int64'));
  else if (value < 0) yield invalid(path, value, 'should be a non-negative integer');
  else if (value > maxInt32) yield invalid(path, value, `should be less than or equal to ${maxInt32}`);
}

function accessorError(path: string, value: unknown, expected: string): string {
  const type =
    typeof value === 'object'
      ? Array.isArray(value)
        ? '[]interface {}'
        : 'map[string]interface {}'
      : goTypes[typeof value];
  const shown = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `${path} accessor error: ${shown} is of the type ${type}, expected ${expected}`;
}

const goTypes: { readonly [type: string]: string } = { string: 'string', number: 'float64', boolean: 'bool' };

function fieldsOf(path: string): readonly string[] {
  return path.replace(/^\./, '').split('.');
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isInteger(value);
}

function integerAt(object: KubeObject, path: readonly string[]): number | undefined {
  const value = valueAt(object, path);
  return isInteger(value) ? Number(value) : undefined;
}

function valueAt(object: object, path: readonly string[]): unknown {
  let value: unknown = object;
  for (const field of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return undefined;
    value = (value as { readonly [name: string]: unknown })[field];
  }
  return value ?? undefined;
}

function withValueAt(object: unknown, [field, ...rest]: readonly string[], value: unknown): unknown {
  if (field === undefined) return value;
  const fields = (object ?? {}) as { readonly [name: string]: unknown };
  return { ...fields, [field]: withValueAt(fields[field], rest, value) };
}
