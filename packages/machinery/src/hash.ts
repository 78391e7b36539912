/**
 * Hashes that Kubernetes and Kruise store in names and labels. They must be identical bit by bit, because they are
 * persistent.
 */

/** FNV-1 with 32 bits: multiply, then XOR. */
export function fnv1(bytes: Uint8Array, seed = offset32): number {
  let hash = seed;
  for (const byte of bytes) hash = Math.imul(hash, prime32) ^ byte;
  return hash >>> 0;
}

/** FNV-1a with 32 bits: XOR, then multiply. */
export function fnv1a(bytes: Uint8Array, seed = offset32): number {
  let hash = seed;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, prime32);
  return hash >>> 0;
}

/** FNV-1 with 64 bits. */
export function fnv1Wide(bytes: Uint8Array): bigint {
  return fnvWide(bytes, (state, byte) => {
    multiply(state);
    state.low ^= byte;
  });
}

/** FNV-1a with 64 bits. */
export function fnv1aWide(bytes: Uint8Array): bigint {
  return fnvWide(bytes, (state, byte) => {
    state.low ^= byte;
    multiply(state);
  });
}

const offset32 = 2166136261;
const prime32 = 16777619;

// Four parts of 16 bits: with bigints a megabyte would take a second.
type Wide = { low: number; midLow: number; midHigh: number; high: number };

function fnvWide(bytes: Uint8Array, mix: (state: Wide, byte: number) => void): bigint {
  const state: Wide = { low: 0x2325, midLow: 0x8422, midHigh: 0x9ce4, high: 0xcbf2 };
  for (const byte of bytes) mix(state, byte);
  const { low, midLow, midHigh, high } = state;
  return (BigInt(high * 0x10000 + midHigh) << 32n) | BigInt(midLow * 0x10000 + low);
}

/** Multiplies by the 64-bit prime 0x100000001b3. */
function multiply(state: Wide): void {
  const low = state.low * 0x1b3;
  const midLow = state.midLow * 0x1b3 + (low >>> 16);
  const midHigh = state.midHigh * 0x1b3 + state.low * 0x100 + (midLow >>> 16);
  const high = state.high * 0x1b3 + state.midLow * 0x100 + (midHigh >>> 16);
  state.low = low & 0xffff;
  state.midLow = midLow & 0xffff;
  state.midHigh = midHigh & 0xffff;
  state.high = high & 0xffff;
}

/** Characters of generated names: without vowels and look-alikes, so that no name is a word. */
export const safeAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Maps each character to one that is safe in a name. */
export function safeEncode(text: string): string {
  let encoded = '';
  for (const character of text) encoded += safeAlphabet[(character.codePointAt(0) ?? 0) % safeAlphabet.length];
  return encoded;
}

const utf8 = new TextEncoder();

/**
 * Returns the hash of the data of a ControllerRevision, the suffix of its name. A different collision count gives a
 * different hash of the same data.
 */
export function revisionHash(data: string, collisionCount = 0): string {
  const hash = fnv1(utf8.encode(String(collisionCount)), fnv1(utf8.encode(data)));
  return safeEncode(String(hash));
}

/**
 * Returns the name of a revision: the name of its parent, truncated so that the hash fits, and the hash.
 *
 * ```ts
 * revisionName('web', revisionHash('{"spec":{}}'));
 * ```
 */
export function revisionName(parentName: string, hash: string): string {
  return `${cutToBytes(parentName, 223)}-${hash}`;
}

function cutToBytes(text: string, maximum: number): string {
  const bytes = utf8.encode(text);
  return bytes.length <= maximum ? text : new TextDecoder().decode(bytes.subarray(0, maximum));
}

/**
 * Returns the deep hash of a byte list as Kubernetes computes it: the hash of its Go representation, not of the bytes.
 */
export function deepHashOfBytes(bytes: Uint8Array): number {
  return fnv1a(utf8.encode(`([]uint8)[${bytes.join(' ')}]`));
}
