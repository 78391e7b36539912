import { age, ageColumn, type Loose, nameColumn, tableOfColumns, text, wide } from './cells.ts';
import type { RowCondition } from './table.ts';

/** Summary of a Pod's containers for its row. */
type Summary = {
  readonly status: string;
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  readonly lastRestartMs: number;
};

/** Computes three cells in one pass over a Pod's containers. */
function summaryOf({ metadata, spec = {}, status = {} }: Loose): Summary {
  const initContainers: Loose[] = spec.initContainers ?? [];
  const sidecars = new Set(
    initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const conditions: Loose[] = status.conditions ?? [];
  const condition = (type: string) => conditions.find((each) => each.type === type);
  const total = (spec.containers ?? []).length + sidecars.size;
  let shown: string = status.reason || status.phase || '';
  if (condition('PodScheduled')?.reason === 'SchedulingGated') shown = 'SchedulingGated';

  const all = { restarts: 0, lastRestartMs: 0 };
  const ofSidecars = { restarts: 0, lastRestartMs: 0 };
  let ready = 0;
  let initializing = false;
  for (const [index, container] of (status.initContainerStatuses ?? []).entries()) {
    const isSidecar = sidecars.has(container.name);
    count(all, container);
    if (isSidecar) count(ofSidecars, container);
    const { terminated, waiting } = container.state ?? {};
    if (terminated && (terminated.exitCode ?? 0) === 0) continue;
    if (isSidecar && container.started) {
      if (container.ready) ready++;
      continue;
    }
    initializing = true;
    if (terminated) shown = `Init:${endOf(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') shown = `Init:${waiting.reason}`;
    else shown = `Init:${index}/${initContainers.length}`;
    break;
  }

  let counted = all;
  if (!initializing || condition('Initialized')?.status === 'True') {
    counted = ofSidecars;
    let hasRunning = false;
    for (const container of [...(status.containerStatuses ?? [])].reverse()) {
      count(counted, container);
      const { terminated, waiting, running } = container.state ?? {};
      if (waiting?.reason) shown = waiting.reason;
      else if (terminated) shown = endOf(terminated);
      else if (container.ready && running) {
        hasRunning = true;
        ready++;
      }
    }
    if (shown === 'Completed' && hasRunning) shown = condition('Ready')?.status === 'True' ? 'Running' : 'NotReady';
  }
  if (metadata.deletionTimestamp) {
    if (status.reason === 'NodeLost') shown = 'Unknown';
    else if (status.phase !== 'Succeeded' && status.phase !== 'Failed') shown = 'Terminating';
  }
  return { status: shown, ready, total, ...counted };
}

function count(sum: { restarts: number; lastRestartMs: number }, { restartCount = 0, lastState }: Loose): void {
  sum.restarts += restartCount;
  const finishedAt = lastState?.terminated?.finishedAt;
  if (finishedAt) sum.lastRestartMs = Math.max(sum.lastRestartMs, Date.parse(finishedAt));
}

/** Returns the reason of a terminated container, or its signal or exit code. */
function endOf({ reason, signal, exitCode = 0 }: Loose): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

function restartsCell({ restarts, lastRestartMs }: Summary, nowMs: number): string {
  if (restarts === 0 || lastRestartMs === 0) return String(restarts);
  return `${restarts} (${age(new Date(lastRestartMs).toISOString(), nowMs)} ago)`;
}

function gatesCell({ spec = {}, status = {} }: Loose): string {
  const gates: Loose[] = spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const isTrue = ({ conditionType }: Loose) =>
    (status.conditions ?? []).some((each: Loose) => each.type === conditionType && each.status === 'True');
  return `${gates.filter(isTrue).length}/${gates.length}`;
}

const ended: { readonly [phase: string]: RowCondition } = {
  Succeeded: { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
  Failed: { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
};

export const podTable = tableOfColumns(
  [
    nameColumn,
    text('Ready', 'The aggregate readiness state of this pod for accepting traffic.', (pod) => {
      const { ready, total } = summaryOf(pod);
      return `${ready}/${total}`;
    }),
    text('Status', 'The aggregate status of the containers in this pod.', (pod) => summaryOf(pod).status),
    text(
      'Restarts',
      'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
      (pod, nowMs) => restartsCell(summaryOf(pod), nowMs),
    ),
    ageColumn,
    wide(
      text(
        'IP',
        'podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.',
        ({ status }) => status?.podIPs?.[0]?.ip ?? '<none>',
      ),
    ),
    wide(
      text(
        'Node',
        'NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for scheduling by the scheduler defined in schedulerName. Once this field is set, the kubelet for this node becomes responsible for the lifecycle of this pod. This field should not be used to express a desire for the pod to be scheduled on a specific node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename',
        ({ spec }) => spec?.nodeName || '<none>',
      ),
    ),
    wide(
      text(
        'Nominated Node',
        'nominatedNodeName is set only when this pod preempts other pods on the node, but it cannot be scheduled right away as preemption victims receive their graceful termination periods. This field does not guarantee that the pod will be scheduled on this node. Scheduler may decide to place the pod elsewhere if other nodes become available sooner. Scheduler may also decide to give the resources on this node to a higher priority pod that is created after preemption. As a result, this field may be different than PodSpec.nodeName when the pod is scheduled.',
        ({ status }) => status?.nominatedNodeName || '<none>',
      ),
    ),
    wide(
      text(
        'Readiness Gates',
        'If specified, all readiness gates will be evaluated for pod readiness. A pod is ready when all its containers are ready AND all conditions specified in the readiness gates have status equal to "True" More info: https://git.k8s.io/enhancements/keps/sig-network/580-pod-readiness-gates',
        gatesCell,
      ),
    ),
  ],
  {
    conditions({ status }) {
      const condition = ended[(status as Loose)?.phase ?? ''];
      return condition ? [condition] : [];
    },
  },
);
