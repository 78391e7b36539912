import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Address,
  addressAt,
  compareAddresses,
  contains,
  containsPrefix,
  formatAddress,
  formatPrefix,
  isAddress,
  lastAddress,
  maskPrefix,
  offsetOf,
  overlaps,
  parseAddress,
  parseLegacyAddress,
  parseLegacyPrefix,
  parsePrefix,
  prefixSize,
  shiftAddress,
  unmap,
  unmapPrefix,
  validateAddress,
  validateLegacyAddress,
  validateLegacyPrefix,
  validatePrefixText,
} from './address.ts';

const canonical: readonly (readonly [string, string])[] = [
  ['10.0.0.1', '10.0.0.1'],
  ['255.255.255.255', '255.255.255.255'],
  ['::', '::'],
  ['::1', '::1'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ['1:0:0:2:2:0:0:3', '1::2:2:0:0:3'],
  ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ['::ffff:1.2.3.4', '::ffff:1.2.3.4'],
  ['::FFFF:102:304', '::ffff:1.2.3.4'],
  ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
];
for (const [text, expected] of canonical) {
  test(`${text} is written ${expected}`, () => assert.equal(formatAddress(parseAddress(text)), expected));
}

const refused: readonly (readonly [string, string])[] = [
  ['', 'unable to parse IP'],
  ['localhost', 'unable to parse IP'],
  ['%eth0', 'missing IPv6 address'],
  ['1.2.3', 'IPv4 address too short'],
  ['1.2.3.4.5', 'IPv4 address too long'],
  ['1.2.3.256', 'IPv4 field has value >255'],
  ['1.2.3.04', 'IPv4 field has octet with leading zero'],
  ['1..2.3', 'IPv4 field must have at least one digit (at ".2.3")'],
  ['1.2.3.', 'IPv4 field must have at least one digit (at ".")'],
  ['1.2.3.x', 'unexpected character (at "x")'],
  ['fe80::1%', 'zone must be a non-empty string'],
  ['1:2', 'address string too short'],
  [':1', 'each colon-separated field must have at least one digit (at ":1")'],
  ['1:', 'colon must be followed by more characters (at ":")'],
  ['1::2::3', 'multiple :: in address (at ":3")'],
  ['1:2:3:4:5:6:7:8:9', 'trailing garbage after address (at "9")'],
  ['1:2:3:4::5:6:7:8', 'the :: must expand to at least one field of zeros'],
  ['12345::', 'each group must have 4 or less digits (at "12345::")'],
  ['1:2x::', 'unexpected character, want colon (at "x::")'],
  ['1:1.2.3.4', 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'],
  ['::1:2:3:4:5:6:7.1', 'IPv4 address too short'],
];
for (const [text, reason] of refused) {
  test(`${JSON.stringify(text)} is refused: ${reason}`, () => {
    assert.throws(() => parseAddress(text), {
      name: 'ParseError',
      message: `ParseAddr(${JSON.stringify(text)}): ${reason}`,
    });
    assert.equal(isAddress(text), false);
  });
}

const refusedPrefixes: readonly (readonly [string, string])[] = [
  ['10.0.0.0', "no '/'"],
  ['10.0.0/8', 'ParseAddr("10.0.0"): IPv4 address too short'],
  ['fe80::%eth0/64', 'IPv6 zones cannot be present in a prefix'],
  ['10.0.0.0/08', 'bad bits after slash: "08"'],
  ['10.0.0.0/', 'bad bits after slash: ""'],
  ['10.0.0.0/33', 'prefix length out of range'],
  ['::/129', 'prefix length out of range'],
];
for (const [text, reason] of refusedPrefixes) {
  test(`${text} is refused: ${reason}`, () => {
    assert.throws(() => parsePrefix(text), { message: `netip.ParsePrefix(${JSON.stringify(text)}): ${reason}` });
  });
}

test('older fields take leading zeroes, and see through wrapped addresses', () => {
  const read = (text: string) => {
    const address = parseLegacyAddress(text);
    return address && formatAddress(unmap(address));
  };
  assert.equal(read('010.001.0.09'), '10.1.0.9');
  assert.equal(read('::ffff:1.2.3.4'), '1.2.3.4');
  assert.equal(read('00001::'), '1::');
  assert.equal(read('fe80::1%eth0'), undefined);
  assert.equal(read('1.2.3'), undefined);
  assert.equal(formatPrefix(maskPrefix(parseLegacyPrefix('10.1.2.3/08'))), '10.0.0.0/8');
  assert.equal(formatPrefix(unmapPrefix(parseLegacyPrefix('::ffff:1.2.3.0/120'))), '1.2.3.0/24');
  assert.throws(() => parseLegacyPrefix('10.0.0.0/33'), { message: 'invalid CIDR address: 10.0.0.0/33' });
  assert.throws(() => parseLegacyPrefix('10.0.0.0'), { message: 'invalid CIDR address: 10.0.0.0' });
});

test('errors have the messages of Kubernetes', () => {
  assert.deepEqual(validateAddress('10.0.0.1'), []);
  assert.deepEqual(validateAddress('x'), ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']);
  assert.deepEqual(validateAddress('01.0.0.1'), ['must not have leading 0s']);
  assert.deepEqual(validateAddress('::ffff:1.2.3.4'), ['must not be an IPv4-mapped IPv6 address']);
  assert.deepEqual(validateAddress('FE80::1'), ['must be in canonical form ("fe80::1")']);
  assert.deepEqual(validateLegacyAddress('FE80::1'), []);
  assert.deepEqual(validatePrefixText('10.0.0.1/24'), ['must not have bits set beyond the prefix length']);
  assert.deepEqual(validatePrefixText('10.0.0.0/024'), ['must not have leading 0s in IP or prefix length']);
  assert.deepEqual(validatePrefixText('2001:DB8::/32'), ['must be in canonical form ("2001:db8::/32")']);
  assert.deepEqual(validateLegacyPrefix('::ffff:1.2.3.4/128'), ['must not have an IPv4-mapped IPv6 address']);
  assert.deepEqual(validateLegacyPrefix('10.0.0.0'), [
    'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ]);
});

test('a block contains the addresses of its family with the same prefix', () => {
  const block = parsePrefix('10.96.0.0/12');
  assert.equal(contains(block, parseAddress('10.111.255.255')), true);
  assert.equal(contains(block, parseAddress('10.112.0.0')), false);
  assert.equal(contains(block, parseAddress('::ffff:10.96.0.1')), false);
  assert.equal(contains(parsePrefix('::/0'), parseAddress('fe80::1%eth0')), false);
  assert.equal(containsPrefix(block, parsePrefix('10.100.0.0/16')), true);
  assert.equal(containsPrefix(parsePrefix('10.100.0.0/16'), block), false);
  assert.equal(overlaps(parsePrefix('10.100.0.0/16'), block), true);
  assert.equal(overlaps(parsePrefix('10.112.0.0/16'), block), false);
});

test('addresses of a block are counted from its first', () => {
  const block = parsePrefix('10.0.0.77/24');
  assert.equal(prefixSize(block), 256n);
  assert.equal(formatAddress(addressAt(block, 1n)), '10.0.0.1');
  assert.equal(formatAddress(lastAddress(block)), '10.0.0.255');
  assert.throws(() => addressAt(block, 256n), RangeError);
  assert.equal(prefixSize(parsePrefix('fd00::/64')), 2n ** 64n);
  assert.equal(shiftAddress(parseAddress('255.255.255.255'), 1n), undefined);
  assert.equal(formatAddress(shiftAddress(parseAddress('1.255.255.255'), 1n) as Address), '2.0.0.0');
});

const anyAddress: fc.Arbitrary<Address> = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((bits) => ({ family: 4 as const, bits })),
  fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map((bits) => ({ family: 6 as const, bits })),
  fc.array(fc.constantFrom(0n, 0n, 1n, 0xffffn), { minLength: 8, maxLength: 8 }).map((groups) => ({
    family: 6 as const,
    bits: groups.reduce<bigint>((sum, group) => (sum << 16n) | group, 0n),
  })),
);

test('a formatted address is valid and parses to the same value', () => {
  fc.assert(
    fc.property(anyAddress, (address) => {
      assert.deepEqual(parseAddress(formatAddress(address)), address);
      assert.equal(compareAddresses(address, parseAddress(formatAddress(address))), 0);
    }),
  );
});

test('an address of a block is at the offset it has', () => {
  fc.assert(
    fc.property(anyAddress, fc.nat(32), (address, length) => {
      const block = { address, length };
      assert.ok(contains(maskPrefix(block), address));
      assert.deepEqual(addressAt(block, offsetOf(block, address)), address);
    }),
  );
});
