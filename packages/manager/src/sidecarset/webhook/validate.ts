/** Validation of SidecarSets. Paths and messages are those of OpenKruise, although some paths are odd. */

import { validateIntOrPercent } from '@kruise/api/core/workload.validate';
import type { SidecarSet, SidecarSetSpec, SidecarSetUpdateStrategy } from '@kruise/api/kruise/sidecarset';
import { sidecarSetBaseAnnotation } from '@kruise/api/kruise/well-known';
import { invalidStringMap, invalidStructure } from '@kruise/api/meta/go-value';
import { isEmptySelector, validateLabelSelector } from '@kruise/api/meta/label-selector.validate';
import type { NameRule } from '@kruise/api/meta/name-rules';
import { validateObjectMeta } from '@kruise/api/meta/object-meta.validate';
import { type LabelSelector, selectorOf } from '@kruise/machinery/label-selector';
import { StatusError } from '@kruise/machinery/status';
import { type Cause, invalid, required } from '@kruise/schema/field-error';
import { compareStrings } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import { priorityFault, scatterFault } from '../../webhooks/update-order.validate.ts';
import { baseOf } from '../canary.ts';
import type { RevisionChoice } from '../history.ts';
import { validateConflicts } from './conflicts.validate.ts';
import { validateContainers } from './containers.validate.ts';

/** Other objects that the validation of a SidecarSet reads. */
export type ValidationContext = {
  /** All SidecarSets. */
  readonly sidecarSets: readonly SidecarSet[];
  /** Throws a StatusError if there is no such revision. */
  readonly findRevision: (sidecarSet: SidecarSet, choice: RevisionChoice) => unknown;
  /** Returns the reason why it may not patch annotations of Pods; undefined if it may. */
  readonly metadataFault: (sidecarSet: SidecarSet) => string | undefined;
};

export function* validateSidecarSet(
  sidecarSet: SidecarSet,
  surroundings: ValidationContext,
  old?: SidecarSet,
): Generator<Cause> {
  const causes = [
    ...validateObjectMeta(sidecarSet.metadata, { namespaced: false, name: sidecarSetName }),
    ...validateCanary(sidecarSet, surroundings, old),
    ...validateSpec(sidecarSet, surroundings),
    ...(old ? validateSameContainers(sidecarSet.spec, old.spec) : []),
  ];
  yield* causes;
  if (causes.length === 0) yield* validateConflicts(sidecarSet, surroundings.sidecarSets);
}

const maxNameLength = 63;
const nameFormat = '^[a-zA-Z0-9\\-]+$';
const nameFault =
  "sidecarset name must consist of alphanumeric characters or '-' " +
  `(e.g. 'example-com', regex used for validation is '${nameFormat}')`;

function nameFaults(name: string): readonly string[] {
  return [
    ...(new RegExp(nameFormat).test(name) ? [] : [nameFault]),
    ...(name.length > maxNameLength ? [`must be no more than ${maxNameLength} characters`] : []),
  ];
}

const sidecarSetName: NameRule = { whole: nameFaults, prefix: nameFaults };

function* validateCanary(
  sidecarSet: SidecarSet,
  { sidecarSets }: ValidationContext,
  old?: SidecarSet,
): Generator<Cause> {
  const { metadata, spec } = sidecarSet;
  const base = baseOf(sidecarSet);
  if (base === undefined) return;
  const fault = (detail: string) => invalidStringMap('metadata', metadata.annotations, detail);
  if (base === metadata.name) yield fault('base sidecarSet cannot be itself');
  if (old && old.metadata.annotations?.[sidecarSetBaseAnnotation] !== base) {
    yield fault(`annotations[${sidecarSetBaseAnnotation}] is immutable`);
  }
  const found = sidecarSets.find((each) => each.metadata.name === base);
  if (!found) yield fault(`fetch base sidecarSet[${base}] failed: SidecarSet.apps.kruise.io "${base}" not found`);
  else if (baseOf(found) !== undefined) yield fault('base sidecarSet cannot be canary');
  if (spec.updateStrategy?.type !== 'NotUpdate') yield fault('RollingUpdate is not supported for canary sidecarSet');
}

function* validateSpec(sidecarSet: SidecarSet, surroundings: ValidationContext): Generator<Cause> {
  const { selector, namespaceSelector, initContainers = [], containers = [], updateStrategy = {} } = sidecarSet.spec;
  for (const { restartPolicy } of initContainers) {
    if (restartPolicy === 'Always' && updateStrategy.type === 'RollingUpdate') {
      yield required('spec.updateStrategy', 'The initContainer in-place upgrade is not currently supported.');
    }
  }
  if (selector) yield* validateSelector(selector, 'spec.selector');
  else yield required('spec.selector', 'no selector defined for SidecarSet');
  if (namespaceSelector) yield* validateSelector(namespaceSelector, 'spec.namespaceSelector');
  yield* validateRevision(sidecarSet, surroundings);
  if (updateStrategy.type === 'RollingUpdate') yield* validateStrategy(updateStrategy);
  if (initContainers.length > 0 || containers.length > 0) yield* validateContainers(sidecarSet.spec);
  else yield required('spec', 'no initContainer or container defined for SidecarSet');
  yield* validatePodMetadata(sidecarSet, surroundings);
}

