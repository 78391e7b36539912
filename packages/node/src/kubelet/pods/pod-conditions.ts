/** Pod conditions that the kubelet manages. */
import type { Container } from '@kruise/api/core/container';
import type { ContainerStatus, Pod, PodCondition } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import { findCondition } from '@kruise/machinery/conditions';
import { formatTime, type Instant } from '@kruise/values/time';
import type { Phase } from './phase.ts';

/** Condition without its transition time. */
export type ConditionValue = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;

/** Inputs of the Pod conditions. */
export type ConditionInputs = {
  readonly pod: Pod;
  /** Statuses of init and regular containers. */
  readonly statuses: readonly ContainerStatus[];
  readonly phase: Phase;
  /** True if the Pod has a ready sandbox in which containers can start. */
  readonly hasSandbox: boolean;
  /** Conditions set by other controllers, which readiness gates may refer to. */
  readonly foreign: readonly PodCondition[];
};

const owned: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodReadyToStartContainers',
  'PodResizePending',
  'PodResizeInProgress',
]);

/** Reports whether a condition is owned by the kubelet. */
export function isKubeletCondition(type: string): boolean {
  return owned.has(type);
}

/** Returns the conditions of every Pod, in the order of the status. */
export function conditionValues(inputs: ConditionInputs): readonly ConditionValue[] {
  const containersReady = containersReadyCondition(inputs);
  return [
    { type: 'PodReadyToStartContainers', status: inputs.hasSandbox ? 'True' : 'False' },
    initializedCondition(inputs),
    readyCondition(inputs, containersReady),
    containersReady,
    { type: 'PodScheduled', status: 'True' },
  ];
}

function containersReadyCondition({ pod: { spec }, statuses, phase }: ConditionInputs): ConditionValue {
  const type = 'ContainersReady';
  const unknown: string[] = [];
  const unready: string[] = [];
  const classify = ({ name }: Container) => {
    const status = statusOf(statuses, name);
    if (!status) unknown.push(name);
    else if (status.ready === false) unready.push(name);
  };
  for (const container of spec?.initContainers ?? []) if (isSidecar(container)) classify(container);
  for (const container of spec?.containers ?? []) classify(container);
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'False', reason: 'PodCompleted' };
  // A failed Pod may still have terminating containers; their statuses no longer matter.
  if (phase === 'Failed') return { type, status: 'False', reason: 'PodFailed' };
  const message = faults({ unknown, unready });
  return message === '' ? { type, status: 'True' } : { type, status: 'False', reason: 'ContainersNotReady', message };
}

function readyCondition({ pod: { spec }, foreign }: ConditionInputs, containersReady: ConditionValue): ConditionValue {
  if (containersReady.status !== 'True') return { ...containersReady, type: 'Ready' };
  const faults: string[] = [];
  for (const { conditionType } of spec?.readinessGates ?? []) {
    const gate = JSON.stringify(conditionType);
    const found = findCondition(foreign, conditionType);
    if (!found) faults.push(`corresponding condition of pod readiness gate ${gate} does not exist.`);
    else if (found.status !== 'True') {
      faults.push(`the status of pod readiness gate ${gate} is not "True", but ${found.status}`);
    }
  }
  if (faults.length === 0) return { type: 'Ready', status: 'True' };
  return { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: faults.join(', ') };
}

function initializedCondition({ pod: { spec }, statuses, phase }: ConditionInputs): ConditionValue {
  const type = 'Initialized';
  const unknown: string[] = [];
  const incomplete: string[] = [];
  for (const container of spec?.initContainers ?? []) {
    const status = statusOf(statuses, container.name);
    if (!status) unknown.push(container.name);
    else if (!(isSidecar(container) ? status.started : status.ready)) incomplete.push(container.name);
  }
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'True', reason: 'PodCompleted' };
  // Restarting sidecars do not revert a completed initialization.
  const hasRegularStarted = (spec?.containers ?? []).some(({ name }) => hasStarted(statusOf(statuses, name)));
  const message = hasRegularStarted ? '' : faults({ unknown, incomplete });
  if (message === '') return { type, status: 'True' };
  return { type, status: 'False', reason: 'ContainersNotInitialized', message };
}

function hasStarted(status: ContainerStatus | undefined): boolean {
  return Boolean(status?.state?.running ?? status?.state?.terminated);
}

function statusOf(statuses: readonly ContainerStatus[], name: string): ContainerStatus | undefined {
  return statuses.find((each) => each.name === name);
}

function faults(containers: { readonly [word: string]: readonly string[] }): string {
  let text = '';
  for (const word in containers) {
    const names = containers[word]!;
    if (names.length > 0) text += `${text === '' ? '' : ', '}containers with ${word} status: [${names.join(' ')}]`;
  }
  return text;
}

/** Previous conditions: as this kubelet reported them, and as they are in the API. */
export type PreviousConditions = {
  readonly reported: readonly PodCondition[] | undefined;
  readonly api: readonly PodCondition[] | undefined;
};

/** Returns a condition with its transition time. */
export function conditionOf(value: ConditionValue, { reported, api }: PreviousConditions, now: Instant): PodCondition {
  const before = findCondition(reported, value.type);
  const other = findCondition(api, value.type);
  // Another controller may have set the condition first: it does not wait for the kubelet to stop traffic to a Pod.
  const isNewer = (other?.lastTransitionTime ?? '') > (before?.lastTransitionTime ?? '');
  const known = before?.status !== value.status && isNewer ? other : before;
  const since = known?.status === value.status ? known.lastTransitionTime : undefined;
  return { lastProbeTime: null, ...value, lastTransitionTime: since ?? formatTime(now) };
}
