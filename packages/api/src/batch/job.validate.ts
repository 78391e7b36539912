import { type Cause, duplicate, invalid, notSupported, required, tooLong, tooMany } from '@kruise/schema/field-error';
import { quoteList } from '@kruise/values/go-syntax';
import { validateDns1123Label, validateDomainPrefixedPath, validateQualifiedName } from '@kruise/values/names';
import { validatePodTemplateSpec } from '../core/pod-spec.validate.ts';
import type { PodTemplateSpec } from '../core/pod-template.ts';
import { validateSameSelector } from '../core/workload.validate.ts';
import { invalidStringMap, invalidStructure, invalidWithoutValue } from '../meta/go-value.ts';
import { selects, validateLabelSelector } from '../meta/label-selector.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, nonNegative, oneOf, orNull, refusals } from '../meta/value.validate.ts';
import type {
  Job,
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from './job.ts';
import { countIndexes } from './job-indexes.ts';

const maxParallelism = 100_000;
const maxFailedIndexes = 100_000;
const manyCompletions = 100_000;
const maxWithManyCompletions = 10_000;
const maxManagedByLength = 63;
const maxFailureRules = 20;
const maxExitCodes = 255;
const maxConditionPatterns = 20;
const maxSuccessRules = 20;
const maxIndexesLength = 64 * 1024;

/** Labels that identify the Pods of a Job. The first one of each pair is for older clients. */
export const controllerUidLabels = ['controller-uid', 'batch.kubernetes.io/controller-uid'] as const;
export const jobNameLabels = ['job-name', 'batch.kubernetes.io/job-name'] as const;

export function* validateJob(job: Job): Generator<Cause> {
  yield* validateWholeJob(job, { prefixedLabels: true });
}

function* validateWholeJob(job: Job, check: { readonly prefixedLabels: boolean }): Generator<Cause> {
  const { metadata, spec } = job;
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  if (!spec) return;
  yield* validateGeneratedSelector(job, spec, check);
  yield* validateSpec(spec, 'spec');
  if (spec.completionMode === 'Indexed' && (spec.completions ?? 0) > 0) {
    const longest = `${metadata.name ?? ''}-${spec.completions! - 1}`;
    if (validateDns1123Label(longest).length > 0) {
      const detail = `will not able to create pod with invalid DNS label: ${longest}`;
      yield invalid('metadata.name', metadata.name ?? '', detail);
    }
  }
}

/** Unless manualSelector is set, a Job selects Pods by its own UID. */
function* validateGeneratedSelector(
  { metadata }: Job,
  { manualSelector, selector, template }: JobSpec,
  { prefixedLabels }: { readonly prefixedLabels: boolean },
): Generator<Cause> {
  if (manualSelector || !selector) return;
  const { uid = '', name = '' } = metadata;
  if (!uid) yield required('metadata.uid');
  const count = prefixedLabels ? 2 : 1;
  const expected: [string, string][] = [];
  for (let index = 0; index < count; index++) {
    expected.push([controllerUidLabels[index]!, uid], [jobNameLabels[index]!, name]);
  }
  for (const [label, value] of expected) yield* validateHasLabel(template, label, value);
  const isValid = [...validateLabelSelector(selector, '')].length === 0;
  if (isValid && !selects(selector, Object.fromEntries(expected))) {
    yield invalidStructure('spec.selector', 'v1.LabelSelector', selector, '`selector` not auto-generated');
  }
}

function* validateHasLabel({ metadata }: PodTemplateSpec, label: string, value: string): Generator<Cause> {
  const field = `spec.template.metadata.labels[${label}]`;
  const labels = metadata?.labels;
  if (labels?.[label] === undefined) yield required(field, `must be '${value}'`);
  else if (labels[label] !== value) yield invalidStringMap(field, labels, `must be '${value}'`);
}

function* validateSpec(spec: JobSpec, path: string): Generator<Cause> {
  yield* validateJobSpec(spec, path);
  const { selector, template } = spec;
  if (!selector) yield required(`${path}.selector`);
  const faults = [...validateLabelSelector(selector, `${path}.selector`)];
  yield* faults;
  const labels = template.metadata?.labels;
  if (faults.length === 0 && !(selector && selects(selector, labels))) {
    yield invalidStringMap(`${path}.template.metadata.labels`, labels, '`selector` does not match template `labels`');
  }
}

/** Validates the spec of a Job or of a Job template. */
export function* validateJobSpec(spec: JobSpec, path: string): Generator<Cause> {
  yield* nonNegative(`${path}.parallelism`, spec.parallelism);
  yield* nonNegative(`${path}.completions`, spec.completions);
  yield* nonNegative(`${path}.activeDeadlineSeconds`, spec.activeDeadlineSeconds);
  yield* nonNegative(`${path}.backoffLimit`, spec.backoffLimit);
  yield* nonNegative(`${path}.ttlSecondsAfterFinished`, spec.ttlSecondsAfterFinished);
  yield* nonNegative(`${path}.backoffLimitPerIndex`, spec.backoffLimitPerIndex);
  if (spec.maxFailedIndexes !== undefined) {
    yield* nonNegative(`${path}.maxFailedIndexes`, spec.maxFailedIndexes);
    if (spec.backoffLimitPerIndex === undefined) {
      yield required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified');
    }
  }
  if (spec.managedBy !== undefined) yield* validateManagedBy(spec.managedBy, `${path}.managedBy`);
  yield* validateCompletionMode(spec, path);
  if (spec.podFailurePolicy) yield* validateFailurePolicy(spec, `${path}.podFailurePolicy.rules`);
  if (spec.successPolicy) {
    if (spec.completionMode === 'Indexed') yield* validateSuccessPolicy(spec, `${path}.successPolicy.rules`);
    else {
      const detail = 'requires indexed completion mode';
      yield invalidStructure(`${path}.successPolicy`, 'batch.SuccessPolicy', spec.successPolicy, detail);
    }
  }
  if (spec.podReplacementPolicy !== undefined) {
    const known = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
    yield* oneOf(`${path}.podReplacementPolicy`, spec.podReplacementPolicy, known);
  }
  yield* validatePodTemplateSpec(spec.template, `${path}.template`);
  yield* validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`);
}

function* validateManagedBy(managedBy: string, path: string): Generator<Cause> {
  if (managedBy === '') yield required(path);
  else yield* refusals(path, managedBy, validateDomainPrefixedPath(managedBy));
  if (Buffer.byteLength(managedBy) > maxManagedByLength) yield tooLong(path, maxManagedByLength);
}

function* validateCompletionMode(spec: JobSpec, path: string): Generator<Cause> {
  const { completionMode: mode = 'NonIndexed' } = spec;
  if (mode === 'Indexed') yield* validateIndexed(spec, path);
  else if (mode !== 'NonIndexed') yield notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed']);
  else {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
      if (spec[field] !== undefined) yield invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode');
    }
  }
}

function* validateIndexed(spec: JobSpec, path: string): Generator<Cause> {
  const { completions, parallelism = 0, maxFailedIndexes: failures } = spec;
  if (completions === undefined) yield required(`${path}.completions`, 'when completion mode is Indexed');
  if (parallelism > maxParallelism) {
    const detail = `must be less than or equal to ${maxParallelism} when completion mode is Indexed`;
    yield invalid(`${path}.parallelism`, parallelism, detail);
  }
  if (completions !== undefined && failures !== undefined && failures > completions) {
    yield invalid(`${path}.maxFailedIndexes`, failures, 'must be less than or equal to completions');
  }
  if (failures !== undefined && failures > maxFailedIndexes) {
    yield invalid(`${path}.maxFailedIndexes`, failures, `must be less than or equal to ${maxFailedIndexes}`);
  }
  if ((completions ?? 0) <= manyCompletions || spec.backoffLimitPerIndex === undefined) return;
  if (failures === undefined) {
    yield required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${manyCompletions}`);
  }
  const detail = `must be less than or equal to ${maxWithManyCompletions} when completions are above ${manyCompletions} and used with backoff limit per index`;
  if (parallelism > maxWithManyCompletions) yield invalid(`${path}.parallelism`, parallelism, detail);
  if (failures !== undefined && failures > maxWithManyCompletions) {
    yield invalid(`${path}.maxFailedIndexes`, failures, detail);
  }
}

