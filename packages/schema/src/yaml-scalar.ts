/**
 * Resolves YAML scalars like Kubernetes: YAML 1.1 as its Go library implements it, which no published schema describes.
 */
import { decodeBase64 } from '@kruise/values/base64';
import { ParseError } from '@kruise/values/parse-error';

/** Thrown if a YAML text is malformed or has no JSON equivalent. The message has Go's form. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

/** Value of a scalar. Integers beyond 2^53 are bigints. */
export type YamlScalar = string | number | bigint | boolean | null;

const namedValues = new Map<string, boolean | number | null>();
for (const [value, names] of [
  [true, 'y Y yes Yes YES true True TRUE on On ON'],
  [false, 'n N no No NO false False FALSE off Off OFF'],
  [null, '~ null Null NULL'],
  [Number.NaN, '.nan .NaN .NAN'],
  [Number.POSITIVE_INFINITY, '.inf .Inf .INF +.inf +.Inf +.INF'],
  [Number.NEGATIVE_INFINITY, '-.inf -.Inf -.INF'],
] as const) {
  for (const name of names.split(' ')) namedValues.set(name, value);
}
namedValues.set('', null);

const prefix = 'tag:yaml.org,2002:';

/** Returns the value of an unquoted scalar without a tag. */
export function resolvePlain(text: string): YamlScalar {
  const named = namedValues.get(text);
  if (named !== undefined) return named;
  return numberIn(text) ?? text;
}

const bases: readonly (readonly [RegExp, number])[] = [
  [/^([-+]?)0[xX]([0-9a-fA-F]+)$/, 16],
  [/^([-+]?)0[bB]([01]+)$/, 2],
  [/^([-+]?)0[oO]?([0-7]+)$/, 8],
  [/^([-+]?)(0|[1-9][0-9]*)$/, 10],
];
const baseLetters: Readonly<Record<number, string>> = { 16: '0x', 2: '0b', 8: '0o', 10: '' };
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const numberStart = /^[-+.0-9]/;

function numberIn(text: string): number | bigint | undefined {
  if (!numberStart.test(text)) return undefined;
  if (text[0] === '.') return float.test(text) ? finite(Number(text)) : undefined;
  const plain = text.replaceAll('_', '');
  for (const [pattern, base] of bases) {
    const match = pattern.exec(plain);
    if (!match || plain.length > 100) continue;
    const magnitude = BigInt(`${baseLetters[base]}${match[2]}`);
    // An integer that does not fit in 64 bits is a float if it looks like one.
    if (match[1] === '' ? magnitude >= 2n ** 64n : magnitude > 2n ** 63n - (match[1] === '+' ? 1n : 0n)) break;
    return narrow(match[1] === '-' ? -magnitude : magnitude);
  }
  return float.test(plain) ? finite(Number(plain)) : undefined;
}

function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

/**
 * Returns the value of a tagged scalar: the value of the tag's type if the text matches, the text if the tag is
 * unknown.
 */
export function resolveTagged(tag: string, text: string): YamlScalar {
  const name = tag.startsWith(prefix) ? tag.slice(prefix.length) : '';
  if (name === 'binary') return decodeBinary(text);
  if (name === 'timestamp') {
    if (!timestamp.test(text)) throw cannotDecode(kindOf(resolvePlain(text), text), text, name);
    return text;
  }
  if (name === 'str' || !['bool', 'int', 'float', 'null'].includes(name)) return text;
  const value = resolvePlain(text);
  const kind = kindOf(value, text);
  if (kind === name || (kind === 'int' && name === 'float')) return name === 'float' ? Number(value) : value;
  throw cannotDecode(kind, text, name);
}

function cannotDecode(kind: string, text: string, tag: string): YamlError {
  return new YamlError(`yaml: cannot decode !!${kind} \`${text}\` as a !!${tag}`);
}

const timestamp = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:$|[Tt][0-9:.]+(?:Z|[-+][0-9]{2}:[0-9]{2})$| [0-9:.]+$)/;

/** Returns whether YAML 1.1 parsers resolve a scalar as a timestamp. */
export function isTimestamp(text: string): boolean {
  return timestamp.test(text);
}

function kindOf(value: YamlScalar, text: string): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'string') return timestamp.test(text) ? 'timestamp' : 'str';
  return /^[-+]?0[xXbBoO]|^[-+]?[0-9_]+$/.test(text) ? 'int' : 'float';
}

function decodeBinary(text: string): string {
  try {
    return Buffer.from(decodeBase64(text)).toString('utf8');
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new YamlError('yaml: !!binary value contains invalid base64 data');
  }
}
