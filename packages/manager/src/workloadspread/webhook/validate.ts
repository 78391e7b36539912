/** Validation of WorkloadSpreads. */
import type {
  WorkloadSpread,
  WorkloadSpreadScheduleStrategy,
  WorkloadSpreadSpec,
} from '@kruise/api/kruise/workloadspread';
import { invalidStructure } from '@kruise/api/meta/go-value';
import { validateObjectMetaUpdate } from '@kruise/api/meta/object-meta.validate';
import { selectorOf } from '@kruise/machinery/label-selector';
import { type Cause, invalid, required } from '@kruise/schema/field-error';
import { groupOf } from '@kruise/schema/kind';
import { ParseError } from '@kruise/values/parse-error';
import { type CustomWorkload, entryFor } from '../allowlist.ts';
import { builtinKindOf, type Reference } from '../target.ts';
import { type Template, validateSubsets } from './subsets.validate.ts';

export type Surroundings = {
  /**
   * Returns the workloads on the allowlist besides the built-in ones. Throws `ParseError` if the list cannot be parsed.
   */
  readonly customWorkloads: () => readonly CustomWorkload[];
  /** The Pod template of the workload; undefined if the workload does not exist yet. */
  readonly template: Template | undefined;
  /** Other WorkloadSpreads of the same workload. */
  readonly rivals: readonly WorkloadSpread[];
};

export function* validateWorkloadSpread(
  spread: WorkloadSpread,
  { customWorkloads, template, rivals }: Surroundings,
  old?: WorkloadSpread,
): Generator<Cause> {
  const { metadata, spec } = spread;
  yield* validateTarget(spec.targetRef, customWorkloads);
  yield* validateSubsets(spec, template);
  yield* validateStrategy(spec);
  yield* validateFilter(spec);
  const rival = rivals.find((each) => each.metadata.name !== metadata.name);
  if (rival) {
    const why = `ws.spec.targetRef is in conflict with other WorkloadSpread ${rival.metadata.name}`;
    yield invalidTarget(spec.targetRef, why);
  }
  if (!old) return;
  yield* validateObjectMetaUpdate(metadata, old.metadata);
  if (!isSameTarget(spec.targetRef, old.spec.targetRef)) {
    yield invalidTarget(spec.targetRef, 'change TargetReference is not permitted for WorkloadSpread');
  }
}

const usualKindNames = ['CloneSet', 'Deployment', 'ReplicaSet', 'Job', 'StatefulSet'];

function* validateTarget(
  target: Reference | null | undefined,
  customWorkloads: Surroundings['customWorkloads'],
): Generator<Cause> {
  if (!target) return yield required('spec.targetRef', 'no targetRef defined in WorkloadSpread');
  const { apiVersion, kind, name } = target;
  if (!apiVersion || !kind || !name) {
    return yield invalidTarget(target, 'empty TargetReference is not valid for WorkloadSpread.');
  }
  if (usualKindNames.includes(kind)) {
    if (!builtinKindOf(target)) yield invalidTarget(target, `TargetReference is not valid for ${kind}.`);
    return;
  }
  try {
    if (entryFor(customWorkloads(), target)) return;
    yield invalidTarget(target, "TargetReference's GroupKind is not permitted.");
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    yield { reason: 'InternalError', message: `Internal error: ${error.message}`, field: 'spec.targetRef' };
  }
}

function invalidTarget({ apiVersion, kind, name }: Reference, why: string): Cause {
  return invalidStructure('spec.targetRef', 'v1beta1.TargetReference', { APIVersion: apiVersion, kind, name }, why);
}

/** Reports whether two references are equal, except for their version. */
function isSameTarget(a: Reference, b: Reference): boolean {
  return a.kind === b.kind && a.name === b.name && groupOf(a.apiVersion) === groupOf(b.apiVersion);
}

/**
 * Upper limit of rescheduleCriticalSeconds. An unschedulable subset is retried after 300 s; by then a Pod must have
 * reached the last subset.
 */
const maxCriticalSeconds = 295;
const maxInt32 = 2147483647;

function* validateStrategy({ scheduleStrategy = {}, subsets }: WorkloadSpreadSpec): Generator<Cause> {
  const { type = '', adaptive }: WorkloadSpreadScheduleStrategy & { readonly type?: string } = scheduleStrategy;
  const path = 'spec.scheduleStrategy';
  if (!['', 'Fixed', 'Adaptive'].includes(type)) {
    yield invalid(`${path}.type`, type, "ScheduleStrategy's type is not valid");
  }
  if (!adaptive) return;
  const { rescheduleCriticalSeconds: seconds } = adaptive;
  if (type !== 'Adaptive') {
    const why = "the scheduleStrategy's type must be adaptive when using adaptive scheduleStrategy";
    yield invalid(`${path}.type`, seconds, why);
  }
  if (subsets.length > 1 && subsets.at(-1)?.maxReplicas !== undefined) {
    const why = "the last subset's maxReplicas must be not specified when using adaptive scheduleStrategy";
    yield invalid(`${path}.adaptive`, seconds, why);
  }
  const most = subsets.length > 1 ? Math.floor(maxCriticalSeconds / (subsets.length - 1)) : maxInt32;
  if (seconds !== undefined && (seconds < 0 || seconds > most)) {
    const why = `rescheduleCriticalSeconds < 0 or rescheduleCriticalSeconds > ${most} is not permitted`;
    yield invalid(`${path}.adaptive.rescheduleCriticalSeconds`, seconds, why);
  }
}

function* validateFilter({ targetFilter }: WorkloadSpreadSpec): Generator<Cause> {
  try {
    selectorOf(targetFilter?.selector);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    yield invalidStructure('spec.targetFilter', 'v1beta1.TargetFilter', targetFilter, error.message);
  }
}
