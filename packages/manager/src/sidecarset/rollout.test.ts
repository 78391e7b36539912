/** Property tests of whole rollouts with kubelets in random order: limits hold at every step, and rollouts finish. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { SidecarSet, SidecarSetStatus } from '@kruise/api/kruise/sidecarset';
import fc from 'fast-check';
import { carryOut, type Objects, objectsOf, put, run } from '../testing/world.ts';
import { decide } from './decide.ts';
import { now, podOf, setOf, settings, side } from './fixtures.ts';
import { isUpdated } from './marks.ts';
import { isConsistent, isReady } from './pod-state.ts';

const strategies = { cold: {}, hot: { upgradeType: 'HotUpgrade', hotUpgradeEmptyImage: 'empty:v1' } } as const;

const plan = fc.record({
  count: fc.integer({ min: 1, max: 6 }),
  partition: fc.nat(6),
  maxUnavailable: fc.integer({ min: 1, max: 3 }),
  way: fc.constantFrom('cold' as const, 'hot' as const),
  /** Order in which the kubelets of Pods act, by index. */
  order: fc.array(fc.nat(9), { minLength: 10, maxLength: 40 }),
});

test('an update respects its limits at every step, and ends with all Pods beyond the partition updated', () => {
  fc.assert(
    fc.property(plan, ({ count, partition, maxUnavailable, way, order }) => {
      const containers = (tag: string) => [side({ image: `side:${tag}`, upgradeStrategy: strategies[way] })];
      const old = setOf({ containers: containers('v1') });
      let sidecarSet: SidecarSet = setOf({
        containers: containers('v2'),
        updateStrategy: { partition, maxUnavailable },
      });
      const objects: Objects = new Map();
      put(objects, ...Array.from({ length: count }, (_, index) => podOf(`pod-${index}`, { of: old })));
      const podsNow = () => objectsOf<Pod>(objects, 'Pod');
      const tend = (index: number) => {
        const found = podsNow()[index % count]!;
        put(objects, run(found, now));
      };

      const pass = (): number => {
        const revisions = objectsOf<ControllerRevision>(objects, 'ControllerRevision');
        const decision = decide(
          { sidecarSet, pods: podsNow(), revisions, findRevision: () => undefined },
          settings,
          now,
        );
        carryOut(objects, decision.actions, now);
        if (decision.status) sidecarSet = { ...sidecarSet, status: decision.status as SidecarSetStatus };
        return decision.actions.length + (decision.status ? 1 : 0);
      };
      const down = () => podsNow().filter((pod) => !isConsistent(pod, sidecarSet) || !isReady(pod, sidecarSet)).length;

      for (let idle = 0, round = 0; idle < 3; round++) {
        assert.ok(round < 400, 'the rollout does not finish');
        const did = pass();
        assert.ok(down() <= maxUnavailable, `${down()} are unavailable, ${maxUnavailable} may be`);
        if (did > 0) tend(order[round % order.length] ?? 0);
        else for (let index = 0; index < count; index++) tend(index);
        idle = did > 0 ? 0 : idle + 1;
      }
      const updated = podsNow().filter((pod) => isUpdated(pod, sidecarSet)).length;
      assert.equal(updated, count - Math.min(partition, count));
      assert.equal(down(), 0);
    }),
    { numRuns: 100 },
  );
});
