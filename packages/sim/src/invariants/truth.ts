/** Compares the container statuses of Pods with the containers that the runtimes run. */
import type { ContainerStatus, Pod } from '@kruise/api/core/pod';
import { pod } from '@kruise/api/core/pod';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import type { Machines, SeenContainer } from '../nodes.ts';
import type { View } from '../view.ts';
import type { Invariant } from './invariant.ts';

export const statusesTellTheTruth: Invariant = {
  name: "a Pod's status tells of containers what they are",
  begin({ machines }) {
    // A version of a Pod is judged once: it does not change, and neither does the configuration of its containers.
    const judged = new WeakSet<Pod>();
    return (view) => {
      for (const each of view.list(pod)) {
        if (judged.has(each)) continue;
        judged.add(each);
        const lie = lieOf(each, machines);
        if (lie !== undefined) return `${each.metadata.name}: ${lie}`;
      }
      return undefined;
    };
  },
};

const statusesOf = ({ status }: Pod): readonly ContainerStatus[] => status?.containerStatuses ?? [];

/** Runtimes name images in full, with their registry. */
function isSameImage(claimed: string | undefined, real: string): boolean {
  return claimed === real || real.endsWith(`/${claimed}`) || (claimed ?? '').endsWith(`/${real}`);
}

function containerOf(machines: Machines, { containerID }: ContainerStatus): SeenContainer | undefined {
  return machines.container(containerID?.replace(/^\w+:\/\//, '') ?? '');
}

/** Returns the errors in the containers that a status names, whether they still run or not. */
function lieOf(each: Pod, machines: Machines): string | undefined {
  for (const claimed of statusesOf(each)) {
    const { name, containerID, image, restartCount, state, ready } = claimed;
    if (!containerID) {
      if (ready) return `${name} is said to be ready and has no container`;
      continue;
    }
    const found = containerOf(machines, claimed);
    if (!found) {
      if (state?.running) return `${name} is said to run as ${containerID}, which never started`;
      continue;
    }
    if (found.uid !== each.metadata.uid || found.name !== name) return `${name} is a container of another Pod`;
    if (found.machine !== each.spec?.nodeName)
      return `${name} is said to run on ${each.spec?.nodeName}, not on ${found.machine}`;
    if (!isSameImage(image, found.image)) return `${name} is said to run ${image} and runs ${found.image}`;
    if (restartCount !== found.attempt)
      return `${name} is said to be restarted ${restartCount} times, and was ${found.attempt} times`;
    if (ready && !state?.running) return `${name} is said to be ready and not to run`;
  }
  return undefined;
}

/** Yields false statuses in a stable world: running containers are reported, reported ones run, and match the spec. */
export function* untruths(view: View, machines: Machines): Generator<string> {
  const pods = new Map(view.list(pod).map((each) => [each.metadata.uid ?? '', each]));
  for (const { uid, pod: name, name: container, machine } of machines.running()) {
    const owner = pods.get(uid);
    if (!owner) yield `container ${container} of ${name} runs on ${machine}, and the Pod is gone`;
    else if (!isPodActive(owner)) yield `container ${container} of ${name} runs on ${machine}, and the Pod is over`;
  }
  for (const each of pods.values()) {
    if (each.status?.phase !== 'Running' || each.metadata.deletionTimestamp) continue;
    const { name = '' } = each.metadata;
    const statuses = statusesOf(each);
    for (const { name: container, image } of each.spec?.containers ?? []) {
      const claimed = statuses.find((status) => status.name === container);
      const found = claimed && containerOf(machines, claimed);
      if (!found) yield `Pod ${name} says nothing of ${container}`;
      else if (claimed.state?.running && !found.isRunning)
        yield `Pod ${name} says that ${container} runs, which has ended`;
      else if (found.isRunning && !isSameImage(image, found.image))
        yield `Pod ${name} runs ${found.image}, not ${image}`;
    }
    const isReady = statuses.length > 0 && statuses.every(({ ready }) => ready);
    if (isPodReady(each) && !isReady) yield `Pod ${name} is ready, and not all of its containers are`;
  }
}
