/** Graceful node shutdown. */
import type { Clock } from '@kruise/values/clock';
import { isCriticalPod } from '../admission/critical.ts';
import { shutDownStatus } from '../eviction/disruption.ts';
import type { PodWorkers } from '../pods/pod-workers.ts';

/** Terminates all Pods of a node, critical Pods last. */
export async function terminatePods(workers: PodWorkers, graceSeconds: number, clock: Clock): Promise<void> {
  for (const isCritical of [false, true]) {
    const group = workers.all().filter((each) => each.isActive() && isCriticalPod(each.pod()) === isCritical);
    for (const worker of group) worker.kill({ graceSeconds, verdict: (status) => shutDownStatus(status, clock.now()) });
    await Promise.all(group.map(({ ended }) => ended));
  }
}