const restartPolicies = ['OnFailure', 'Never'];

/** The Pods of a Job must not have the restart policy Always. */
function* validateRestartPolicy({ template, podFailurePolicy }: JobSpec, path: string): Generator<Cause> {
  const policy: string = template.spec?.restartPolicy ?? '';
  if (policy === '' || policy === 'Always') yield required(path, 'valid values: "OnFailure", "Never"');
  else if (!restartPolicies.includes(policy)) yield notSupported(path, policy, restartPolicies);
  else if (podFailurePolicy && policy !== 'Never') {
    yield invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified');
  }
}

const failureActions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const operators = ['In', 'NotIn'];
const conditionStatuses = ['False', 'True', 'Unknown'];

function* validateFailurePolicy(spec: JobSpec, path: string): Generator<Cause> {
  const rules = spec.podFailurePolicy?.rules ?? [];
  if (rules.length > maxFailureRules) yield tooMany(path, rules.length, maxFailureRules);
  const { containers, initContainers = [] } = spec.template.spec ?? { containers: [] };
  const names = new Set([...(containers ?? []), ...initContainers].map(({ name }) => name));
  for (const [index, rule] of rules.entries()) yield* validateFailureRule(rule, spec, names, `${path}[${index}]`);
}

function* validateFailureRule(
  { action, onExitCodes, onPodConditions = [] }: PodFailurePolicyRule,
  { backoffLimitPerIndex }: JobSpec,
  containers: ReadonlySet<string>,
  path: string,
): Generator<Cause> {
  yield* validateChoice(action, failureActions, `${path}.action`);
  if (action === 'FailIndex' && backoffLimitPerIndex === undefined) {
    yield invalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set');
  }
  if (onExitCodes) yield* validateExitCodes(onExitCodes, containers, `${path}.onExitCodes`);
  if (onPodConditions.length > 0) yield* validatePatterns(onPodConditions, `${path}.onPodConditions`);
  if (onExitCodes && onPodConditions.length > 0) {
    yield invalidWithoutValue(path, 'specifying both OnExitCodes and OnPodConditions is not supported');
  }
  if (!onExitCodes && onPodConditions.length === 0) {
    yield invalidWithoutValue(path, 'specifying one of OnExitCodes and OnPodConditions is required');
  }
}

