/** Target Pods of an EphemeralJob. */
import type { EphemeralContainer } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import type { EphemeralJob } from '@kruise/api/kruise/ephemeraljob';
import { isPodActive } from '@kruise/machinery/pods';
import { compareStrings } from '@kruise/values/go-syntax';
import { parseTime } from '@kruise/values/time';

/** Environment variable that marks the containers of a job. */
const jobVariable = 'KRUISE_EJOB_ID';

/** Returns the ephemeral containers of a job as they are added to Pods. */
export function ownContainers({ metadata, spec }: EphemeralJob): readonly EphemeralContainer[] {
  const mark = { name: jobVariable, value: metadata.uid ?? '' };
  return (spec.template.ephemeralContainers ?? []).map((each) => ({ ...each, env: [...(each.env ?? []), mark] }));
}

/** Returns the target Pods: the oldest of the selected Pods without a conflicting container name. */
export function targetsOf(job: EphemeralJob, pods: readonly Pod[]): readonly Pod[] {
  const isFree = (pod: Pod) => containersWithSameName(job, pod).every((container) => isOwn(job, container));
  const fitting = pods.filter((pod) => isPodActive(pod) && isFree(pod)).sort(byAge);
  return job.spec.replicas === undefined ? fitting : fitting.slice(0, Math.max(0, job.spec.replicas));
}

/** Reports whether a Pod has none of the job's containers yet. */
export function isUntouched(job: EphemeralJob, pod: Pod): boolean {
  return !containersWithSameName(job, pod).some((container) => isOwn(job, container));
}

function containersWithSameName({ spec }: EphemeralJob, pod: Pod): readonly EphemeralContainer[] {
  const names = new Set((spec.template.ephemeralContainers ?? []).map(({ name }) => name));
  return (pod.spec?.ephemeralContainers ?? []).filter(({ name }) => names.has(name));
}

function isOwn({ metadata }: EphemeralJob, { env }: EphemeralContainer): boolean {
  return env?.some(({ name, value }) => name === jobVariable && value === metadata.uid) ?? false;
}

function byAge(a: Pod, b: Pod): number {
  return createdAt(a) - createdAt(b) || compareStrings(a.metadata.name ?? '', b.metadata.name ?? '');
}

function createdAt({ metadata: { creationTimestamp } }: Pod): number {
  return creationTimestamp == null ? 0 : parseTime(creationTimestamp);
}
