/** Timeline of a cluster: describes the changes between two states in plain sentences. */
import { daemonSet } from '@kruise/api/apps/daemonset';
import { deployment } from '@kruise/api/apps/deployment';
import { statefulSet } from '@kruise/api/apps/statefulset';
import { job } from '@kruise/api/batch/job';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { isPodReady } from '@kruise/machinery/pods';
import type { View } from './view.ts';

/** Available and desired Pods of a workload at a time. */
export type Sample = { readonly atMs: number; readonly available: number; readonly wanted: number };

/** Compares each state with the previous one and describes the changes. */
export type TimelineRecorder = {
  record(view: View, atMs: number): readonly string[];
  /** Samples of each workload over time. */
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
};

type Figures = { readonly wanted: number; readonly available: number; readonly text: string };

export function createTimelineRecorder(): TimelineRecorder {
  const samples = new Map<string, Sample[]>();
  let known = new Map<string, string>();
  return {
    samples,
    record(view, atMs) {
      const seen = new Map<string, string>();
      for (const [name, { wanted, available, text }] of workloadsOf(view)) {
        seen.set(name, text);
        const own = samples.get(name) ?? [];
        samples.set(name, own);
        const last = own.at(-1);
        if (last?.available !== available || last.wanted !== wanted) own.push({ atMs, available, wanted });
      }
      for (const { metadata, status } of view.list(node)) {
        const name = metadata.name ?? '';
        seen.set(name, isConditionTrue(status?.conditions, 'Ready') ? 'is ready' : 'is not ready');
      }
      for (const each of view.list(pod)) {
        const name = nameOf('Pod', each.metadata);
        seen.set(name, podState(each, known.get(name)));
      }
      const lines: string[] = [];
      for (const [name, text] of seen) {
        if (known.get(name) !== text) lines.push(text.startsWith(':') ? name + text : `${name} ${text}`);
      }
      for (const name of known.keys()) {
        if (seen.has(name)) continue;
        lines.push(`${name} is gone`);
        const own = samples.get(name);
        if (own && own.at(-1)?.wanted !== 0) own.push({ atMs, available: 0, wanted: 0 });
      }
      known = seen;
      return lines;
    },
  };
}

const neverReady = new Set([undefined, 'is pending']);

function podState(found: Pod, before: string | undefined): string {
  const { metadata, spec, status } = found;
  if (metadata.deletionTimestamp) return 'is terminating';
  if (status?.phase === 'Failed') return `has failed${status.reason ? ` (${status.reason})` : ''}`;
  if (status?.phase === 'Succeeded') return 'has succeeded';
  if (!spec?.nodeName) return 'is pending';
  if (isPodReady(found)) return `is ready on ${spec.nodeName}`;
  const isNew = neverReady.has(before) || before === `starts on ${spec.nodeName}`;
  return isNew ? `starts on ${spec.nodeName}` : `is no longer ready on ${spec.nodeName}`;
}

function* workloadsOf(view: View): Generator<readonly [string, Figures]> {
  const rolled = (wanted: number, available: number, updated: number, verb = 'available'): Figures => {
    const newest = updated === wanted ? '' : `, ${updated} updated`;
    return { wanted, available, text: `: ${available} of ${wanted} ${verb}${newest}` };
  };
  for (const { metadata, spec, status } of view.list(deployment)) {
    const { availableReplicas = 0, updatedReplicas = 0 } = status ?? {};
    yield [nameOf('Deployment', metadata), rolled(spec?.replicas ?? 1, availableReplicas, updatedReplicas)];
  }
  for (const { metadata, spec, status } of view.list(statefulSet)) {
    const { availableReplicas = 0, updatedReplicas = 0 } = status ?? {};
    yield [nameOf('StatefulSet', metadata), rolled(spec?.replicas ?? 1, availableReplicas, updatedReplicas)];
  }
  for (const { metadata, spec, status } of view.list(cloneSet)) {
    const { availableReplicas = 0, updatedReplicas = 0 } = status ?? {};
    yield [nameOf('CloneSet', metadata), rolled(spec.replicas ?? 1, availableReplicas, updatedReplicas)];
  }
  for (const { metadata, status } of view.list(daemonSet)) {
    const { desiredNumberScheduled = 0, numberAvailable = 0, updatedNumberScheduled = 0 } = status ?? {};
    yield [nameOf('DaemonSet', metadata), rolled(desiredNumberScheduled, numberAvailable, updatedNumberScheduled)];
  }
  for (const { metadata, spec, status } of view.list(job)) {
    const wanted = spec?.completions ?? 1;
    const { succeeded = 0, failed = 0 } = status ?? {};
    const text = `: ${succeeded} of ${wanted} succeeded${failed > 0 ? `, ${failed} failed` : ''}`;
    yield [nameOf('Job', metadata), { wanted, available: succeeded, text }];
  }
}

function nameOf(
  kind: string,
  { name = '', namespace = 'default' }: { readonly name?: string; readonly namespace?: string },
) {
  return `${kind} ${namespace === 'default' ? '' : `${namespace}/`}${name}`;
}
