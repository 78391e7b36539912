import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSubset } from '@kruise/api/core/endpoints';
import { regroup } from './regroup.ts';

/** Parses `a !b : 80 81` into addresses, not-ready addresses, and ports. */
function subset(text: string): EndpointSubset {
  const [addresses = '', ports = ''] = text.split(':');
  const words = addresses.split(' ').filter(Boolean);
  const at = (word: string) => ({ ip: word.replace('!', '') });
  return {
    addresses: words.filter((word) => !word.startsWith('!')).map(at),
    notReadyAddresses: words.filter((word) => word.startsWith('!')).map(at),
    ports: ports
      .split(' ')
      .filter(Boolean)
      .map((port) => ({ port: Number(port) })),
  };
}
const show = ({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset) =>
  `${[...addresses.map(({ ip }) => ip), ...notReadyAddresses.map(({ ip }) => `!${ip}`)].join(' ')} : ${ports.map(({ port }) => port).join(' ')}`;

const cases: readonly [name: string, before: readonly string[], after: readonly string[]][] = [
  ['regrouped subsets stay unchanged', ['a !b : 80 81'], ['a !b : 80 81']],
  ['ports with the same addresses are merged', ['a b : 80', 'b a : 81'], ['a b : 80 81']],
  ['addresses of the same port are merged', ['a : 80', 'b : 80'], ['a b : 80']],
  ['ports with other addresses stay separate', ['a b : 80', 'a : 81'], ['a b : 80', 'a : 81']],
  ['ports with a different readiness of addresses stay separate', ['a : 80', '!a : 81'], ['a : 80', '!a : 81']],
  ['not ready takes precedence over ready', ['a : 80', '!a : 80'], ['!a : 80']],
  ['and stays so', ['!a : 80', 'a : 80'], ['!a : 80']],
  ['addresses without ports are kept', ['a :'], ['a : ']],
  ['nothing is nothing', [], []],
];
for (const [name, before, after] of cases) {
  test(name, () => assert.deepEqual(regroup(before.map(subset)).map(show), after));
}

test('the target reference distinguishes endpoints with the same address', () => {
  const at = (uid: string) => ({ ip: 'a', targetRef: { uid } });
  const [only] = regroup([{ addresses: [at('x'), at('y'), at('x')], ports: [{ port: 80 }] }]);
  assert.equal(only?.addresses?.length, 2);
});