function* validateSelector(selector: LabelSelector, path: string): Generator<Cause> {
  yield* validateLabelSelector(selector, path);
  if (isEmptySelector(selector)) {
    yield invalidStructure(path, 'v1.LabelSelector', selector, 'empty selector is not valid for sidecarset.');
  }
  try {
    selectorOf(selector);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    yield invalidStructure(`${path}.selector`, 'v1.LabelSelector', selector, '');
  }
}

function* validateRevision(sidecarSet: SidecarSet, { findRevision }: ValidationContext): Generator<Cause> {
  const { revision } = sidecarSet.spec.injectionStrategy ?? {};
  if (!revision) return;
  if (revision.revisionName === undefined && revision.customVersion === undefined) {
    const detail = 'revisionName and customVersion cannot be empty simultaneously';
    yield invalidStructure('revision', 'v1beta1.SidecarSetInjectRevision', revision, detail);
  } else {
    try {
      findRevision(sidecarSet, revision);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      yield invalid('revision', null, `Cannot find specific ControllerRevision, err: ${error.message}`);
    }
  }
  const { policy = '' } = revision as { readonly policy?: string };
  if (!['', 'Always', 'Partial'].includes(policy)) {
    const detail = `Invalid policy ${policy}, supported: [Always, Partial]`;
    yield invalidStructure('revision.policy', 'v1beta1.SidecarSetInjectRevision', revision, detail);
  }
}

function* validateStrategy(strategy: SidecarSetUpdateStrategy): Generator<Cause> {
  const path = 'spec.updateStrategy';
  const { partition, maxUnavailable, selector, priorityStrategy, scatterStrategy } = strategy;
  if (selector && partition !== undefined && partition !== 0) {
    yield invalid('updateStrategy', printed(strategy), 'Partition and Selector cannot be used together');
  }
  if (selector) yield* validateSelector(selector, `${path}.selector`);
  if (partition !== undefined) yield* validateIntOrPercent(partition, `${path}.partition`);
  if (maxUnavailable !== undefined) yield* validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`);
  const priority = priorityFault(priorityStrategy);
  if (priority) yield required(`${path}.priorityStrategy`, priority);
  const scatter = scatterFault(scatterStrategy);
  if (scatter) yield required(`${path}.scatterStrategy`, scatter);
}

/** Formats a strategy as Go prints it. Go prints priorities as memory addresses, which are useless to users. */
function printed(strategy: SidecarSetUpdateStrategy): string {
  const { type, paused = false, selector = {}, partition, maxUnavailable, priorityStrategy } = strategy;
  const terms = (strategy.scatterStrategy ?? []).map(({ key, value }) => `{Key:${key} Value:${value}}`);
  const labels = Object.entries(selector.matchLabels ?? {})
    .toSorted(([a], [b]) => compareStrings(a, b))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const shown =
    `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},` +
    `MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
  return (
    `&{Type:${type} Paused:${paused} Selector:${shown} Partition:${partition} MaxUnavailable:${maxUnavailable} ` +
    `PriorityStrategy:${priorityStrategy ? '{…}' : '<nil>'} ScatterStrategy:[${terms.join(' ')}]}`
  );
}

function* validatePodMetadata(sidecarSet: SidecarSet, { metadataFault }: ValidationContext): Generator<Cause> {
  const path = 'spec.patchPodMetadata';
  const fault = metadataFault(sidecarSet);
  if (fault) yield required(path, fault);
  const seen = new Set<string>();
  for (const { annotations = {}, patchPolicy } of sidecarSet.spec.patchPodMetadata ?? []) {
    const keys = Object.keys(annotations);
    if (keys.length === 0) yield required(path, 'no annotations defined for SidecarSet');
    const metadata = { name: 'fake-name', annotations };
    yield* validateObjectMeta(metadata, { namespaced: false, name: sidecarSetName }, 'patchPodMetadata');
    if (!patchPolicy) yield required(path, 'no patchPolicy defined for patchPodMetadata');
    for (const key of keys) {
      if (seen.has(key)) yield required(path, `patch annotation[${key}] already exist`);
      seen.add(key);
    }
  }
}

/**
 * Containers of Pods are immutable, so those of a SidecarSet are too. A sidecar cannot change its hot-upgrade type
 * either.
 */
function* validateSameContainers({ containers = [] }: SidecarSetSpec, old: SidecarSetSpec): Generator<Cause> {
  const types = new Map(old.containers?.map(({ name, upgradeStrategy }) => [name, upgradeStrategy?.upgradeType]));
  for (const { name, upgradeStrategy } of containers) {
    const type = types.get(name);
    if (!types.has(name)) {
      yield invalid('spec.containers.name', name, `container ${name} is not found`);
    } else if (type && upgradeStrategy?.upgradeType !== type) {
      yield invalid('spec.containers.upgradeStrategy.upgradeType', name, `container ${name} upgradeType is immutable`);
    }
  }
}
