/** Formatting of Go's `fmt` package. API messages of Kubernetes contain such text, and clients and tests compare it. */

const namedEscapes: ReadonlyMap<string, string> = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

const plain = /^[ !#-[\]-~]*$/;
const escaped = /["\\]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu;

/** Formats a string as `%q`: in double quotes, with non-printable characters escaped. */
export function quote(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  return `"${text.toWellFormed().replace(escaped, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  const named = namedEscapes.get(character);
  if (named !== undefined) return named;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** Formats a list as `%v`: `[a b]`. */
export function formatList(items: readonly unknown[]): string {
  return `[${items.map(formatValue).join(' ')}]`;
}

/** Formats a `[]string` as `%q`: `["a" "b"]`. */
export function quoteList(items: readonly string[]): string {
  return `[${items.map(quote).join(' ')}]`;
}

/** Formats a `[]string` as `%#v`: `[]string{"a", "b"}`. */
export function goStringList(items: readonly string[]): string {
  return `[]string{${items.map(quote).join(', ')}}`;
}

/** Formats a `map[string]string` as `%#v`, sorted by key: `map[string]string{"a":"b"}`. */
export function goStringMap(map: Readonly<Record<string, string>>): string {
  return `map[string]string{${sortedEntries(map)
    .map(([key, value]) => `${quote(key)}:${quote(value)}`)
    .join(', ')}}`;
}

/** Formats a JSON value as `%v`: `map[a:1 b:[x y]]`, `<nil>`. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return formatList(value);
  if (typeof value === 'object') {
    return `map[${sortedEntries(value)
      .map(([key, member]) => `${key}:${formatValue(member)}`)
      .join(' ')}]`;
  }
  return typeof value === 'number' ? formatNumber(value) : String(value);
}

/** Formats a JSON value as `%#v`: `map[string]interface {}{"a":1}`. */
export function formatGoSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}{${value.map(formatGoSyntax).join(', ')}}`;
  if (typeof value === 'object') {
    return `map[string]interface {}{${sortedEntries(value)
      .map(([key, member]) => `${quote(key)}:${formatGoSyntax(member)}`)
      .join(', ')}}`;
  }
  if (typeof value === 'string') return quote(value);
  return typeof value === 'number' ? formatNumber(value) : String(value);
}

/** Formats a number as Go prints the int64 or float64 of a decoded JSON number. */
export function formatNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value + 0);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  // Shortest digits that parse to the same float, with a two-digit exponent from 1e+06 on and below 1e-04.
  const [mantissa = '', exponentText = ''] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return withoutExponent(mantissa, exponent);
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function withoutExponent(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fraction = digits.slice(exponent + 1);
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`;
}

/** Go prints maps in the byte order of their keys. */
function sortedEntries<T>(map: Readonly<Record<string, T>> | object): [string, T][] {
  return Object.entries(map as Readonly<Record<string, T>>).sort(([a], [b]) => compareStrings(a, b));
}

/**
 * Compares strings as Go does: by UTF-8 bytes. JavaScript compares UTF-16 units, which differs only between surrogate
 * pairs and characters from U+E000 on.
 */
export function compareStrings(a: string, b: string): -1 | 0 | 1 {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const x = a.charCodeAt(index);
    const y = b.charCodeAt(index);
    if (x === y) continue;
    return utf8Rank(x) < utf8Rank(y) ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}

function utf8Rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
