import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import fc from 'fast-check';
import { containerHash } from '../containers/containers.ts';
import { makeContainer, makePod, makeSandbox, runtimeContainer, sidecar } from '../fixtures.ts';
import { newestOf, type RuntimeContainer, type RuntimePod } from '../runtime/runtime-pod.ts';
import { decideActions, type PodActions } from './pod-actions.ts';

const noProbes = { liveness: () => undefined, startup: () => undefined };
const decide = (pod: Pod, runtimePod: RuntimePod) =>
  decideActions({ pod, runtimePod, probes: noProbes, resizeActionFor: () => 'none' });

const policies = ['Always', 'OnFailure', 'Never'] as const;
const anyState = fc.constantFrom<RuntimeContainer['state']>('created', 'running', 'exited', 'unknown');
const anyInit = fc.array(fc.constantFrom('init', 'sidecar'), { maxLength: 3 });

/** Generates a Pod and an arbitrary runtime state of it. */
const anyRuntimeState = fc
  .record({
    restartPolicy: fc.constantFrom(...policies),
    roles: anyInit,
    count: fc.integer({ min: 1, max: 3 }),
    sandbox: fc.constantFrom('none', 'ready', 'dead'),
    states: fc.array(
      fc.option(fc.record({ state: anyState, exitCode: fc.constantFrom(0, 1, 137), isOld: fc.boolean() })),
      { minLength: 6, maxLength: 6 },
    ),
  })
  .map(({ restartPolicy, roles, count, sandbox, states }) => {
    const initContainers = roles.map((role, index) =>
      role === 'sidecar' ? sidecar(`i${index}`) : makeContainer(`i${index}`),
    );
    const containers = Array.from({ length: count }, (_, index) => makeContainer(`c${index}`));
    const pod = makePod({ restartPolicy, initContainers, containers });
    const made = [...initContainers, ...containers].flatMap(({ name }, index) => {
      const given = states[index];
      if (!given || sandbox === 'none') return [];
      const { state, exitCode, isOld } = given;
      const isEnded = state === 'exited' || sandbox === 'dead';
      return [
        runtimeContainer(name, {
          state: isEnded ? 'exited' : state,
          exitCode: isEnded ? exitCode : 0,
          ...(isOld ? { hash: 'old' } : {}),
        }),
      ];
    });
    const sandboxes = sandbox === 'none' ? [] : [makeSandbox({ isReady: sandbox === 'ready' })];
    return { pod, runtimePod: { sandboxes, containers: made } };
  });

/** Applies the actions to the runtime state; all running init containers complete. */
function applyActions(
  pod: Pod,
  { sandboxes, containers }: RuntimePod,
  actions: PodActions,
  exitCode: number,
): RuntimePod {
  const { killsPod, createsSandbox, attempt, kills, init, regular } = actions;
  const killed = new Set(kills.map(({ target }) => target.id));
  const left = containers.map((each) =>
    killsPod || killed.has(each.id) ? { ...each, state: 'exited' as const, exitCode: 137 } : each,
  );
  const stopped = killsPod ? sandboxes.map((each) => ({ ...each, isReady: false })) : sandboxes;
  const standing = createsSandbox ? [makeSandbox({ id: `s${attempt}`, attempt }), ...stopped] : stopped;
  const sandboxId = standing[0]?.id ?? '';
  const start = (container: Container): RuntimeContainer => {
    const before = newestOf({ sandboxes, containers: left }, container.name);
    const isOver = pod.spec?.initContainers?.some(
      ({ name, restartPolicy }) => name === container.name && !restartPolicy,
    );
    return runtimeContainer(container.name, {
      id: `${container.name}-${(before?.restartCount ?? -1) + 1}`,
      sandboxId,
      restartCount: (before?.restartCount ?? -1) + 1,
      hash: containerHash(container),
      ...(isOver ? { state: 'exited', exitCode } : {}),
    });
  };
  return { sandboxes: standing, containers: [...init.map(start), ...regular.map(start), ...left] };
}

function wantsNothing({ killsPod, createsSandbox, kills, init, regular, ephemeral }: PodActions): boolean {
  return !killsPod && !createsSandbox && kills.length + init.length + regular.length + ephemeral.length === 0;
}

const maxPasses = 20;

/** Returns the state after all running init containers have completed. */
function withInitCompleted(pod: Pod, world: RuntimePod): RuntimePod {
  const passing = new Set(
    (pod.spec?.initContainers ?? []).filter((each) => !each.restartPolicy).map(({ name }) => name),
  );
  const isPassing = ({ name, state }: RuntimeContainer) => state === 'running' && passing.has(name);
  if (!world.containers.some(isPassing)) return world;
  const containers = world.containers.map((each) => (isPassing(each) ? { ...each, state: 'exited' as const } : each));
  return { ...world, containers };
}

function settled(pod: Pod, runtimePod: RuntimePod): RuntimePod {
  let world = runtimePod;
  for (let pass = 0; pass < maxPasses; pass++) {
    const actions = decide(pod, world);
    if (wantsNothing(actions)) {
      const waited = withInitCompleted(pod, world);
      if (waited === world) return world;
      world = waited;
      continue;
    }
    // A killed Pod without a new sandbox has terminated.
    if (actions.killsPod && !actions.createsSandbox) return applyActions(pod, world, actions, 0);
    world = applyActions(pod, world, actions, 0);
  }
  throw new Error('it goes on for ever');
}

test('a Pod converges from any runtime state', () => {
  fc.assert(fc.property(anyRuntimeState, ({ pod, runtimePod }) => void settled(pod, runtimePod)));
});

test('a Pod with restartPolicy Always converges to one running instance of each container', () => {
  const restarting = anyRuntimeState.filter(({ pod }) => pod.spec?.restartPolicy === 'Always');
  fc.assert(
    fc.property(restarting, ({ pod, runtimePod }) => {
      const world = settled(pod, runtimePod);
      const sidecars = (pod.spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
      for (const { name } of [...sidecars, ...(pod.spec?.containers ?? [])]) {
        const alive = world.containers.filter((each) => each.name === name && each.state === 'running');
        assert.deepEqual(
          alive.map((each) => each.hash),
          [containerHash({ name, image: `${name}:1` })],
          name,
        );
      }
    }),
  );
});

test('regular containers never start before the init containers have completed', () => {
  fc.assert(
    fc.property(anyRuntimeState, ({ pod, runtimePod }) => {
      const actions = decide(pod, runtimePod);
      const hasRun = (pod.spec?.containers ?? []).some(({ name }) =>
        ['created', 'running'].includes(newestOf(runtimePod, name)?.state ?? ''),
      );
      const last = pod.spec?.initContainers?.at(-1);
      if (!last || hasRun || actions.regular.length === 0) return;
      const newest = newestOf(runtimePod, last.name);
      const isThrough =
        last.restartPolicy === 'Always'
          ? newest?.state === 'running'
          : newest?.state === 'exited' && newest.exitCode === 0;
      assert.ok(isThrough);
    }),
  );
});
