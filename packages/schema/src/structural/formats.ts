/** String formats of CustomResourceDefinitions, each as lenient as in Kubernetes. */
import { parseAddress, parseLegacyAddress, parseLegacyPrefix } from '@kruise/values/address';
import { parseDuration } from '@kruise/values/duration';

/** Returns the check of a format; undefined for an unknown format, which is not checked. */
export function formatCheck(format: string): ((text: string) => boolean) | undefined {
  return checks.get(format.replaceAll('-', ''));
}

const checks: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['bsonobjectid', matching(/^[0-9a-fA-F]{24}$/)],
  ['uri', isRequestUri],
  ['email', isEmailAddress],
  ['hostname', isHostname],
  ['ipv4', (text) => text.includes('.') && parseLegacyAddress(text) !== undefined],
  ['ipv6', (text) => text.includes(':') && !text.includes('%') && parses(() => parseAddress(text))],
  ['cidr', (text) => parses(() => parseLegacyPrefix(text))],
  ['mac', isHardwareAddress],
  ['uuid', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid3', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCardNumber],
  ['ssn', (text) => text.length === 11 && /^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$/.test(text)],
  ['hexcolor', matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', isRgbColor],
  ['byte', matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/)],
  ['password', () => true],
  ['date', isDate],
  ['duration', isDuration],
  ['datetime', isDateTime],
]);

function matching(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

function parses(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

function isDate(text: string): boolean {
  const [, year, month, day] = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= days;
}

/** Only the text between the first and the second T counts as the time; there are no leap seconds. */
function isDateTime(text: string): boolean {
  const [date = '', time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date)) return false;
  const [, hour, minute, second] =
    /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/u.exec(time)?.map(Number) ?? [];
  return hour !== undefined && hour <= 23 && minute! <= 59 && second! <= 59;
}

const durationUnits = /^(?:ns|nano.*|us|\u00b5s|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/;

/** Accepts Go durations, and texts that contain a number with a unit: `2 days`. */
function isDuration(text: string): boolean {
  if (parses(() => parseDuration(text))) return true;
  let hasKnownUnit = false;
  for (const [, count = '', unit = ''] of text.matchAll(/(?<![0-9])([0-9]+)[\t\n\f\r ]*([A-Za-z\u00b5]+)/g)) {
    if (count.length > 18 && BigInt(count) >= 2n ** 63n) return false;
    hasKnownUnit ||= durationUnits.test(unit.toLowerCase());
  }
  return hasKnownUnit;
}

const label = '[a-zA-Z0-9\\p{S}\\p{L}]';
const hostname = new RegExp(
  `^(?:${label}(?:-?${label}{0,62})?|(?:${label}(?:[-a-zA-Z0-9\\p{S}\\p{L}]{0,61}${label})?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  'u',
);

function isHostname(text: string): boolean {
  // The length is checked first: it bounds the work of the pattern.
  if (Buffer.byteLength(text) > 255 || !hostname.test(text)) return false;
  return text.split('.').every((part) => Buffer.byteLength(part) <= 63);
}

function isHardwareAddress(text: string): boolean {
  const bytes = text.replace(/[:.-]/g, '').length / 2;
  if (bytes !== 6 && bytes !== 8 && bytes !== 20) return false;
  return /^[0-9a-f]{2}(?:(?::[0-9a-f]{2})+|(?:-[0-9a-f]{2})+)$|^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text);
}

function isRgbColor(text: string): boolean {
  const channels = /^rgb\(\s*([0-9]{1,3})\s*,\s*([0-9]{1,3})\s*,\s*([0-9]{1,3})\s*\)$/.exec(text)?.slice(1);
  return channels?.every((channel) => Number(channel) <= 255 && !/^0[0-9]/.test(channel)) ?? false;
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^[0-9]{13}$/.test(digits)) return false;
  return [...digits].reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0;
}

const cardNumber =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$/;

function isCardNumber(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!cardNumber.test(digits)) return false;
  // Luhn algorithm: every second digit from the right counts twice, and the digits of a product are added.
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** Accepts the target of an HTTP request: an absolute path, or a well-formed absolute URI. */
function isRequestUri(text: string): boolean {
  if (text === '' || /[\x00-\x1f\x7f]/.test(text)) return false;
  if (text === '*') return true;
  const [, scheme, afterScheme] = /^([a-zA-Z][a-zA-Z0-9+.-]*):(.*)$/s.exec(text) ?? [];
  const rest = (scheme === undefined ? text : afterScheme!).split('?', 1)[0]!;
  if (!rest.startsWith('/')) return scheme !== undefined;
  if (scheme === undefined || !rest.startsWith('//')) return isEscaped(rest);
  const [, authority = '', path = ''] = /^\/\/([^/]*)(.*)$/s.exec(rest) ?? [];
  return isAuthority(authority) && isEscaped(path);
}

function isEscaped(text: string): boolean {
  return !/%(?![0-9a-fA-F]{2})/.test(text);
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const [user, host] = at < 0 ? ['', authority] : [authority.slice(0, at), authority.slice(at + 1)];
  if (!/^[A-Za-z0-9._:~!$&'()*+,;=%@-]*$/.test(user) || !isEscaped(user)) return false;
  const [, literal, zone = '', port] = /^\[([^%]*?)(%25.*)?\](:[0-9]*)?$/s.exec(host) ?? [];
  if (host.startsWith('[')) return literal !== undefined && isHost(literal) && isEscaped(zone) && isHost(zone);
  const colon = host.lastIndexOf(':');
  return isHost(host) && (port !== undefined || colon < 0 || /^:[0-9]*$/.test(host.slice(colon)));
}

/** In a host, only non-ASCII characters and the percent sign may be escaped. */
function isHost(text: string): boolean {
  return /^(?:[A-Za-z0-9_.~!$&'()*+,;=:[\]<>"-]|[^\x00-\x7f]|%25|%[89a-fA-F][0-9a-fA-F])*$/.test(text);
}

const atomCharacters = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-";
const atom = `[${atomCharacters}]+`;
const quotedText = '"(?:[^"\\\\\\x00-\\x08\\x0a-\\x1f\\x7f]|\\\\[\\t -~\\u0080-\\u{10ffff}])';
const address = `(?:${atom}(?:\\.${atom})*|${quotedText}+")@(?:${atom}(?:\\.${atom})*|\\[([^\\[\\]\\\\]*)\\])`;
const ownerName = `(?:[.${atomCharacters}]+|${quotedText}*")`;
const emailAddress = new RegExp(
  `^[ \\t]*(?:${address}|(?:${ownerName}(?:[ \\t]+${ownerName})*[ \\t]*)?<${address}>)[ \\t]*(?:\\([^()]*\\)[ \\t]*)?$`,
  'u',
);

/** Accepts one RFC 5322 address, with or without a display name, or a group of one. */
function isEmailAddress(text: string): boolean {
  if (text.length > maxEmailLength) return false;
  const [, member = text] = new RegExp(`^${ownerName}:(.*);$`, 'u').exec(text) ?? [];
  const found = emailAddress.exec(member);
  const literal = found?.[1] ?? found?.[2];
  return found !== null && (literal === undefined || parseLegacyAddress(literal) !== undefined);
}

// No mail system accepts longer addresses (the limit of RFC 5321 is 254), and the pattern is not linear.
const maxEmailLength = 1000;
