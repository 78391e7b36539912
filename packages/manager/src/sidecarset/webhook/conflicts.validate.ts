/** Conflicts between SidecarSets that select the same Pod. */
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { isSame } from '@kruise/machinery/json-value';
import type { LabelSelector } from '@kruise/machinery/label-selector';
import { type Cause, invalid } from '@kruise/schema/field-error';
import { baseOf } from '../canary.ts';

export function* validateConflicts(sidecarSet: SidecarSet, all: readonly SidecarSet[]): Generator<Cause> {
  const base = baseOf(sidecarSet);
  const { name: own } = sidecarSet.metadata;
  const others = all.filter(({ metadata: { name } }) => name !== own && name !== base);
  const rivals = others.filter((other) => mayOverlap(sidecarSet, other));
  const { initContainers = [], containers = [], volumes = [] } = sidecarSet.spec;
  // If several rivals conflict, the last one is reported.
  const rivalWith = (has: (rival: SidecarSet) => boolean) => rivals.findLast(has)?.metadata.name;

  for (const { name } of initContainers) {
    const rival = rivalWith(({ spec }) => spec.initContainers?.some((each) => each.name === name) ?? false);
    if (rival !== undefined) yield invalid('spec.containers', name, `container ${name} already exist in ${rival}`);
  }
  for (const { name } of containers) {
    const rival = rivalWith(({ spec }) => spec.containers?.some((each) => each.name === name) ?? false);
    if (rival !== undefined) yield invalid('spec.containers', name, `container ${name} already exist in ${rival}`);
  }
  for (const volume of volumes) {
    const { name } = volume;
    const volumeOf = ({ spec }: SidecarSet) => spec.volumes?.find((each) => each.name === name);
    const rival = rivals.findLast((each) => volumeOf(each) !== undefined);
    if (!rival || isSame(volumeOf(rival), volume)) continue;
    yield invalid('spec.volumes', name, `volume ${name} is in conflict with sidecarset ${rival.metadata.name}`);
  }
  for (const { key, policy } of insistingPatches(sidecarSet)) {
    const known = rivals.flatMap((rival) =>
      insistingPatches(rival)
        .filter((patch) => patch.key === key)
        .map((patch) => ({ rival, policy: patch.policy })),
    );
    const last = known.at(-1);
    if (!last || (policy !== 'Overwrite' && last.policy !== 'Overwrite')) continue;
    const detail = `annotation ${key} is in conflict with sidecarset ${last.rival.metadata.name}`;
    yield invalid('spec.patchPodMetadata', key, detail);
  }
}

/** Returns the annotation patches that overwrite values of the Pod. */
function insistingPatches({ spec }: SidecarSet) {
  return (spec.patchPodMetadata ?? [])
    .filter(({ patchPolicy }) => patchPolicy !== 'Retain')
    .flatMap(({ annotations = {}, patchPolicy: policy }) => Object.keys(annotations).map((key) => ({ key, policy })));
}

/** Reports whether a Pod may be selected by both. */
function mayOverlap({ spec: a }: SidecarSet, { spec: b }: SidecarSet): boolean {
  if (a.namespaceSelector && b.namespaceSelector && !overlaps(a.namespaceSelector, b.namespaceSelector)) return false;
  return overlaps(a.selector ?? {}, b.selector ?? {});
}

/** Reports whether selectors overlap. The check compares keys, so it may err on either side. */
export function overlaps(a: LabelSelector, b: LabelSelector): boolean {
  return !isDisjoint(a, b) && !isDisjoint(b, a);
}

function isDisjoint(one: LabelSelector, other: LabelSelector): boolean {
  const allowed = valuesOf(one);
  const excludes = (key: string, values: readonly string[]) => {
    const known = allowed.get(key);
    return known !== undefined && known !== 'any' && !known.some((value) => values.includes(value));
  };
  return (
    Object.entries(other.matchLabels ?? {}).some(([key, value]) => excludes(key, [value])) ||
    (other.matchExpressions ?? []).some(({ key, operator, values = [] }) => {
      const known = allowed.get(key);
      if (operator === 'In') return excludes(key, values);
      // Exists overlaps only with a selector that does not mention the key, as in OpenKruise. This holds only here.
      if (operator === 'Exists') return known === undefined;
      if (operator === 'DoesNotExist') return known !== undefined;
      return known !== undefined && known !== 'any' && known.every((value) => values.includes(value));
    })
  );
}

/** Returns the values that a selector requires, by key. */
function valuesOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector) {
  const allowed = new Map<string, readonly string[] | 'any'>(
    Object.entries(matchLabels).map(([key, value]) => [key, [value]]),
  );
  for (const { key, operator, values = [] } of matchExpressions) {
    const known = allowed.get(key) ?? [];
    if (operator === 'Exists') allowed.set(key, 'any');
    if (operator === 'In' && known !== 'any') allowed.set(key, [...known, ...values]);
  }
  return allowed;
}
