import { type Binding, binding } from '@kruise/api/core/binding';
import type { Pod } from '@kruise/api/core/pod';
import { badRequest, conflict, notFound, success, unclassified } from '@kruise/machinery/status';
import { type Cause, notSupported, required, summary } from '@kruise/schema/field-error';
import { type RequestContext, timestamp } from '../context.ts';
import type { Core } from '../core.ts';
import { type Cached, type KubeObject, whole } from '../object.ts';
import type { Resource, Subresource } from '../resource.ts';
import type { VirtualResource } from '../virtual-resource.ts';
import { withCondition } from './pod-condition.ts';
import { serializerOf } from './serializer.ts';

const serializer = serializerOf(binding, {});

/** `pods/binding`: binds a Pod to a node. */
export function bindingSubresource(core: Core, pods: Resource): Subresource {
  return {
    type: 'action',
    kind: binding,
    verbs: ['create'],
    serializer,
    async act(context, object) {
      await bind(core, pods, context, context.info.name, object);
      return { code: 201, object: { ...success(), code: 201 } };
    },
  };
}

/** `bindings`: the legacy resource for binding Pods, older than subresources. */
export function bindingsResource(core: Core, pods: Resource): VirtualResource {
  return {
    kind: binding,
    serializer,
    async create(context, object) {
      await bind(core, pods, context, object.metadata.name ?? '', object);
      return { ...success(), code: 201 };
    },
  };
}

function* faultsOf({ target }: Binding): Generator<Cause> {
  if (target.kind && target.kind !== 'Node') yield notSupported('target.kind', target.kind, ['Node', '<empty>']);
  if (!target.name) yield required('target.name');
}

async function bind(
  core: Core,
  pods: Resource,
  context: RequestContext,
  name: string,
  object: KubeObject,
): Promise<void> {
  const wanted = object as unknown as Binding;
  const { uid, resourceVersion, annotations } = wanted.metadata;
  if (wanted.metadata.name !== name) throw badRequest('name in URL does not match name in Binding object');
  const causes = [...faultsOf(wanted)];
  if (causes.length > 0) throw unclassified(summary(causes));
  const { storage } = pods;
  await core.feed.waitForCurrent();
  let seen = storage.cache.get(storage.keyOf(context.info.namespace, name));
  for (;;) {
    if (!seen) throw notFound(pods.kind, name);
    const { metadata } = seen.object;
    if (uid && uid !== metadata.uid) throw mismatch(pods, seen, 'UID', uid, metadata.uid);
    if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
      throw mismatch(pods, seen, 'ResourceVersion', resourceVersion, metadata.resourceVersion);
    }
    const pod = whole(seen) as unknown as Pod;
    const blocker = findBlocker(pod);
    if (blocker !== undefined) throw conflict({ group: '', plural: 'pods/binding' }, name, blocker);
    const bound: Pod = {
      ...pod,
      metadata: {
        ...pod.metadata,
        ...(annotations ? { annotations: { ...pod.metadata.annotations, ...annotations } } : {}),
      },
      spec: { ...(pod.spec ?? { containers: [] }), nodeName: wanted.target.name ?? '' },
    };
    const scheduled = withCondition(bound, { type: 'PodScheduled', status: 'True' }, timestamp(context));
    if (context.query.getAll('dryRun').length > 0) return;
    // The other parts of the stored Pod are unchanged.
    const known = new Set<unknown>([...Object.values(pod.metadata), ...Object.values(pod.spec ?? {})]);
    const written = await storage.replace(seen, pods.serializer.canonical(scheduled as unknown as KubeObject, known));
    if (written.ok) return;
    seen = written.current;
  }
}

function mismatch(
  { kind }: Resource,
  { key, object }: Cached,
  what: string,
  wanted: string,
  found: string | undefined,
): Error {
  const why = `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`;
  const storage = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
  return conflict(kind, object.metadata.name ?? '', storage);
}

function findBlocker({ metadata, spec }: Pod): string | undefined {
  const { name } = metadata;
  if (metadata.deletionTimestamp) return `pod ${name} is being deleted, cannot be assigned to a host`;
  if (spec?.nodeName) return `pod ${name} is already assigned to node ${JSON.stringify(spec.nodeName)}`;
  if (spec?.schedulingGates?.length) return `pod ${name} has non-empty .spec.schedulingGates`;
  return undefined;
}
