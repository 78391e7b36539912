/** Compares the container statuses of Pods with the containers that the runtimes run. */
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import { pod } from '@kruise/api/core/pod';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import type { Machines, ObservedContainer } from '../nodes.ts';
import type { View } from '../view.ts';
import type { Invariant } from './invariant.ts';

export const podStatusesMatchRuntime: Invariant = {
  name: 'the status of a Pod matches its containers',
  observe({ machines }) {
    // Each version of a Pod is judged once: it is immutable, and so is the configuration of its containers.
    const judged = new WeakSet<Pod>();
    return (view) => {
      for (const each of view.list(pod)) {
        if (judged.has(each)) continue;
        judged.add(each);
        const error = statusErrorOf(each, machines);
        if (error !== undefined) return `${each.metadata.name}: ${error}`;
      }
      return undefined;
    };
  },
};

const statusesOf = ({ status }: Pod): readonly ContainerStatus[] => status?.containerStatuses ?? [];

/** Compares image names. Runtimes report them in full, with their registry. */
function isSameImage(claimed: string | undefined, real: string): boolean {
  return claimed === real || real.endsWith(`/${claimed}`) || (claimed ?? '').endsWith(`/${real}`);
}

function containerOf(machines: Machines, { containerID }: ContainerStatus): ObservedContainer | undefined {
  return machines.container(containerID?.replace(/^\w+:\/\//, '') ?? '');
}

/** Returns the first error in the container statuses, for running and terminated containers. */
function statusErrorOf(each: Pod, machines: Machines): string | undefined {
  for (const claimed of statusesOf(each)) {
    const { name, containerID, image, restartCount, state, ready } = claimed;
    if (!containerID) {
      if (ready) return `${name} is reported as ready without a containerID`;
      continue;
    }
    const found = containerOf(machines, claimed);
    if (!found) {
      if (state?.running) return `${name} is reported as running with ${containerID}, which was never started`;
      continue;
    }
    if (found.uid !== each.metadata.uid || found.name !== name) return `${name} is a container of another Pod`;
    if (found.machine !== each.spec?.nodeName)
      return `${name} is reported on ${each.spec?.nodeName} and runs on ${found.machine}`;
    if (!isSameImage(image, found.image)) return `${name} is reported with ${image} and runs ${found.image}`;
    if (restartCount !== found.attempt)
      return `${name} has restartCount ${restartCount} and was restarted ${found.attempt} times`;
    if (ready && !state?.running) return `${name} is reported as ready and not running`;
  }
  return undefined;
}

/**
 * Yields wrong statuses after convergence: running containers are reported, reported containers run, and both match the
 * spec.
 */
export function* incorrectStatuses(view: View, machines: Machines): Generator<string> {
  const pods = new Map(view.list(pod).map((each) => [each.metadata.uid ?? '', each]));
  for (const { uid, pod: name, name: container, machine } of machines.running()) {
    const owner = pods.get(uid);
    if (!owner) yield `container ${container} of ${name} runs on ${machine} and its Pod is deleted`;
    else if (!isPodActive(owner)) yield `container ${container} of ${name} runs on ${machine} and its Pod is finished`;
  }
  for (const each of pods.values()) {
    if (each.status?.phase !== 'Running' || each.metadata.deletionTimestamp) continue;
    const { name = '' } = each.metadata;
    const statuses = statusesOf(each);
    for (const { name: container, image } of each.spec?.containers ?? []) {
      const claimed = statuses.find((status) => status.name === container);
      const found = claimed && containerOf(machines, claimed);
      if (!found) yield `Pod ${name} has no status of ${container}`;
      else if (claimed.state?.running && !found.isRunning)
        yield `Pod ${name} reports ${container} as running, which has terminated`;
      else if (found.isRunning && !isSameImage(image, found.image))
        yield `Pod ${name} runs ${found.image}, not ${image}`;
    }
    const isReady = statuses.length > 0 && statuses.every(({ ready }) => ready);
    if (isPodReady(each) && !isReady) yield `Pod ${name} is ready although not all of its containers are`;
  }
}
