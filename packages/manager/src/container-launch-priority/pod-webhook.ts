import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { launchBarrierEnv, launchPriorityAnnotation, launchPriorityEnv } from '@kruise/api/kruise/well-known';
import { randomSuffix } from '@kruise/machinery/generated-names';
import { quote } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import type { Random } from '@kruise/values/random';
import type { WebhookContext } from '../webhooks/context.ts';
import { barrierKey, barrierName } from './launch-priority.ts';

/** Adds a barrier to each container, which waits for containers of a higher launch priority. */
export function withLaunchBarriers(pod: Pod, { random }: Pick<WebhookContext, 'random'>): Pod {
  const containers = pod.spec?.containers ?? [];
  if (!pod.spec || containers.length === 1) return pod;
  const priorities = prioritiesOf(pod, containers);
  if (!priorities) return pod;
  const named = withName(pod, random);
  const name = barrierName(named);
  const waiting = containers.map((container, index) => {
    const configMapKeyRef = { name, key: barrierKey(priorities[index]!) };
    const barrier = { name: launchBarrierEnv, valueFrom: { configMapKeyRef } };
    return { ...container, env: [...(container.env ?? []), barrier] };
  });
  return { ...named, spec: { ...pod.spec, containers: waiting } };
}

/** Returns the priority of each container; undefined if all start at once. */
function prioritiesOf({ metadata }: Pod, containers: readonly Container[]): readonly number[] | undefined {
  // Of two containers the second has -1, and the first 0 rather than -0.
  if (metadata.annotations?.[launchPriorityAnnotation] === 'Ordered') return containers.map((_, index) => 0 - index);
  const priorities = containers.map(priorityOf);
  return new Set(priorities).size > 1 ? priorities : undefined;
}

function priorityOf({ env = [] }: Container): number {
  const asked = env.findLast(({ name }) => name === launchPriorityEnv);
  if (!asked) return 0;
  const { value = '' } = asked;
  if (!/^[-+]?\d+$/.test(value)) throw new ParseError(`strconv.Atoi: parsing ${quote(value)}: invalid syntax`);
  return Number(value) + 0;
}

const maxPrefixLength = 58;

/** Generates the name of the Pod, because the ConfigMap of the barrier is named after it. */
function withName(pod: Pod, random: Random): Pod {
  const { name, generateName } = pod.metadata;
  if (name || !generateName) return pod;
  const generated = `${generateName.slice(0, maxPrefixLength)}${randomSuffix(random, 5)}`;
  return { ...pod, metadata: { ...pod.metadata, name: generated } };
}
