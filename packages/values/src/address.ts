/**
 * IP addresses and CIDR blocks, parsed and formatted as in Go: `parseAddress` and `parsePrefix` follow the netip
 * package; `parseLegacyAddress` and `parseLegacyPrefix` follow the lenient parser of older Kubernetes fields, which
 * accepts leading zeros.
 *
 * ```ts
 * contains(parsePrefix('10.0.0.0/8'), parseAddress('10.1.2.3')); // true
 * ```
 */
import { quote } from './go-syntax.ts';
import { ParseError } from './parse-error.ts';

/** An IP address. `::ffff:1.2.3.4` has family 6. */
export type Address = {
  readonly family: 4 | 6;
  readonly bits: bigint;
  /** Zone (interface) of a link-local address, after the `%`. */
  readonly zone?: string;
};

/** A CIDR block. The host bits of the address are kept. */
export type Prefix = { readonly address: Address; readonly length: number };

const mappedPrefix = 0xffffn;

/** Parses an address. Throws `ParseError` with the message of Go. */
export function parseAddress(text: string): Address {
  return readAddress(text, 'strict');
}

/** Parses an address as older Kubernetes fields do: leading zeros are allowed, zones are not. */
export function parseLegacyAddress(text: string): Address | undefined {
  return attempt(() => readAddress(text, 'legacy'));
}

/** Parses a CIDR block. Throws `ParseError` with the message of Go. */
export function parsePrefix(text: string): Prefix {
  const fail = (reason: string) => new ParseError(`netip.ParsePrefix(${quote(text)}): ${reason}`);
  const slash = text.lastIndexOf('/');
  if (slash < 0) throw fail("no '/'");
  let address: Address;
  try {
    address = parseAddress(text.slice(0, slash));
  } catch (error) {
    throw error instanceof ParseError ? fail(error.message) : error;
  }
  if (address.zone !== undefined) throw fail('IPv6 zones cannot be present in a prefix');
  const digits = text.slice(slash + 1);
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(digits)) throw fail(`bad bits after slash: ${quote(digits)}`);
  if (Number(digits) > width(address)) throw fail('prefix length out of range');
  return { address, length: Number(digits) };
}

/** Parses a CIDR block as older Kubernetes fields do. Throws `ParseError` with the message of Go. */
export function parseLegacyPrefix(text: string): Prefix {
  const slash = text.indexOf('/');
  const address = slash < 0 ? undefined : parseLegacyAddress(text.slice(0, slash));
  const length = /^[0-9]{1,100}$/.test(text.slice(slash + 1)) ? Number(text.slice(slash + 1)) : Number.NaN;
  if (address === undefined || !(length <= width(address))) throw new ParseError(`invalid CIDR address: ${text}`);
  return { address, length };
}

/** Reports whether `parseAddress` accepts the text. */
export function isAddress(text: string): boolean {
  return attempt(() => parseAddress(text)) !== undefined;
}

/** Formats an address in canonical form (RFC 5952): `10.0.0.1`, `2001:db8::1`, `::ffff:10.0.0.1`. */
export function formatAddress({ family, bits, zone }: Address): string {
  if (family === 4) return formatIPv4(bits);
  const text = isMapped(bits) ? `::ffff:${formatIPv4(bits & 0xffff_ffffn)}` : formatIPv6(bits);
  return zone === undefined ? text : `${text}%${zone}`;
}

/** Formats a CIDR block in canonical form, with its host bits. */
export function formatPrefix({ address, length }: Prefix): string {
  return `${formatAddress(address)}/${length}`;
}

/** Converts `::ffff:1.2.3.4` to `1.2.3.4`, as Go's older `net.IP` does; other addresses are unchanged. */
export function unmap(address: Address): Address {
  return address.family === 6 && isMapped(address.bits) ? { family: 4, bits: address.bits & 0xffff_ffffn } : address;
}

/** Converts an IPv4-mapped block: `::ffff:1.2.3.0/120` is `1.2.3.0/24`. */
export function unmapPrefix(prefix: Prefix): Prefix {
  return isMappedAddress(prefix.address) && prefix.length >= 96
    ? { address: unmap(prefix.address), length: prefix.length - 96 }
    : prefix;
}

/** Reports whether an address is an IPv4-mapped IPv6 address. */
export function isMappedAddress({ family, bits }: Address): boolean {
  return family === 6 && isMapped(bits);
}

