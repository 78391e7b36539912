import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IPAddress } from '@kruise/api/networking/ipaddress';
import type { ServiceCIDR } from '@kruise/api/networking/servicecidr';
import { formatTime, instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { objectAfter } from '../../testing/execute-actions.ts';
import { decide } from './decide.ts';

const now = instantOf(2026, 1, 1);
const finalizer = 'networking.k8s.io/service-cidr-finalizer';

const rangeOf = (
  name: string,
  cidrs: readonly string[],
  deletedAgo?: number,
  finalizers = [finalizer],
): ServiceCIDR => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: {
    name,
    resourceVersion: '1',
    finalizers,
    ...(deletedAgo === undefined ? {} : { deletionTimestamp: formatTime(now - deletedAgo * 1000) }),
  },
  spec: { cidrs },
});
const addresses = (...names: readonly string[]) => names.map((name) => ({ metadata: { name } }) as IPAddress);

const cases: readonly {
  readonly name: string;
  readonly range: ServiceCIDR;
  readonly others?: readonly ServiceCIDR[];
  readonly addresses?: readonly IPAddress[];
  readonly comes: string;
}[] = [
  {
    name: 'a range gets its finalizer and the Ready condition',
    range: rangeOf('a', ['10.0.0.0/24'], undefined, []),
    comes: 'hold, ready',
  },
  { name: 'a range with the finalizer is ready', range: rangeOf('a', ['10.0.0.0/24']), comes: 'ready' },
  {
    name: 'an unused range has a grace period of ten seconds',
    range: rangeOf('a', ['10.0.0.0/24'], 4),
    comes: 'wait 6',
  },
  {
    name: 'an unused range is deleted after the grace period',
    range: rangeOf('a', ['10.0.0.0/24'], 10),
    comes: 'release',
  },
  {
    name: 'a range with an address is kept',
    range: rangeOf('a', ['10.0.0.0/24'], 99),
    addresses: addresses('10.1.0.1', '10.0.0.7'),
    comes: 'Terminating',
  },
  {
    name: 'a range whose addresses are in another range is deleted',
    range: rangeOf('a', ['10.0.0.0/24'], 99),
    others: [rangeOf('b', ['10.0.0.0/28'])],
    addresses: addresses('10.0.0.7'),
    comes: 'release',
  },
  {
    name: 'a range with one address that is in no other range is kept',
    range: rangeOf('a', ['10.0.0.0/24'], 99),
    others: [rangeOf('b', ['10.0.0.0/28'])],
    addresses: addresses('10.0.0.7', '10.0.0.77'),
    comes: 'Terminating',
  },
  {
    name: 'a range within another is deleted with any addresses',
    range: rangeOf('a', ['10.0.0.0/24'], 99),
    others: [rangeOf('b', ['10.0.0.0/16'])],
    addresses: addresses('10.0.0.7'),
    comes: 'release',
  },
  {
    name: 'both families must be covered by other ranges',
    range: rangeOf('a', ['10.0.0.0/24', 'fd00::/112'], 99),
    others: [rangeOf('b', ['10.0.0.0/16'])],
    addresses: addresses('10.0.0.7', 'fd00::7'),
    comes: 'Terminating',
  },
  {
    name: 'a range without the finalizer is unchanged',
    range: rangeOf('a', ['10.0.0.0/24'], 99, ['example.com/other']),
    comes: '',
  },
];
for (const { name, range, others = [], addresses: taken = [], comes } of cases) {
  test(name, () => {
    const decision = decide({ range, ranges: [range, ...others], addresses: taken }, now);
    const [action] = decision.actions;
    const condition = (decision.status as ServiceCIDR['status'])?.conditions?.[0];
    const kept = action?.type === 'patch' && (action.patch as ServiceCIDR).metadata.finalizers?.includes(finalizer);
    const summary = [
      ...(action ? [kept ? 'hold' : 'release'] : []),
      ...(condition ? [condition.status === 'True' ? 'ready' : condition.reason] : []),
      ...(decision.requeueAfterSeconds === undefined ? [] : [`wait ${decision.requeueAfterSeconds}`]),
    ];
    assert.equal(summary.join(', '), comes);
  });
}

test('no Service address is left without a range, and the decision is idempotent', () => {
  const cidr = fc.constantFrom('10.0.0.0/24', '10.0.0.0/28', '10.0.0.0/16', '10.1.0.0/24');
  const age = fc.option(fc.nat(30), { nil: undefined });
  const used = fc.subarray(['10.0.0.7', '10.0.0.77', '10.1.0.1']);
  fc.assert(
    fc.property(
      cidr,
      fc.array(cidr, { maxLength: 2 }),
      age,
      fc.boolean(),
      used,
      (own, others, deletedAgo, isHeld, ips) => {
        const range = rangeOf('a', [own], deletedAgo, isHeld ? [finalizer] : ['example.com/a']);
        const rest = others.map((each, index) => rangeOf(`b${index}`, [each]));
        const observe = (each: ServiceCIDR) => ({ range: each, ranges: [each, ...rest], addresses: addresses(...ips) });
        const after = objectAfter(range, decide(observe(range), now));
        if (!after) {
          const isIn = (prefix: string, ip: string) =>
            prefix.endsWith('/16')
              ? ip.startsWith('10.0.')
              : prefix.endsWith('/28')
                ? ip === '10.0.0.7'
                : ip.startsWith(prefix.slice(0, 7));
          const lost = ips.filter((ip) => isIn(own, ip) && !others.some((each) => isIn(each, ip)));
          assert.deepEqual(lost, []);
          return;
        }
        const again = decide(observe(after), now);
        assert.deepEqual(again.actions, []);
        assert.deepEqual(again.status ?? after.status, after.status);
      },
    ),
  );
});
