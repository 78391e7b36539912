/**
 * Validation of addresses and CIDR blocks in fields that have existed since the beginning, and accept more spellings
 * than recommended.
 */
import { type Cause, invalid } from '@kruise/schema/field-error';
import {
  type Address,
  formatAddress,
  formatPrefix,
  isMappedAddress,
  maskPrefix,
  type Prefix,
  parseLegacyAddress,
  parseLegacyPrefix,
  parsePrefix,
  unmap,
  unmapPrefix,
} from '@kruise/values/address';
import { quote } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';

/** Validates an address. An unchanged one is accepted as it is. */
export function* validateLegacyIP(text: string, path: string, before: readonly string[] = []): Generator<Cause> {
  if (before.includes(text) || parseLegacyAddress(text) !== undefined) return;
  yield invalid(path, text, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)');
}

/** Validates a CIDR block. An unchanged one is accepted as it is. */
export function* validateLegacyCIDR(text: string, path: string, before: readonly string[] = []): Generator<Cause> {
  if (before.includes(text) || legacyPrefixOf(text) !== undefined) return;
  yield invalid(path, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)');
}

/** Parses a CIDR block; undefined if it is invalid. */
export function legacyPrefixOf(text: string): Prefix | undefined {
  return attempt(() => parseLegacyPrefix(text));
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

type Range = { readonly family: 4 | 6; readonly bits: bigint; readonly length: number };

/** Ranges that are not reachable from elsewhere, and the messages about them. */
const unreachable: readonly { readonly ranges: readonly Range[]; readonly detail: string }[] = [
  {
    ranges: [
      { family: 4, bits: 127n, length: 8 },
      { family: 6, bits: 1n, length: 128 },
    ],
    detail: 'may not be in the loopback range (127.0.0.0/8, ::1/128)',
  },
  {
    ranges: [
      { family: 4, bits: 0xa9fen, length: 16 },
      { family: 6, bits: 0x3fan, length: 10 },
    ],
    detail: 'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  },
  {
    ranges: [
      { family: 4, bits: 0xe00000n, length: 24 },
      { family: 6, bits: 0xff02n, length: 16 },
    ],
    detail: 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
  },
];

function isIn({ family, bits }: Address, range: Range): boolean {
  return family === range.family && bits >> BigInt((family === 4 ? 32 : 128) - range.length) === range.bits;
}

/** Validates the address of an endpoint. */
export function* validateEndpointIP(text: string, path: string): Generator<Cause> {
  const parsed = parseLegacyAddress(text);
  if (parsed === undefined) return yield invalid(path, text, 'must be a valid IP address');
  const address = unmap(parsed);
  if (address.bits === 0n) yield invalid(path, text, `may not be unspecified (${text})`);
  for (const { ranges, detail } of unreachable) {
    if (ranges.some((range) => isIn(address, range))) yield invalid(path, text, detail);
  }
}

/** Yields the warnings for a CIDR block in a field that accepts several spellings. */
export function* cidrWarnings(text: string, path: string): Generator<string> {
  const legacy = legacyPrefixOf(text);
  if (legacy === undefined) return;
  const block = unmapPrefix(legacy);
  const network = formatPrefix(maskPrefix(block));
  let isSound = true;
  if (maskPrefix(block).address.bits !== block.address.bits) {
    isSound = false;
    const single = `${formatAddress(block.address)}/${block.address.family === 4 ? 32 : 128}`;
    yield `${path}: CIDR value ${quote(text)} is ambiguous in this context (should be ${quote(network)} or ${quote(single)}?)`;
  }
  const strict = attempt(() => parsePrefix(text));
  if (strict === undefined || isMappedAddress(strict.address)) {
    isSound = false;
    const future = 'will be considered invalid in a future Kubernetes release';
    yield `${path}: non-standard CIDR value ${quote(text)} ${future}: use ${quote(network)}`;
  }
  if (isSound && strict?.address.family === 6 && formatPrefix(strict) !== text) {
    const canonical = quote(formatPrefix(strict));
    yield `${path}: IPv6 CIDR value ${quote(text)} should be in RFC 5952 canonical format (${canonical})`;
  }
}
