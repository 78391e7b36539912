/** EphemeralJob status. */
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import type { EphemeralJob, EphemeralJobStatus } from '@kruise/api/kruise/ephemeraljob';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';

type State = 'succeeded' | 'failed' | 'running' | 'waiting' | 'unknown';
type Condition = NonNullable<EphemeralJobStatus['conditions']>[number];

export function statusOf(job: EphemeralJob, targets: readonly Pod[], now: Instant): EphemeralJobStatus {
  const { spec, status, metadata } = job;
  const states = targets.map((pod) => stateOf(job, pod));
  const count = (state: State) => states.filter((each) => each === state).length;
  const figures = {
    match: targets.length,
    running: count('running'),
    succeeded: count('succeeded'),
    waiting: count('waiting'),
    failed: count('failed'),
  };
  let conditions = status?.conditions ?? [conditionOf('Initialized', 'Initialized', '', now)];
  const setCondition = (type: string, reason: string, message: string) => {
    conditions = withCondition(conditions, conditionOf(type, reason, message, now));
  };
  const jobTitle = `EphemeralJob ${metadata.namespace}/${metadata.name}`;
  const startTime = status?.startTime ?? formatTime(now);
  let phase = phaseOf(figures, spec.replicas ?? figures.match);
  let isOver = phase === 'Succeeded' || phase === 'Failed';
  if (figures.match === 0) setCondition('MatchedEmpty', 'MatchEmpty', 'job match no pods');
  if (phase === 'Succeeded') setCondition('JobSucceeded', 'JobSucceeded', 'job success to run all tasks');
  if (phase === 'Failed') setCondition('JobFailed', 'JobFailed', 'job failed to run all tasks');
  if (spec.paused) phase = 'Paused';
  if (figures.failed > 0) setCondition('JobFailed', 'CreateFailed', `${jobTitle} failed to create ephemeral container`);
  const isActive = phase === 'Waiting' || phase === 'Unknown' || phase === 'Running';
  if (isActive && msUntilDeadline(job, startTime, now) <= 0) {
    [phase, isOver] = ['Failed', true];
    setCondition('JobFailed', 'DeadlineExceeded', `${jobTitle} was active longer than specified deadline`);
  }
  if ((spec.template.ephemeralContainers ?? []).length === 0) {
    phase = 'Error';
    setCondition('JobError', 'Error', 'job spec invalid fields.');
  }
  return { conditions, startTime, ...(isOver ? { completionTime: formatTime(now) } : {}), phase, ...figures };
}

/** Returns the time until the active deadline. */
export function msUntilDeadline({ spec }: EphemeralJob, startTime: string, now: Instant): number {
  const { activeDeadlineSeconds: seconds } = spec;
  return seconds == null ? Number.POSITIVE_INFINITY : parseTime(startTime) + Number(seconds) * 1000 - now;
}

type Figures = { readonly [figure in Exclude<State, 'unknown'> | 'match']: number };

function phaseOf(
  { match, running, succeeded, waiting, failed }: Figures,
  wanted: number,
): NonNullable<EphemeralJobStatus['phase']> {
  if (match === 0) return 'Waiting';
  if (succeeded === wanted && succeeded > 0) return 'Succeeded';
  if (running > 0) return 'Running';
  // In OpenKruise, a succeeded Pod beside failed Pods prevents the job from ever finishing.
  if (failed > 0 && succeeded + failed === wanted) return 'Failed';
  return waiting === wanted ? 'Waiting' : 'Unknown';
}

/** Reports whether the ephemeral containers of a Pod have finished. */
export function hasEnded(job: EphemeralJob, pod: Pod): boolean {
  const state = stateOf(job, pod);
  return state === 'succeeded' || state === 'failed';
}

function stateOf({ spec }: EphemeralJob, { status }: Pod): State {
  const names = new Set((spec.template.ephemeralContainers ?? []).map(({ name }) => name));
  const statuses = (status?.ephemeralContainerStatuses ?? []).filter(({ name }) => names.has(name));
  const states = statuses.map(stateOfContainer);
  if (states.includes('failed')) return 'failed';
  const isComplete = states.length > 0 && states.length === names.size;
  if (isComplete && states.every((state) => state === 'succeeded')) return 'succeeded';
  return (['running', 'waiting'] as const).find((state) => states.includes(state)) ?? 'unknown';
}

function stateOfContainer({ state }: ContainerStatus): State {
  const { terminated, running, waiting } = state ?? {};
  if (terminated) {
    if (terminated.exitCode !== 0) return 'failed';
    return terminated.finishedAt == null ? 'unknown' : 'succeeded';
  }
  if (running) return 'running';
  if (!waiting) return 'unknown';
  return waiting.reason === 'RunContainerError' ? 'failed' : 'waiting';
}

function conditionOf(type: string, reason: string, message: string, now: Instant): Condition {
  const time = formatTime(now);
  return {
    type,
    status: 'True',
    lastProbeTime: time,
    lastTransitionTime: time,
    reason,
    ...(message ? { message } : {}),
  };
}

/** Sets a condition; a condition with the same reason and message is not changed. */
function withCondition(conditions: readonly Condition[], condition: Condition): readonly Condition[] {
  const index = conditions.findIndex(({ type }) => type === condition.type);
  if (index < 0) return [...conditions, condition];
  const { reason, message } = conditions[index]!;
  return reason === condition.reason && message === condition.message ? conditions : conditions.with(index, condition);
}
