/** Comparison of two revisions: the changes of an in-place update, or the reason why a Pod must be recreated. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Container } from '@kruise/api/core/container';
import { computeQosClass } from '@kruise/api/core/pod-qos';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { cloneSetVolumeClaimTemplateHashAnnotation } from '@kruise/api/kruise/well-known';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { createJsonPatch, type PatchOperation } from '@kruise/client/json-patch-diff';
import { podTemplateOf } from '@kruise/machinery/controller-revision';
import { isQuantity } from '@kruise/values/quantity';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { podDifference } from '../patch-pod.ts';
import { metadataReferences } from './env-from-metadata.ts';
import type { RefMetadata, Resources, UpdateSpec } from './state.ts';

export type UpdateSpecOptions = {
  readonly gates: FeatureGates;
  readonly graceSeconds?: number;
  /** The value of the revision label on Pods. Defaults to the name of the revision. */
  readonly revisionName?: string;
  /** Changed PVC templates do not prevent an in-place update. */
  readonly ignoresVolumeClaims?: boolean;
};

/** Returns the changes; undefined if the Pod must be recreated. */
export function updateSpecOf(
  from: ControllerRevision | undefined,
  to: ControllerRevision | undefined,
  options: UpdateSpecOptions,
): UpdateSpec | undefined {
  const found = compare(from, to, options);
  return typeof found === 'string' ? undefined : found;
}

/** Returns the reason why a Pod must be recreated; undefined if it can be updated in place. */
export function inPlaceObstacle(
  from: ControllerRevision | undefined,
  to: ControllerRevision | undefined,
  options: UpdateSpecOptions,
): string | undefined {
  const found = compare(from, to, options);
  return typeof found === 'string' ? found : undefined;
}

/** Returns the changes, or the reason why they cannot be made in place. */
function compare(
  from: ControllerRevision | undefined,
  to: ControllerRevision | undefined,
  options: UpdateSpecOptions,
): UpdateSpec | string {
  if (!from || !to) return 'the revision it comes from is not there any more';
  const { gates } = options;
  if (gates.RecreatePodWhenChangeVCTInCloneSetGate && !options.ignoresVolumeClaims && haveOtherClaims(from, to)) {
    return 'its volume claims change';
  }
  const [old, wanted] = [podTemplateOf(from), podTemplateOf(to)];
  if (!old || !wanted) return 'a revision cannot be read';
  const operations = createJsonPatch(from.data, to.data).map((operation) => ({
    ...operation,
    path: operation.path.replace('/spec/template', ''),
  }));
  const isOfMetadata = ({ path }: PatchOperation) => path.startsWith('/metadata/');
  const changes = containerChanges(
    operations.filter((each) => !isOfMetadata(each)),
    old,
    gates,
  );
  if (typeof changes === 'string') return changes;
  if (Object.keys(changes.resources).length > 0 && qosOf(old) !== qosOf(wanted)) {
    return `its quality of service changes from ${qosOf(old)} to ${qosOf(wanted)}`;
  }
  return {
    revision: options.revisionName ?? to.metadata.name ?? '',
    ...changes,
    ...metadataChanges(operations.filter(isOfMetadata), old, wanted, gates),
    graceSeconds: options.graceSeconds ?? 0,
  };
}

function haveOtherClaims(from: ControllerRevision, to: ControllerRevision): boolean {
  const [old, wanted] = [from, to].map(
    ({ metadata }) => metadata.annotations?.[cloneSetVolumeClaimTemplateHashAnnotation],
  );
  return old !== undefined && wanted !== undefined && old !== wanted;
}

function qosOf({ spec }: PodTemplateSpec): string {
  return computeQosClass(spec ?? { containers: [] });
}

type Changes = Pick<UpdateSpec, 'images' | 'resources'>;

/** Returns changed images, and resources where they may be changed in place; the reason if anything else changes. */
function containerChanges(
  operations: readonly PatchOperation[],
  { spec }: PodTemplateSpec,
  gates: FeatureGates,
): Changes | string {
  const images: { [container: string]: string } = {};
  const resources: { [container: string]: Resources } = {};
  for (const operation of operations) {
    const [, index, field = ''] = /^\/spec\/containers\/(\d+)\/(.*)$/s.exec(operation.path) ?? [];
    const container: Container | undefined = index === undefined ? undefined : spec?.containers[Number(index)];
    if (operation.op !== 'replace' || !container) return otherChange(operation);
    const [, list, name] = /^resources\/(limits|requests)\/(cpu|memory)$/.exec(field) ?? [];
    if (field === 'image') {
      images[container.name] = String(operation.value);
    } else if (gates.InPlaceWorkloadVerticalScaling && list && name && isQuantity(String(operation.value))) {
      const known: Resources = resources[container.name] ?? {};
      const kind = list as keyof Resources;
      resources[container.name] = { ...known, [kind]: { ...known[kind], [name]: String(operation.value) } };
    } else {
      return otherChange(operation);
    }
  }
  return { images, resources };
}

function otherChange({ op, path }: PatchOperation): string {
  const verb = { add: 'is added', remove: 'is removed', replace: 'changes' }[op as 'add' | 'remove' | 'replace'];
  return `${path.slice(1).replaceAll('/', '.')} ${verb ?? 'changes'}`;
}

type MetadataChanges = Pick<UpdateSpec, 'refMetadata' | 'updatesEnv' | 'metadataPatch'>;

/**
 * Labels and annotations that containers read as environment variables change together with those containers. All
 * others change at once.
 */
function metadataChanges(
  operations: readonly PatchOperation[],
  old: PodTemplateSpec,
  wanted: PodTemplateSpec,
  gates: FeatureGates,
): MetadataChanges {
  const refMetadata: { [container: string]: RefMetadata } = {};
  if (operations.length === 0) return { refMetadata, updatesEnv: false };
  const taken = { labels: new Set<string>(), annotations: new Set<string>() };
  for (const operation of gates.InPlaceUpdateEnvFromMetadata ? operations : []) {
    const [, from, escapedKey] = /^\/metadata\/(labels|annotations)\/(.*)$/s.exec(operation.path) ?? [];
    if (operation.op === 'remove' || !from || escapedKey === undefined) continue;
    const key = escapedKey.replaceAll('~1', '/').replaceAll('~0', '~');
    const kind = from as keyof RefMetadata;
    for (const container of wanted.spec?.containers ?? []) {
      if (!metadataReferences(container).some((each) => each.from === kind && each.key === key)) continue;
      const known: RefMetadata = refMetadata[container.name] ?? {};
      refMetadata[container.name] = { ...known, [kind]: { ...known[kind], [key]: String(operation.value) } };
      taken[kind].add(key);
    }
  }
  const without = ({ metadata }: PodTemplateSpec) => withoutKeys(metadata ?? {}, taken);
  const metadataPatch = podDifference({ metadata: without(old) }, { metadata: without(wanted) });
  return { refMetadata, updatesEnv: Object.keys(refMetadata).length > 0, metadataPatch };
}

type Keys = { readonly [kind in keyof Required<RefMetadata>]: ReadonlySet<string> };

function withoutKeys({ labels, annotations, ...metadata }: ObjectMeta, keys: Keys): ObjectMeta {
  const kept = (map: { readonly [key: string]: string } | undefined, gone: ReadonlySet<string>) =>
    Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !gone.has(key)));
  return { ...metadata, labels: kept(labels, keys.labels), annotations: kept(annotations, keys.annotations) };
}
