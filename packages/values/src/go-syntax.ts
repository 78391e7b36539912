/**
 * Values as Go's `fmt` prints them. Kubernetes puts such text into the messages of its API, and clients and tests
 * compare those.
 */

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

/** A string as `%q` prints it: in double quotes, with what is not printable escaped. */
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

/** A list as `%v` prints it: `[a b]`. */
export function formatList(items: readonly unknown[]): string {
  return `[${items.map(formatValue).join(' ')}]`;
}

/** A `[]string` as `%q` prints it: `["a" "b"]`. */
export function quoteList(items: readonly string[]): string {
  return `[${items.map(quote).join(' ')}]`;
}

/** A `[]string` as `%#v` prints it: `[]string{"a", "b"}`. */
export function goStringList(items: readonly string[]): string {
  return `[]string{${items.map(quote).join(', ')}}`;
}

/** A `map[string]string` as `%#v` prints it: `map[string]string{"a":"b"}`, by key. */
export function goStringMap(map: Readonly<Record<string, string>>): string {
  return `map[string]string{${sortedEntries(map)
    .map(([key, value]) => `${quote(key)}:${quote(value)}`)
    .join(', ')}}`;
}

/** Any JSON value as `%v` prints it: `map[a:1 b:[x y]]`, `<nil>`. */
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

/** A JSON value as `%#v` prints it: `map[string]interface {}{"a":1}`. */
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

/** A number as Go prints the int64 or float64 a JSON number is decoded into. */
export function formatNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value + 0);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  // The shortest digits that read back the same, with an exponent of two digits from a million and below 1e-4 on.
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

/** Go prints maps, and Kubernetes writes them, in the order of the keys' bytes. */
function sortedEntries<T>(map: Readonly<Record<string, T>> | object): [string, T][] {
  return Object.entries(map as Readonly<Record<string, T>>).sort(([a], [b]) => compareStrings(a, b));
}

/**
 * The order Go sorts strings in: by UTF-8 bytes. JavaScript's own, by UTF-16 units, differs only where a surrogate
 * pair meets a character from U+E000 on.
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
