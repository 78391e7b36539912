/** IP addresses and CIDR blocks of Kubernetes: `cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))`. */

import {
  type Address,
  contains,
  containsPrefix,
  formatAddress,
  formatPrefix,
  isMappedAddress,
  maskPrefix,
  type Prefix,
  parseAddress,
  parsePrefix,
} from '@kruise/values/address';
import { quote } from '@kruise/values/go-syntax';
import { attempt } from '../attempt.ts';
import { addRanges, constantCost, fixed, scale, stringFactor, traversal } from '../costs.ts';
import { type CallShape, type Cost, type FunctionDeclaration, method, overload, type Range } from '../functions.ts';
import type { Library } from '../library.ts';
import { sizeOf } from '../type-names.ts';
import { boolType, intType, opaqueType, stringType } from '../types.ts';
import { EvaluationError, noSuchOverload, ObjectValue, type Value } from '../values.ts';

/** `net.IP`. */
export const ipType = opaqueType('net.IP');
/** `net.CIDR`. */
export const cidrType = opaqueType('net.CIDR');

/** An IP address as a CEL value. */
export class IpValue extends ObjectValue {
  readonly typeName = ipType.name;
  readonly address: Address;

  constructor(address: Address) {
    super();
    this.address = address;
  }

  equals(other: Value): boolean | EvaluationError {
    if (!(other instanceof IpValue)) return other instanceof EvaluationError ? other : noSuchOverload;
    return this.address.family === other.address.family && this.address.bits === other.address.bits;
  }

  override get size(): number {
    return this.address.family === 4 ? 4 : 16;
  }

  override toJson(): string {
    return formatAddress(this.address);
  }
}

/** A CIDR block as a CEL value. */
export class CidrValue extends ObjectValue {
  readonly typeName = cidrType.name;
  readonly prefix: Prefix;

  constructor(prefix: Prefix) {
    super();
    this.prefix = prefix;
  }

  equals(other: Value): boolean | EvaluationError {
    if (!(other instanceof CidrValue)) return other instanceof EvaluationError ? other : noSuchOverload;
    return formatPrefix(this.prefix) === formatPrefix(other.prefix);
  }

  override get size(): number {
    return Math.ceil(this.prefix.length / 8);
  }

  override toJson(): string {
    return formatPrefix(this.prefix);
  }
}