/** Compares two addresses: IPv4 first, then by number, then by zone. */
export function compareAddresses(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family - b.family;
  if (a.bits !== b.bits) return a.bits < b.bits ? -1 : 1;
  const [x, y] = [a.zone ?? '', b.zone ?? ''];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Returns the block with its host bits cleared. */
export function maskPrefix({ address, length }: Prefix): Prefix {
  const free = BigInt(width(address) - length);
  return { address: { family: address.family, bits: (address.bits >> free) << free }, length };
}

/** Reports whether the block contains the address. An IPv6 block contains no IPv4 address, not even a mapped one. */
export function contains({ address: network, length }: Prefix, address: Address): boolean {
  if (network.family !== address.family || address.zone !== undefined) return false;
  const free = BigInt(width(network) - length);
  return network.bits >> free === address.bits >> free;
}

/** Reports whether the outer block contains all of the inner block. */
export function containsPrefix(outer: Prefix, inner: Prefix): boolean {
  return inner.length >= outer.length && contains(outer, inner.address);
}

/** Reports whether two blocks have a common address. */
export function overlaps(a: Prefix, b: Prefix): boolean {
  return containsPrefix(a, b) || containsPrefix(b, a);
}

/** Returns the number of addresses of the block. */
export function prefixSize({ address, length }: Prefix): bigint {
  return 1n << BigInt(width(address) - length);
}

/**
 * Returns the address at an offset from the first address of the block. Throws if the offset is outside of the block.
 */
export function addressAt(prefix: Prefix, offset: bigint): Address {
  if (offset < 0n || offset >= prefixSize(prefix))
    throw new RangeError(`${formatPrefix(prefix)} has no address ${offset}`);
  const { address } = maskPrefix(prefix);
  return { family: address.family, bits: address.bits + offset };
}

/** Returns the offset of an address from the first address of the block. */
export function offsetOf(prefix: Prefix, address: Address): bigint {
  return address.bits - maskPrefix(prefix).address.bits;
}

/** Returns the last address of the block; for IPv4 the broadcast address. */
export function lastAddress(prefix: Prefix): Address {
  return addressAt(prefix, prefixSize(prefix) - 1n);
}

/** Returns the address at a distance from another; undefined outside of the range of the family. */
export function shiftAddress(address: Address, step: bigint): Address | undefined {
  const bits = address.bits + step;
  return bits < 0n || bits >> BigInt(width(address)) !== 0n ? undefined : { ...address, bits };
}

/** Validates an address for a new field, which must be in canonical form. Returns the error messages. */
export function validateAddress(text: string): readonly string[] {
  const faults = validateLegacyAddress(text);
  if (faults.length > 0) return faults;
  const canonical = formatAddress(parseAddress(text));
  return canonical === text ? [] : [`must be in canonical form (${quote(canonical)})`];
}

/** Validates an address for an older field by the strict rules. Returns the error messages. */
export function validateLegacyAddress(text: string): readonly string[] {
  if (parseLegacyAddress(text) === undefined) {
    return ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'];
  }
  const address = attempt(() => parseAddress(text));
  if (address === undefined) return ['must not have leading 0s'];
  return isMappedAddress(address) ? ['must not be an IPv4-mapped IPv6 address'] : [];
}

/** Validates a CIDR block for a new field: canonical form without host bits. Returns the error messages. */
export function validatePrefixText(text: string): readonly string[] {
  const faults = validateLegacyPrefix(text);
  if (faults.length > 0) return faults;
  const canonical = formatPrefix(parsePrefix(text));
  return canonical === text ? [] : [`must be in canonical form (${quote(canonical)})`];
}

/** Validates a CIDR block for an older field by the strict rules. Returns the error messages. */
export function validateLegacyPrefix(text: string): readonly string[] {
  if (attempt(() => parseLegacyPrefix(text)) === undefined) {
    return ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'];
  }
  const prefix = attempt(() => parsePrefix(text));
  if (prefix === undefined) return ['must not have leading 0s in IP or prefix length'];
  if (isMappedAddress(prefix.address)) return ['must not have an IPv4-mapped IPv6 address'];
  return prefix.address.bits === maskPrefix(prefix).address.bits
    ? []
    : ['must not have bits set beyond the prefix length'];
}

type Rules = 'strict' | 'legacy';

function readAddress(text: string, rules: Rules): Address {
  const fail = (reason: string, at = '') =>
    new ParseError(`ParseAddr(${quote(text)}): ${reason}${at === '' ? '' : ` (at ${quote(at)})`}`);
  const first = /[.:%]/.exec(text)?.[0];
  if (first === '.') return { family: 4, bits: readIPv4(text, rules, fail) };
  if (first === ':') return readIPv6(text, rules, fail);
  throw fail(first === '%' ? 'missing IPv6 address' : 'unable to parse IP');
}

type Fail = (reason: string, at?: string) => ParseError;

function readIPv4(text: string, rules: Rules, fail: Fail): bigint {
  const unexpected = /[^0-9.]/.exec(text)?.index ?? text.length;
  const octets = text.slice(0, unexpected).split('.');
  let position = 0;
  let bits = 0n;
  for (const [index, octet] of octets.entries()) {
    const isLast = index === octets.length - 1;
    // A leading zero is reported before the dot after the octet, as in Go.
    if (rules === 'strict' && /^0[0-9]/.test(octet)) throw fail('IPv4 field has octet with leading zero');
    if (octet.length > maxOctetDigits || Number(octet) > 255) throw fail('IPv4 field has value >255');
    const dot = position + octet.length;
    if (isLast && unexpected < text.length) break;
    if (!isLast && (octet === '' || dot === text.length - 1)) {
      throw fail('IPv4 field must have at least one digit', text.slice(dot));
    }
    if (!isLast && index === 3) throw fail('IPv4 address too long');
    bits = (bits << 8n) | BigInt(octet);
    position = dot + 1;
  }
  if (unexpected < text.length) throw fail('unexpected character', text.slice(unexpected));
  if (octets.length < 4) throw fail('IPv4 address too short');
  return bits;
}

// Only leading zeros make an octet longer than three digits.
const maxOctetDigits = 1000;

function readIPv6(text: string, rules: Rules, fail: Fail): Address {
  const percent = text.indexOf('%');
  const zone = percent < 0 ? undefined : text.slice(percent + 1);
  if (zone === '' || (zone !== undefined && rules === 'legacy')) throw fail('zone must be a non-empty string');

  let rest = percent < 0 ? text : text.slice(0, percent);
  const groups: number[] = [];
  let ellipsis = -1;
  if (rest.startsWith('::')) {
    ellipsis = 0;
    rest = rest.slice(2);
  }
  while (groups.length < 8 && (rest !== '' || ellipsis !== groups.length)) {
    const digits = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? '';
    if (rules === 'strict' && digits.length > 4) throw fail('each group must have 4 or less digits', rest);
    if (digits === '') throw fail('each colon-separated field must have at least one digit', rest);
    if (digits.length > maxOctetDigits || Number.parseInt(digits, 16) > 0xffff) {
      throw fail('IPv6 field has value >=2^16', rest);
    }
    if (rest[digits.length] === '.') {
      if (ellipsis < 0 && groups.length !== 6) {
        throw fail('embedded IPv4 address must replace the final 2 fields of the address', rest);
      }
      if (groups.length > 6) {
        throw fail('too many hex fields to fit an embedded IPv4 at the end of the address', rest);
      }
      const embedded = Number(readIPv4(rest, rules, fail));
      groups.push(Math.floor(embedded / 0x10000), embedded % 0x10000);
      rest = '';
      break;
    }
    groups.push(Number.parseInt(digits, 16));
    rest = rest.slice(digits.length);
    if (rest === '') break;
    if (rest[0] !== ':') throw fail('unexpected character, want colon', rest);
    if (rest === ':') throw fail('colon must be followed by more characters', rest);
    rest = rest.slice(1);
    if (rest[0] === ':') {
      if (ellipsis >= 0) throw fail('multiple :: in address', rest);
      ellipsis = groups.length;
      rest = rest.slice(1);
    }
  }
  if (rest !== '') throw fail('trailing garbage after address', rest);
  if (groups.length === 8 && ellipsis >= 0) throw fail('the :: must expand to at least one field of zeros');
  if (groups.length < 8 && ellipsis < 0) throw fail('address string too short');
  if (ellipsis >= 0) groups.splice(ellipsis, 0, ...new Array<number>(8 - groups.length).fill(0));
  const bits = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
  return zone === undefined ? { family: 6, bits } : { family: 6, bits, zone };
}

function formatIPv4(bits: bigint): string {
  const value = Number(bits);
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

/** Replaces the first of the longest runs of two or more zero groups by `::`. */
function formatIPv6(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => Number((bits >> BigInt(112 - 16 * index)) & 0xffffn));
  let start = 0;
  let length = 1;
  for (let index = 0; index < 8; index++) {
    let end = index;
    while (end < 8 && groups[end] === 0) end++;
    if (end - index > length) [start, length] = [index, end - index];
  }
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

function isMapped(bits: bigint): boolean {
  return bits >> 32n === mappedPrefix;
}

function width({ family }: Address): number {
  return family === 4 ? 32 : 128;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}
