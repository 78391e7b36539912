/** Addresses in DNS: their bytes in A and AAAA records, and their text in reverse names and Pod names. */
import { isIPv4 } from 'node:net';
import { type Address, formatAddress, isMappedAddress, parseAddress, unmap } from '@kruise/values/address';
import { ParseError } from '@kruise/values/parse-error';
import type { Name } from './message.ts';

/** Returns the bytes of an address: 4 for IPv4 and for IPv4-mapped IPv6, 16 for IPv6; undefined for other texts. */
export function addressBytes(text: string): Uint8Array | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number);
  // The parser is slow for names, and most hosts that are no address have no colon.
  const address = text.includes(':') ? parse(text) : undefined;
  if (address === undefined || address.zone !== undefined) return undefined;
  const { family, bits } = unmap(address);
  const size = family === 4 ? 4 : 16;
  return Uint8Array.from({ length: size }, (_, index) => Number((bits >> BigInt(8 * (size - 1 - index))) & 0xffn));
}

/** Returns the address of a reverse name, in canonical form: `1.0.96.10.in-addr.arpa`. */
export function reverseAddress(name: Name): string | undefined {
  const family = name.at(-2);
  if (name.at(-1) !== 'arpa' || name.length < 3) return undefined;
  const digits = name.slice(0, -2).reverse();
  if (family === 'in-addr') {
    const text = digits.join('.');
    return isIPv4(text) ? text : undefined;
  }
  if (family !== 'ip6') return undefined;
  // As in CoreDNS, only whole groups of four count; labels below a full address are ignored.
  const groups = Array.from({ length: Math.floor(digits.length / 4) }, (_, index) =>
    digits.slice(4 * index, 4 * index + 4).join(''),
  );
  const address = groups.length === 8 ? parse(groups.join(':')) : undefined;
  if (address === undefined || address.zone !== undefined) return undefined;
  return formatAddress(isMappedAddress(address) ? unmap(address) : address);
}

/** Returns the address in the name of a Pod: `10-244-0-7` or `fd00--7`. */
export function podAddress(label: string): string {
  const isFourParts = label.split('-').length === 4 && !label.includes('--');
  return label.replaceAll('-', isFourParts ? '.' : ':');
}

/** Returns an address as a label: `10-244-0-7` or `fd00--7`. */
export function addressLabel(address: string): string {
  return address.replaceAll(/[.:]/g, '-');
}

function parse(text: string): Address | undefined {
  try {
    return parseAddress(text);
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}