function parseIp(text: string): IpValue | EvaluationError {
  const address = attempt(() => parseAddress(text));
  if (address instanceof EvaluationError) {
    return new EvaluationError(
      `IP Address ${quote(text)} parse error during conversion from string: ${address.message}`,
    );
  }
  if (address.zone !== undefined)
    return new EvaluationError(`IP address ${quote(text)} with zone value is not allowed`);
  if (isMappedAddress(address)) {
    return new EvaluationError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`);
  }
  return new IpValue(address);
}

const cidrFault = 'network address parse error during conversion from string:';

function parseCidr(text: string): CidrValue | EvaluationError {
  const prefix = attempt(() => parsePrefix(text));
  // cel-go wraps the parse error twice.
  if (prefix instanceof EvaluationError) return new EvaluationError(`${cidrFault} ${cidrFault} ${prefix.message}`);
  if (isMappedAddress(prefix.address)) {
    return new EvaluationError(`${cidrFault} IPv4-mapped IPv6 address ${quote(text)} is not allowed`);
  }
  return new CidrValue(prefix);
}

/** Returns whether the first `count` bits of an address are those of `prefix`. */
const startsWith = ({ bits }: Address, width: number, count: number, prefix: bigint): boolean =>
  bits >> BigInt(width - count) === prefix;

const isUnspecified = ({ bits }: Address): boolean => bits === 0n;

const isLoopback = (address: Address): boolean =>
  address.family === 4 ? startsWith(address, 32, 8, 127n) : address.bits === 1n;

const isMulticast = (address: Address): boolean =>
  address.family === 4 ? startsWith(address, 32, 4, 0xen) : startsWith(address, 128, 8, 0xffn);

const isLinkLocalMulticast = (address: Address): boolean =>
  // In IPv6 the second digit contains flags, which are ignored.
  address.family === 4 ? startsWith(address, 32, 24, 0xe00000n) : ((address.bits >> 112n) & 0xff0fn) === 0xff02n;

const isLinkLocalUnicast = (address: Address): boolean =>
  address.family === 4 ? startsWith(address, 32, 16, 0xa9fen) : startsWith(address, 128, 10, 0x3fan);

function isGlobalUnicast(address: Address): boolean {
  const isBroadcast = address.family === 4 && address.bits === 0xffffffffn;
  const isSpecial = isUnspecified(address) || isLoopback(address) || isMulticast(address);
  return !isBroadcast && !isSpecial && !isLinkLocalUnicast(address);
}

const test = (name: string, id: string, holds: (address: Address) => boolean): FunctionDeclaration => ({
  name,
  overloads: [method(id, [ipType], boolType, (value) => holds((value as IpValue).address))],
  cost: constantCost(1),
});

const passes = (times: number): Cost => ({
  actual: traversal(0, times),
  estimate: ({ args }) => ({ cost: scale(args[0]!.size, times * stringFactor) }),
});

/** An address is 4 or 16 bytes. */
const addressSize: Range = { min: 4n, max: 16n };

/** Cost of comparing the bytes of the block, and of parsing the other side if it is text. */
const containment = (textOverload: string, more: { actual: (size: number) => number; estimate: Range }): Cost => ({
  actual: ([block, other], _result, overload) => {
    const size = sizeOf(block!);
    const reading = overload === textOverload ? Math.ceil(sizeOf(other!) * stringFactor) : 0;
    return Math.ceil((size + size) * stringFactor) + more.actual(size) + reading;
  },
  estimate: ({ overload, args }: CallShape) => {
    const comparing = addRanges(scale(addRanges(addressSize, addressSize), stringFactor), more.estimate);
    const reading = overload === textOverload ? scale(args[0]!.size, stringFactor) : fixed(0);
    return { cost: addRanges(comparing, reading) };
  },
});

const isValue = (value: Value): boolean => !(value instanceof EvaluationError);

/** The network library. */
export const networkLibrary: Library = {
  types: [ipType, cidrType],
  functions: [
    {
      name: 'ip',
      overloads: [
        overload('string_to_ip', [stringType], ipType, (text) => parseIp(text as string)),
        method('cidr_ip', [cidrType], ipType, (block) => new IpValue((block as CidrValue).prefix.address)),
      ],
      cost: {
        actual: (args, result, overload) => (overload === 'cidr_ip' ? 1 : traversal(0)(args, result, overload)),
        estimate: ({ args }) => ({ cost: args[0] ? scale(args[0].size, stringFactor) : fixed(1) }),
      },
    },
    {
      name: 'cidr',
      overloads: [overload('string_to_cidr', [stringType], cidrType, (text) => parseCidr(text as string))],
      cost: passes(1),
    },
    {
      name: 'isIP',
      overloads: [overload('is_ip', [stringType], boolType, (text) => isValue(parseIp(text as string)))],
      cost: passes(1),
    },
    {
      name: 'isCIDR',
      overloads: [overload('is_cidr', [stringType], boolType, (text) => isValue(parseCidr(text as string)))],
      cost: passes(1),
    },
    {
      name: 'ip.isCanonical',
      overloads: [
        overload('ip_is_canonical', [stringType], boolType, (text) => {
          const ip = parseIp(text as string);
          return ip instanceof EvaluationError ? ip : ip.toJson() === text;
        }),
      ],
      cost: passes(2),
    },
    {
      name: 'family',
      overloads: [method('ip_family', [ipType], intType, (value) => (value as IpValue).address.family)],
      cost: constantCost(1),
    },
    test('isUnspecified', 'ip_is_unspecified', isUnspecified),
    test('isLoopback', 'ip_is_loopback', isLoopback),
    test('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
    test('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
    test('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
    {
      name: 'containsIP',
      overloads: [
        method('cidr_contains_ip_string', [cidrType, stringType], boolType, (block, text) => {
          const ip = parseIp(text as string);
          // cel-go drops the parse error here.
          return ip instanceof EvaluationError ? noSuchOverload : contains((block as CidrValue).prefix, ip.address);
        }),
        method('cidr_contains_ip_ip', [cidrType, ipType], boolType, (block, ip) =>
          contains((block as CidrValue).prefix, (ip as IpValue).address),
        ),
      ],
      cost: containment('cidr_contains_ip_string', { actual: () => 0, estimate: fixed(0) }),
    },
    {
      name: 'containsCIDR',
      overloads: [
        method('cidr_contains_cidr_string', [cidrType, stringType], boolType, (block, text) => {
          const inner = parseCidr(text as string);
          return inner instanceof EvaluationError ? inner : containsPrefix((block as CidrValue).prefix, inner.prefix);
        }),
        method('cidr_contains_cidr', [cidrType, cidrType], boolType, (block, inner) =>
          containsPrefix((block as CidrValue).prefix, (inner as CidrValue).prefix),
        ),
      ],
      // The inner block is masked, and the lengths are compared.
      cost: containment('cidr_contains_cidr_string', {
        actual: (size) => Math.ceil(size * stringFactor) + 1,
        estimate: addRanges(scale(addressSize, stringFactor), fixed(1)),
      }),
    },
    {
      name: 'prefixLength',
      overloads: [method('cidr_prefix_length', [cidrType], intType, (block) => (block as CidrValue).prefix.length)],
      cost: constantCost(1),
    },
    {
      name: 'masked',
      overloads: [
        method('cidr_masked', [cidrType], cidrType, (block) => new CidrValue(maskPrefix((block as CidrValue).prefix))),
      ],
      cost: constantCost(1),
    },
    {
      name: 'string',
      overloads: [
        overload('ip_to_string', [ipType], stringType, (value) => (value as IpValue).toJson()),
        overload('cidr_to_string', [cidrType], stringType, (value) => (value as CidrValue).toJson()),
      ],
    },
  ],
};
