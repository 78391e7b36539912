/**
 * Parses YAML of request bodies and manifests like Kubernetes: to JSON, with the booleans and octals of YAML 1.1, merge
 * keys, and keys of any scalar type converted to strings. `js-yaml` provides the events of the text; this file
 * interprets them, because the constructors of `js-yaml` have neither Go's rules nor Go's line numbers.
 */
import { compareStrings, formatGoSyntax, quote } from '@kruise/values/go-syntax';
import {
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from 'js-yaml';
import { decodeText, maxNesting, setOwn } from './json-document.ts';
import { resolvePlain, resolveTagged, YamlError, type YamlScalar } from './yaml-scalar.ts';

export { YamlError } from './yaml-scalar.ts';

/** A YAML document as JSON with sorted keys as in Go, and its duplicate keys. */
export type ParsedYaml = {
  readonly value: unknown;
  /** `line 9: key "foo" already set in map`, in the order of the text. The last value wins. */
  readonly duplicates: readonly string[];
};

/**
 * Returns the JSON value of the first document of a text. Throws `YamlError`.
 *
 * ```ts
 * parseYaml('replicas: 3'); // { replicas: 3 }
 * ```
 */
export function parseYaml(input: Uint8Array | string): unknown {
  return parseYamlText(input).value;
}

/** Parses the first document of a text, with the errors of strict parsing. Throws `YamlError`. */
export function parseYamlText(input: Uint8Array | string): ParsedYaml {
  const source = typeof input === 'string' ? input : decodeText(input);
  const composed = compose(source);
  if (composed === undefined) return { value: null, duplicates: [] };
  const reading: Reading = {
    lineOf: lineFinder(source),
    duplicates: [],
    active: new Set(),
    aliasDepth: 0,
    ownCount: 0,
    aliasCount: 0,
    aliasText: 0,
  };
  return { value: construct(composed, reading), duplicates: reading.duplicates };
}

/** Returns the error of strict parsing for duplicate keys. */
export function strictYamlError(duplicates: readonly string[]): string {
  return `yaml: unmarshal errors:\n${duplicates.map((each) => `  ${each}`).join('\n')}`;
}

/** Splits a manifest into documents at lines of three dashes, like kubectl. Throws `YamlError`. */
export function splitYamlDocuments(manifest: string): readonly string[] {
  const documents: string[] = [];
  let lines: string[] = [];
  const finish = () => {
    if (lines.length > 0) documents.push(lines.join(''));
    lines = [];
  };
  for (const line of manifest.split(/(?<=\n)/)) {
    if (!line.startsWith('---')) {
      lines.push(line);
      continue;
    }
    const rest = line.slice(3).trim();
    if (rest !== '' && !rest.startsWith('#')) throw new YamlError(`invalid Yaml document separator: ${rest}`);
    // Before the first document, the dashes belong to it and separate directives from content.
    if (lines.length > 0) finish();
    else lines.push(line);
  }
  finish();
  return documents;
}

/** A node of the document; `at` is its position in the text. */
type YamlNode =
  | {
      readonly kind: 'scalar';
      readonly at: number;
      readonly text: string;
      readonly tag: string;
      readonly isPlain: boolean;
    }
  | { readonly kind: 'sequence'; readonly at: number; readonly items: YamlNode[] }
  | { readonly kind: 'mapping'; readonly at: number; readonly members: YamlNode[] }
  | { readonly kind: 'alias'; readonly at: number; readonly name: string; readonly target: YamlNode };

/** Go's messages for the most common mistakes. */
const goReasons: ReadonlyMap<string, string> = new Map([
  ['bad indentation of a mapping entry', 'mapping values are not allowed in this context'],
  ['tab characters must not be used in indentation', 'found character that cannot start any token'],
  ['the stream contains non-printable characters', 'control characters are not allowed'],
]);

/** Message for an unclosed bracket or brace. */
const unfinished = 'unexpected end of the stream within a flow collection';

/**
 * Returns Go's message for a text that ends within a flow collection: the expected token, and its line. The text is
 * scanned once, from left to right; an unclosed quote is a character like any other.
 */
function unfinishedCollection(source: string): string {
  const open: string[] = [];
  const unclosed = new Set<string>();
  let last = '';
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!;
    if (/\s/.test(character)) continue;
    if (character === '#' && /\s/.test(source[at - 1] ?? '')) {
      const end = source.indexOf('\n', at);
      at = end < 0 ? source.length : end;
      continue;
    }
    if (character === '[' || character === '{') open.push(character);
    else if (character === ']' || character === '}') open.pop();
    else if ((character === "'" || character === '"') && !unclosed.has(character)) {
      const end = closingQuote(source, at);
      if (end < 0) unclosed.add(character);
      else at = end;
    }
    last = character;
  }
  const line = source.split('\n').length - (source.endsWith('\n') ? 1 : 0);
  const wanted = '[{,:'.includes(last) ? 'node content' : `',' or '${open.at(-1) === '{' ? '}' : ']'}'`;
  return `line ${line}: did not find expected ${wanted}`;
}

