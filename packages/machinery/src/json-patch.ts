/**
 * JSON Patch (RFC 6902) with the deviations of the Kubernetes API server: negative indexes count from the end,
 * `replace` may create a field, and a `copy` of a missing value is null.
 *
 * The result shares unchanged parts with the document. A container is copied on its first change and then modified in
 * place, so that thousands of operations on one list do not copy it thousands of times.
 *
 * ```ts
 * applyJsonPatch({ a: 1 }, [{ op: 'add', path: '/b', value: 2 }]); // { a: 1, b: 2 }
 * ```
 */
import { parseInteger } from '@kruise/values/go-integer';
import { stringify } from '@kruise/values/go-json';
import { ParseError } from '@kruise/values/parse-error';
import { isObject, isSame, type JsonObject, own, put } from './json-value.ts';

/** A patch cannot be applied. The message is that of Kubernetes. */
export class JsonPatchError extends Error {
  override readonly name = 'JsonPatchError';
}

/** One operation of a patch, validated when it is applied. */
export type Operation = JsonObject;

/** Maximum number of operations that the API server accepts in one patch. */
export const maxOperations = 10_000;

/**
 * Maximum number of bytes that the `copy` operations of one patch may add: without a limit, thirty of them create a
 * gigabyte.
 */
export const maxCopyBytes = 3 * 1024 * 1024;

/** Validates that a JSON value is a patch. Throws `ParseError` otherwise. */
export function asJsonPatch(value: unknown): readonly Operation[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw cannotDecode(value, 'jsonpatch.Patch');
  return value.map((operation) => {
    if (operation === null) return {};
    if (!isObject(operation)) throw cannotDecode(operation, 'jsonpatch.Operation');
    return operation;
  });
}

function cannotDecode(value: unknown, type: string): ParseError {
  return new ParseError(`json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ${type}`);
}

function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Applies a patch to a JSON value, which stays unchanged. Throws `JsonPatchError`. */
export function applyJsonPatch(document: unknown, patch: readonly Operation[]): unknown {
  const patching = new Patching(document);
  for (const operation of patch) patching.apply(operation);
  return patching.root;
}

type Container = Record<string, unknown> | unknown[];

/** Target of an operation: a container and a key or an index in it. */
type Target = { readonly container: Container; readonly key: string };

class Patching {
  root: unknown;
  #copiedBytes = 0;
  /** Containers that this patch has copied and may modify. */
  #own = new WeakSet<object>();

  constructor(document: unknown) {
    this.root = document;
  }

  apply(operation: Operation): void {
    const kind = own(operation, 'op');
    switch (kind) {
      case 'add':
        this.#add(operation);
        break;
      case 'remove':
        this.#remove(operation);
        break;
      case 'replace':
        this.#replace(operation);
        break;
      case 'move':
        this.#move(operation);
        break;
      case 'copy':
        this.#copy(operation);
        break;
      case 'test':
        this.#test(operation);
        break;
      default:
        throw new JsonPatchError(`Unexpected kind: ${typeof kind === 'string' ? kind : 'unknown'}`);
    }
  }