function* validateChoice(value: string, known: readonly string[], path: string): Generator<Cause> {
  if (value === '') yield required(path, `valid values: ${quoteList(known)}`);
  else yield* oneOf(path, value, known);
}

function* validatePatterns(
  patterns: readonly PodFailurePolicyOnPodConditionsPattern[],
  path: string,
): Generator<Cause> {
  if (patterns.length > maxConditionPatterns) yield tooMany(path, patterns.length, maxConditionPatterns);
  for (const [index, { type, status }] of patterns.entries()) {
    yield* refusals(`${path}[${index}].type`, type, validateQualifiedName(type));
    yield* validateChoice(status, conditionStatuses, `${path}[${index}].status`);
  }
}

function* validateExitCodes(
  { operator, containerName, values: given }: PodFailurePolicyOnExitCodesRequirement,
  containers: ReadonlySet<string>,
  path: string,
): Generator<Cause> {
  const values = given ?? [];
  yield* validateChoice(operator, operators, `${path}.operator`);
  if (containerName !== undefined && !containers.has(containerName)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    yield invalid(`${path}.containerName`, containerName, detail);
  }
  const field = `${path}.values`;
  if (values.length === 0) {
    const text = given ? '[]int32{}' : '[]int32(nil)';
    yield { ...invalid(field, '', ''), message: `Invalid value: ${text}: at least one value is required` };
  } else if (values.length > maxExitCodes) yield tooMany(field, values.length, maxExitCodes);
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (operator === 'In' && value === 0) {
      yield invalid(`${field}[${index}]`, value, 'must not be 0 for the In operator');
    }
    if (seen.has(value)) yield duplicate(`${field}[${index}]`, value);
    seen.add(value);
  }
  if (values.some((value, index) => index > 0 && values[index - 1]! > value)) {
    yield { ...invalid(field, '', ''), message: `Invalid value: []int32{${values.join(', ')}}: must be ordered` };
  }
}

function* validateSuccessPolicy(spec: JobSpec, path: string): Generator<Cause> {
  const rules = spec.successPolicy?.rules ?? [];
  if (rules.length === 0) {
    yield required(path, 'at least one rules must be specified when the successPolicy is specified');
  }
  if (rules.length > maxSuccessRules) yield tooMany(path, rules.length, maxSuccessRules);
  for (const [index, rule] of rules.entries()) {
    yield* validateSuccessRule(rule, spec.completions ?? 0, `${path}[${index}]`);
  }
}

