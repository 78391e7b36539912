/**
 * Parses URLs like Go's `net/url`. The platform's `URL` follows another standard: it has no relative references,
 * repairs invalid input, and normalizes.
 */
import { quote } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';

/** A URL in its parts; absent parts are empty. */
export type GoUrl = {
  readonly scheme: string;
  /** The rest after the scheme if it is not a path: `mailto:opaque`. */
  readonly opaque: string;
  readonly user: string | undefined;
  /** Host and port. */
  readonly host: string;
  /** The path, escaped. */
  readonly path: string;
  readonly query: string;
  readonly hasEmptyQuery: boolean;
  readonly fragment: string;
};

type Mode = 'path' | 'host' | 'zone' | 'userinfo' | 'query' | 'fragment';

/** Parses an absolute URL or path, as in the first line of a request. Throws `ParseError` with Go's message. */
export function parseRequestUrl(text: string): GoUrl {
  return reported(text, () => parse(text, true));
}

/** Parses a URL, which may be relative and have a fragment. Throws `ParseError` with Go's message. */
export function parseUrl(text: string): GoUrl {
  const hash = text.indexOf('#');
  const body = hash < 0 ? text : text.slice(0, hash);
  const url = reported(body, () => parse(body, false));
  const fragment = hash < 0 ? '' : text.slice(hash + 1);
  reported(text, () => decode(fragment, 'fragment'));
  return { ...url, fragment: escaped(fragment, 'fragment') };
}

function reported<Result>(text: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof ParseError) throw new ParseError(`parse ${quote(text)}: ${error.message}`);
    throw error;
  }
}

function parse(text: string, isRequest: boolean): GoUrl {
  if (/[\x00-\x1f\x7f]/.test(text)) throw new ParseError('net/url: invalid control character in URL');
  if (text === '' && isRequest) throw new ParseError('empty url');
  const empty = {
    scheme: '',
    opaque: '',
    user: undefined,
    host: '',
    path: '',
    query: '',
    hasEmptyQuery: false,
    fragment: '',
  };
  if (text === '*') return { ...empty, path: '*' };
  if (text.startsWith(':')) throw new ParseError('missing protocol scheme');

  const schemeText = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1];
  const scheme = schemeText?.toLowerCase() ?? '';
  const afterScheme = schemeText === undefined ? text : text.slice(schemeText.length + 1);
  const question = afterScheme.indexOf('?');
  const rest = question < 0 ? afterScheme : afterScheme.slice(0, question);
  const query = question < 0 ? '' : afterScheme.slice(question + 1);
  const url = { ...empty, scheme, query, hasEmptyQuery: question >= 0 && query === '' };

  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...url, opaque: rest };
    if (isRequest) throw new ParseError('invalid URI for request');
    if (rest.split('/', 1)[0]!.includes(':')) throw new ParseError('first path segment in URL cannot contain colon');
  }
  if (rest.startsWith('//') && (scheme !== '' || (!isRequest && !rest.startsWith('///')))) {
    const slash = rest.indexOf('/', 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    return { ...url, ...parseAuthority(authority), path: parsePath(slash < 0 ? '' : rest.slice(slash)) };
  }
  return { ...url, path: parsePath(rest) };
}

function parsePath(text: string): string {
  decode(text, 'path');
  return escaped(text, 'path');
}

function parseAuthority(authority: string): Pick<GoUrl, 'user' | 'host'> {
  const at = authority.lastIndexOf('@');
  const host = parseHost(authority.slice(at + 1));
  if (at < 0) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new ParseError('net/url: invalid userinfo');
  decode(user, 'userinfo');
  return { user, host };
}