  #add(operation: Operation): void {
    const path = pathOf(operation, 'path', () => 'add operation failed to decode path: missing value');
    const place = this.#find(path, 'write');
    if (!place) throw new JsonPatchError(`add operation does not apply: doc is missing path: "${path}": missing value`);
    within(`error in add for path: '${path}'`, () => insert(place, valueIn(operation)));
  }

  #remove(operation: Operation): void {
    const path = pathOf(operation, 'path', () => 'remove operation failed to decode path: missing value');
    const place = this.#find(path, 'write');
    if (!place) {
      throw new JsonPatchError(`remove operation does not apply: doc is missing path: "${path}": missing value`);
    }
    within(`error in remove for path: '${path}'`, () => remove(place));
  }

  #replace(operation: Operation): void {
    const path = pathOf(operation, 'path', (fault) => `replace operation failed to decode path: ${fault}`);
    const value = valueIn(operation);
    if (path === '') {
      // Kubernetes keeps the document without an error if the new one is a scalar.
      if (typeof value === 'object' && value !== null) this.root = value;
      return;
    }
    const place = this.#find(path, 'write');
    if (!place)
      throw new JsonPatchError(`replace operation does not apply: doc is missing path: ${path}: missing value`);
    const { container, key } = place;
    if (!Array.isArray(container)) {
      put(container, key, value);
      return;
    }
    const index = attemptIndex(container, key);
    if (index === undefined) {
      throw new JsonPatchError(`replace operation does not apply: doc is missing key: ${path}: missing value`);
    }
    container[index] = value;
  }

  #move(operation: Operation): void {
    const from = pathOf(operation, 'from', (fault) => `move operation failed to decode from: ${fault}`);
    const source = this.#find(from, 'write');
    if (!source) {
      throw new JsonPatchError(`move operation does not apply: doc is missing from path: ${from}: missing value`);
    }
    const value = within(`error in move for path: '${source.key}'`, () => {
      const moved = get(source);
      remove(source);
      return moved;
    });
    const path = pathOf(operation, 'path', (fault) => `move operation failed to decode path: ${fault}`);
    const target = this.#find(path, 'write');
    if (!target) {
      throw new JsonPatchError(
        `move operation does not apply: doc is missing destination path: ${path}: missing value`,
      );
    }
    within(`error in move for path: '${path}'`, () => insert(target, value ?? null));
  }

  #copy(operation: Operation): void {
    const from = pathOf(operation, 'from', (fault) => `copy operation failed to decode from: ${fault}`);
    const source = this.#find(from, 'read');
    if (!source) {
      throw new JsonPatchError(`copy operation does not apply: doc is missing from path: ${from}: missing value`);
    }
    const value = within(`error in copy for from: '${from}'`, () => get(source)) ?? null;
    // The value exists in two places, one possibly inside the other: a change of one must not affect the other.
    if (typeof value === 'object') this.#own = new WeakSet();
    const path = pathOf(operation, 'path', () => 'copy operation failed to decode path: missing value');
    const target = this.#find(path, 'write');
    if (!target) {
      throw new JsonPatchError(
        `copy operation does not apply: doc is missing destination path: ${path}: missing value`,
      );
    }
    this.#countCopy(value);
    within('error while adding value during copy', () => insert(target, value));
  }

  #countCopy(value: unknown): void {
    if (value === null) return;
    this.#copiedBytes += Buffer.byteLength(stringify(value));
    if (this.#copiedBytes <= maxCopyBytes) return;
    throw new JsonPatchError(
      `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}, exceeding the limit ${maxCopyBytes}`,
    );
  }

  #test(operation: Operation): void {
    const path = pathOf(operation, 'path', (fault) => `test operation failed to decode path: ${fault}`);
    const failed = () => new JsonPatchError(`testing value ${path} failed: test failed`);
    const expected = own(operation, 'value');
    if (path === '') {
      if (!isSame(this.root, expected)) throw failed();
      return;
    }
    const place = this.#find(path, 'read');
    if (!place) throw new JsonPatchError(`test operation does not apply: is missing path: ${path}: missing value`);
    // A missing value is equal to null.
    const actual = within(`error in test for path: '${path}'`, () => get(place)) ?? null;
    if (expected === undefined || !isSame(actual, expected)) throw failed();
  }

  /** Returns the container of a pointer. For writing, the container and all parents are copied. */
  #find(path: string, purpose: 'read' | 'write'): Target | undefined {
    const parts = path.split('/');
    if (parts.length < 2) return undefined;
    const key = decode(parts.pop() ?? '');
    let container = asContainer(this.root);
    if (container === undefined) return undefined;
    if (purpose === 'write') this.root = container = this.#writable(container);
    for (const part of parts.slice(1)) {
      const place = { container, key: decode(part) };
      const next = asContainer(attemptGet(place));
      if (next === undefined) return undefined;
      if (purpose === 'write') {
        container = this.#writable(next);
        if (container !== next) set(place, container);
      } else {
        container = next;
      }
    }
    return { container, key };
  }

  #writable(container: Container): Container {
    if (this.#own.has(container)) return container;
    const copy = Array.isArray(container) ? container.slice() : { ...container };
    this.#own.add(copy);
    return copy;
  }
}

function asContainer(value: unknown): Container | undefined {
  return typeof value === 'object' && value !== null ? (value as Container) : undefined;
}

function decode(part: string): string {
  return part.includes('~') ? part.replace(/~[01]/g, (escaped) => (escaped === '~1' ? '/' : '~')) : part;
}

/** Returns a pointer of an operation. `describe` adds the operation to an error. */
function pathOf(operation: Operation, name: 'path' | 'from', describe: (fault: string) => string): string {
  const path = own(operation, name);
  if (typeof path === 'string') return path;
  if (path !== undefined && path !== null) {
    throw new JsonPatchError(describe(`json: cannot unmarshal ${jsonTypeOf(path)} into Go value of type string`));
  }
  const missing = name === 'path' ? 'operation missing path field' : 'operation, missing from field';
  throw new JsonPatchError(describe(`${missing}: missing value`));
}

/** Returns the value of an operation; null if it has none. */
function valueIn(operation: Operation): unknown {
  return own(operation, 'value') ?? null;
}

function get({ container, key }: Target): unknown {
  return Array.isArray(container) ? container[indexOf(container, key)] : own(container, key);
}

function attemptGet({ container, key }: Target): unknown {
  if (!Array.isArray(container)) return own(container, key);
  const index = attemptIndex(container, key);
  return index === undefined ? undefined : container[index];
}

function set({ container, key }: Target, value: unknown): void {
  if (Array.isArray(container)) container[indexOf(container, key)] = value;
  else put(container, key, value);
}

function insert({ container, key }: Target, value: unknown): void {
  if (!Array.isArray(container)) {
    put(container, key, value);
  } else if (key === '-') {
    container.push(value);
  } else {
    const index = within(`value was not a proper array index: '${key}'`, () => parseInteger(key));
    container.splice(resolveIndex(index, container.length + 1), 0, value);
  }
}

function remove({ container, key }: Target): void {
  if (Array.isArray(container)) {
    container.splice(indexOf(container, key), 1);
  } else {
    if (!Object.hasOwn(container, key)) {
      throw new JsonPatchError(`Unable to remove nonexistent key: ${key}: missing value`);
    }
    delete container[key];
  }
}

function indexOf(list: readonly unknown[], key: string): number {
  return resolveIndex(parseInteger(key), list.length);
}

function attemptIndex(list: readonly unknown[], key: string): number | undefined {
  try {
    return indexOf(list, key);
  } catch (error) {
    if (error instanceof JsonPatchError || error instanceof ParseError) return undefined;
    throw error;
  }
}

/** Resolves an index; a negative one counts from the end. */
function resolveIndex(index: bigint, length: number): number {
  if (index >= length || index < -length) {
    throw new JsonPatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
  }
  return index < 0n ? Number(index) + length : Number(index);
}

/** Runs a part of an operation and adds its description to an error. */
function within<T>(what: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof JsonPatchError || error instanceof ParseError)) throw error;
    throw new JsonPatchError(`${what}: ${error.message}`);
  }
}