/** Returns the position of the closing quote; below zero if there is none. */
function closingQuote(source: string, start: number): number {
  const quoteSign = source[start];
  for (let at = start + 1; at < source.length; at++) {
    if (source[at] === '\\' && quoteSign === '"') at++;
    else if (source[at] === quoteSign) {
      if (quoteSign === '"' || source[at + 1] !== quoteSign) return at;
      at++;
    }
  }
  return -1;
}

function eventsOf(source: string): readonly Event[] {
  try {
    return parseEvents(source, { maxDepth: maxNesting });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark?.line ?? 0;
    if (error.reason === unfinished) throw new YamlError(`yaml: ${unfinishedCollection(source)}`);
    throw new YamlError(`yaml: ${line > 0 ? `line ${line + 1}: ` : ''}${goReasons.get(error.reason) ?? error.reason}`);
  }
}

/** Returns the tree of the first document, with aliases resolved. */
function compose(source: string): YamlNode | undefined {
  const anchors = new Map<string, YamlNode>();
  const open: YamlNode[][] = [];
  let root: YamlNode | undefined;
  let tags: TagHandles = new Map();
  let last = 0;

  const add = (node: YamlNode, event: { readonly anchorStart: number; readonly anchorEnd: number }) => {
    if (event.anchorStart >= 0) anchors.set(source.slice(event.anchorStart, event.anchorEnd), node);
    const parent = open.at(-1);
    if (parent) parent.push(node);
    else root ??= node;
    last = node.at;
  };

  for (const event of eventsOf(source)) {
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        if (root !== undefined) return root;
        tags = new Map(event.directives.flatMap((each) => (each.kind === 'tag' ? [[each.handle, each.prefix]] : [])));
        break;
      case EVENT_ID.SCALAR: {
        const tag = tagOf(source, event, tags);
        const isPlain = event.style === SCALAR_STYLE.PLAIN;
        add(
          { kind: 'scalar', at: scalarStart(source, event, last), text: getScalarValue(source, event), tag, isPlain },
          event,
        );
        break;
      }
      case EVENT_ID.SEQUENCE: {
        const items: YamlNode[] = [];
        add({ kind: 'sequence', at: nodeStart(event, event.start), items }, event);
        open.push(items);
        break;
      }
      case EVENT_ID.MAPPING: {
        const members: YamlNode[] = [];
        add({ kind: 'mapping', at: nodeStart(event, event.start), members }, event);
        open.push(members);
        break;
      }
      case EVENT_ID.ALIAS: {
        const name = source.slice(event.anchorStart, event.anchorEnd);
        const target = anchors.get(name);
        if (target === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`);
        add({ kind: 'alias', at: event.anchorStart, name, target }, { anchorStart: -1, anchorEnd: -1 });
        break;
      }
      case EVENT_ID.POP:
        open.pop();
    }
  }
  return root;
}

type Properties = { readonly anchorStart: number; readonly tagStart: number };

/** Returns the start of a node, including its anchor and tag. */
function nodeStart({ anchorStart, tagStart }: Properties, start: number): number {
  return Math.min(...[anchorStart, tagStart, start].filter((each) => each >= 0));
}

function scalarStart(source: string, event: ScalarEvent, last: number): number {
  // An absent value has the position of the key before it.
  if (event.valueStart < 0) return nodeStart(event, last);
  const isBlock = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
  // The text of a block scalar starts on the line after its indicator.
  return nodeStart(event, isBlock ? source.lastIndexOf('\n', event.valueStart - 1) : event.valueStart);
}

type TagHandles = ReadonlyMap<string, string>;

/** Returns the full name of a node's tag, if any. */
function tagOf(source: string, { tagStart, tagEnd }: ScalarEvent, handles: TagHandles): string {
  if (tagStart < 0) return '';
  const tag = source.slice(tagStart, tagEnd);
  if (tag.startsWith('!<')) return tag.slice(2, -1);
  const [, handle = '', suffix = ''] = /^(!(?:[-0-9A-Za-z]*!)?)(.*)$/s.exec(tag) ?? [];
  // A lone `!` marks the scalar as a string.
  if (suffix === '') return '!';
  return (handles.get(handle) ?? (handle === '!!' ? 'tag:yaml.org,2002:' : handle)) + suffix;
}

type Reading = {
  /** Returns the line of a position in the text. */
  readonly lineOf: (at: number) => number;
  readonly duplicates: string[];
  /** Aliases that are being resolved. */
  readonly active: Set<YamlNode>;
  aliasDepth: number;
  /** Number of nodes of the document itself, and of nodes from aliases. */
  ownCount: number;
  aliasCount: number;
  /** Characters of scalars from aliases. */
  aliasText: number;
};

/**
 * Number of nodes that aliases may add, in addition to as many as the document has. Go allows up to 400,000 in the
 * smallest document, which would block this thread for too long; no legitimate document comes near this limit.
 */
const allowedAliasNodes = 10_000;
/** Length of text that aliases may add: the limit of a request. */
const allowedAliasText = 3 << 20;

/** Counts a node, and rejects a document with exponential aliases. */
function count(node: YamlNode, reading: Reading): void {
  if (reading.aliasDepth === 0) {
    reading.ownCount++;
    return;
  }
  reading.aliasCount++;
  if (node.kind === 'scalar') reading.aliasText += node.text.length;
  if (reading.aliasCount > allowedAliasNodes + reading.ownCount || reading.aliasText > allowedAliasText) {
    throw new YamlError('yaml: document contains excessive aliasing');
  }
}

function construct(node: YamlNode, reading: Reading): unknown {
  count(node, reading);
  switch (node.kind) {
    case 'scalar':
      return constructScalar(node);
    case 'sequence':
      return node.items.map((item) => jsonValue(construct(item, reading)));
    case 'mapping': {
      const members = new Map<YamlScalar, unknown>();
      constructMembers(node, members, reading);
      return jsonObject(members);
    }
    case 'alias':
      return follow(node, reading, (target) => construct(target, reading));
  }
}

function constructScalar(node: YamlNode & { kind: 'scalar' }): YamlScalar {
  if (node.tag !== '') return resolveTagged(node.tag, node.text);
  return node.isPlain ? resolvePlain(node.text) : node.text;
}

function follow<T>(node: YamlNode & { kind: 'alias' }, reading: Reading, use: (target: YamlNode) => T): T {
  if (reading.active.has(node)) throw new YamlError(`yaml: anchor '${node.name}' value contains itself`);
  reading.active.add(node);
  reading.aliasDepth++;
  const result = use(node.target);
  reading.aliasDepth--;
  reading.active.delete(node);
  return result;
}

/** Sets the members of a mapping in order, including merged ones. */
function constructMembers(
  { members }: YamlNode & { kind: 'mapping' },
  into: Map<YamlScalar, unknown>,
  reading: Reading,
): void {
  for (let index = 0; index < members.length; index += 2) {
    const keyNode = members[index]!;
    const valueNode = members[index + 1]!;
    if (isMergeKey(keyNode)) {
      mergeMembers(valueNode, into, reading);
      continue;
    }
    const key = construct(keyNode, reading);
    if (typeof key === 'object' && key !== null) {
      throw new YamlError(
        `yaml: invalid map key: ${formatGoSyntax(key).replaceAll('map[string]', 'map[interface {}]')}`,
      );
    }
    const value = construct(valueNode, reading);
    if (into.has(key as YamlScalar)) {
      const line = reading.lineOf(valueNode.at);
      reading.duplicates.push(`line ${line}: key ${formatKey(key as YamlScalar)} already set in map`);
    }
    into.set(key as YamlScalar, value);
  }
}

function isMergeKey(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.text === '<<' && (node.tag === '' ? node.isPlain : node.tag.endsWith(':merge'));
}

function mergeMembers(node: YamlNode, into: Map<YamlScalar, unknown>, reading: Reading): void {
  count(node, reading);
  switch (node.kind) {
    case 'mapping':
      constructMembers(node, into, reading);
      return;
    case 'alias':
      if (node.target.kind !== 'mapping') break;
      follow(node, reading, (target) => mergeMembers(target, into, reading));
      return;
    case 'sequence':
      // In reverse order, so that the first merged mapping takes precedence.
      for (const item of node.items.toReversed()) {
        if (item.kind !== 'mapping' && item.kind !== 'alias') throw mergeNeedsMap();
        mergeMembers(item, into, reading);
      }
      return;
  }
  throw mergeNeedsMap();
}

function mergeNeedsMap(): YamlError {
  return new YamlError('yaml: map merge requires map or sequence of maps as the value');
}

/**
 * Returns a function that finds the line of a position. Line ends are found once, on the first call: counting them
 * again for each duplicate key would take quadratic time.
 */
function lineFinder(source: string): (at: number) => number {
  let ends: number[] | undefined;
  return (at) => {
    ends ??= lineEnds(source);
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (ends[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

function lineEnds(source: string): number[] {
  const ends: number[] = [];
  for (let index = source.indexOf('\n'); index >= 0; index = source.indexOf('\n', index + 1)) ends.push(index);
  return ends;
}

function formatKey(key: YamlScalar): string {
  return typeof key === 'string' ? quote(key) : key === null ? 'interface {}(nil)' : String(key);
}

function jsonObject(members: ReadonlyMap<YamlScalar, unknown>): Record<string, unknown> {
  const entries = [...members].map(([key, value]) => [jsonKey(key, value), jsonValue(value)] as const);
  const object: Record<string, unknown> = {};
  for (const [key, value] of entries.sort(([a], [b]) => compareStrings(a, b))) setOwn(object, key, value);
  return object;
}

function jsonKey(key: YamlScalar, value: unknown): string {
  if (key === null) {
    throw new YamlError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${formatGoSyntax(value)}`);
  }
  if (typeof key === 'bigint' && key >= 2n ** 63n) {
    throw new YamlError(
      `unsupported map key of type: uint64, key: 0x${key.toString(16)}, value: ${formatGoSyntax(value)}`,
    );
  }
  return typeof key === 'number' && !Number.isSafeInteger(key) ? formatFloat32(key) : String(key);
}

/** Formats a float key with the fewest digits that yield the same 32-bit number. */
function formatFloat32(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  const single = Math.fround(value);
  let digits = 1;
  while (digits < 9 && Math.fround(Number(single.toPrecision(digits))) !== single) digits++;
  const [mantissa = '', exponent = ''] = single.toExponential(digits - 1).split('e');
  if (Number(exponent) >= -4 && Number(exponent) < 6) return String(Number(single.toPrecision(digits)));
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}

function jsonValue(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const text = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
    throw new YamlError(`json: unsupported value: ${text}`);
  }
  return value;
}