function parseHost(host: string): string {
  const isOptionalPort = (text: string) => /^(:[0-9]*)?$/.test(text);
  const checkPort = (port: string) => {
    if (!isOptionalPort(port)) throw new ParseError(`invalid port ${quote(port)} after host`);
  };
  if (host.startsWith('[')) {
    const bracket = host.lastIndexOf(']');
    if (bracket < 0) throw new ParseError("missing ']' in host");
    checkPort(host.slice(bracket + 1));
    const zone = host.slice(0, bracket).indexOf('%25');
    if (zone >= 0) {
      return (
        decode(host.slice(0, zone), 'host') +
        decode(host.slice(zone, bracket), 'zone') +
        decode(host.slice(bracket), 'host')
      );
    }
  } else if (host.includes(':')) {
    checkPort(host.slice(host.lastIndexOf(':')));
  }
  return decode(host, 'host');
}

const hostCharacter = /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/;

function decode(text: string, mode: Mode): string {
  const isHost = mode === 'host' || mode === 'zone';
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!;
    if (character === '%') {
      const hex = text.slice(index, index + 3);
      if (!/^%[0-9a-fA-F]{2}$/.test(hex)) throw new ParseError(`invalid URL escape ${quote(hex)}`);
      const byte = Number.parseInt(hex.slice(1), 16);
      const isAllowed =
        hex === '%25' ||
        (mode === 'host' && byte >= 0x80) ||
        (mode === 'zone' && (byte === 0x20 || hostCharacter.test(String.fromCharCode(byte))));
      if (isHost && !isAllowed) throw new ParseError(`invalid URL escape ${quote(hex)}`);
      index += 2;
    } else if (isHost && character < '\x80' && !hostCharacter.test(character)) {
      throw new ParseError(`invalid character ${quote(character)} in host name`);
    }
  }
  if (!/[%+]/.test(text)) return text;
  const spaced = mode === 'query' ? text.replaceAll('+', ' ') : text;
  const bytes = Buffer.from(
    spaced.replace(/%([0-9a-fA-F]{2})/g, (hex) => hex),
    'utf8',
  ).toString('latin1');
  const decoded = bytes.replace(/%([0-9a-fA-F]{2})/g, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, 'latin1').toString('utf8');
}

/** Returns the text itself if it is a valid part of a URL, otherwise with invalid characters escaped. */
function escaped(text: string, mode: 'path' | 'fragment'): string {
  const isValid = mode === 'path' ? /^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]%/]*$/ : /^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]%/?]*$/;
  if (isValid.test(text)) return text;
  const unreserved = mode === 'path' ? /[A-Za-z0-9\-_.~$&+,/:;=@]/ : /[A-Za-z0-9\-_.~$&+,/:;=?@!()*]/;
  return [...Buffer.from(decode(text, mode))]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return unreserved.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

/** Splits a host into its name, without brackets, and its port. */
export function splitHost(host: string): { readonly hostname: string; readonly port: string } {
  const match = /^(.*):([0-9]*)$/s.exec(host);
  const name = match ? match[1]! : host;
  const hostname = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
  return { hostname, port: match?.[2] ?? '' };
}

/** Returns the parameters of a query, sorted by key; malformed ones are dropped. */
export function queryParameters(query: string): ReadonlyMap<string, readonly string[]> {
  const parameters = new Map<string, string[]>();
  for (const part of query.split('&')) {
    if (part === '' || part.includes(';')) continue;
    const equals = part.indexOf('=');
    try {
      const key = decode(equals < 0 ? part : part.slice(0, equals), 'query');
      const value = decode(equals < 0 ? '' : part.slice(equals + 1), 'query');
      parameters.set(key, [...(parameters.get(key) ?? []), value]);
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
    }
  }
  return parameters;
}

/** Formats a URL. */
export function formatUrl(url: GoUrl): string {
  const { scheme, opaque, user, host, path } = url;
  const authority = user !== undefined || host !== '' ? `//${user === undefined ? '' : `${user}@`}${host}` : '';
  const prefix = scheme === '' ? '' : `${scheme}:`;
  const body = opaque !== '' ? opaque : authority + path;
  const query = url.query !== '' || url.hasEmptyQuery ? `?${url.query}` : '';
  return prefix + body + query + (url.fragment === '' ? '' : `#${url.fragment}`);
}