function* validateSuccessRule(
  { succeededCount: count, succeededIndexes: indexes }: SuccessPolicyRule,
  completions: number,
  path: string,
): Generator<Cause> {
  if (count === undefined && indexes === undefined) {
    yield required(path, 'at least one of succeededCount or succeededIndexes must be specified');
  }
  let total = 0;
  if (indexes !== undefined) {
    if (Buffer.byteLength(indexes) > maxIndexesLength) yield tooLong(`${path}.succeededIndexes`, maxIndexesLength);
    const counted = countIndexes(indexes, completions);
    if (typeof counted === 'number') total = counted;
    else {
      yield invalid(`${path}.succeededIndexes`, indexes, `error parsing succeededIndexes: ${counted.fault}`);
    }
  }
  if (count === undefined) return;
  const limits = [
    { limit: completions, called: 'the number of specified completions' },
    ...(indexes === undefined
      ? []
      : [{ limit: total, called: 'the number of indexes in the specified succeededIndexes field' }]),
  ];
  yield* nonNegative(`${path}.succeededCount`, count);
  for (const { limit, called } of limits) {
    if (count > limit) {
      yield invalid(`${path}.succeededCount`, count, `must be less than or equal to ${limit} (${called})`);
    }
  }
}

const immutableFields = [
  ['completionMode', 'batch.CompletionMode'],
  ['podFailurePolicy', 'batch.PodFailurePolicy'],
  ['backoffLimitPerIndex', ''],
  ['managedBy', ''],
  ['successPolicy', 'batch.SuccessPolicy'],
] as const;

/**
 * Validates an update. Errors of the object are reported twice, as in Kubernetes: once for the creation rules and once
 * for the update rules.
 */
export function* validateJobUpdate(job: Job, old: Job): Generator<Cause> {
  const [spec, before] = [job.spec, old.spec];
  const labels = before?.template.metadata?.labels ?? {};
  const prefixedLabels = [controllerUidLabels[1], jobNameLabels[1]].every((label) => labels[label] !== undefined);
  yield* validateWholeJob(job, { prefixedLabels });
  yield* validateKindMetaUpdate(job.metadata, old.metadata);
  if (!spec || !before) return;
  yield* validateSpec(spec, 'spec');
  yield* validateCompletionsUpdate(spec, before);
  yield* validateSameSelector(spec.selector, before.selector);
  const isWaiting = before.suspend === true && !old.status?.startTime;
  if (!isSame(spec.template, isWaiting ? withScheduling(before.template, spec.template) : before.template)) {
    yield invalidStructure('spec.template', 'core.PodTemplateSpec', spec.template, isImmutable);
  }
  for (const [field, type] of immutableFields) {
    const value = spec[field];
    if (isSame(value, before[field])) continue;
    const isStructure = typeof value === 'object';
    yield isStructure
      ? invalidStructure(`spec.${field}`, type, value, isImmutable)
      : invalid(`spec.${field}`, orNull(value), isImmutable);
  }
}

/** The completions of an indexed Job may change if they stay equal to the parallelism. */
function* validateCompletionsUpdate(spec: JobSpec, before: JobSpec): Generator<Cause> {
  const { completions, parallelism } = spec;
  if (completions === before.completions) return;
  if (spec.completionMode !== 'Indexed') yield invalid('spec.completions', orNull(completions), isImmutable);
  else if (completions !== undefined && completions !== parallelism) {
    yield invalid('spec.completions', completions, 'can only be modified in tandem with spec.parallelism');
  }
}

/**
 * Returns a template with the scheduling directives of another one: a queueing controller may change them before the
 * Job starts.
 */
function withScheduling(template: PodTemplateSpec, other: PodTemplateSpec): PodTemplateSpec {
  const { annotations, labels } = other.metadata ?? {};
  const { nodeSelector, tolerations, schedulingGates, affinity } = other.spec ?? { containers: [] };
  const { nodeAffinity, ...rest } = { ...template.spec?.affinity, nodeAffinity: affinity?.nodeAffinity };
  const merged = { ...rest, ...(nodeAffinity === undefined ? {} : { nodeAffinity }) };
  const isNone = affinity === undefined && Object.keys(merged).length === 0;
  // Undefined members count as absent in the comparison, which is the only use of the result.
  return {
    metadata: { ...template.metadata, annotations, labels },
    spec: { ...template.spec, nodeSelector, tolerations, schedulingGates, affinity: isNone ? undefined : merged },
  } as PodTemplateSpec;
}
